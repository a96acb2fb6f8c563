import { describe, expect, it } from 'vitest'
import type { Hooks } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS, SUBSCRIPTION } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'
import { skippingClock } from '../support/skipping-clock.ts'

const recording = () => {
  const seen: [string, Record<string, unknown>][] = []
  const note = (name: string) => (facts: object) => {
    seen.push([name, facts as Record<string, unknown>])
  }
  const hooks = {
    onRequest: note('request'),
    onResponse: note('response'),
    onRetry: note('retry'),
    onError: note('error'),
    onTokenRenewed: note('token'),
  } satisfies Hooks
  return { hooks, seen }
}

it('hooks tell each attempt, each repeat and the failure, with the same call object', async () => {
  const server = await startServer([
    { status: 503, headers: { 'retry-after': '2', 'x-request-id': 'r-1' } },
    { status: 404, body: { error: { code: 'not_found', message: '' } } },
  ])
  const { hooks, seen } = recording()
  await errorOf(gatewayClient(server.url, { hooks, clock: skippingClock() }).status('ch_1'))
  expect(seen.map(([name]) => name)).toEqual(['request', 'response', 'retry', 'request', 'response', 'error'])
  const facts = { operation: 'gateway.status', method: 'GET', path: '/api/v1/mfs/charges/:id' }
  for (const [, each] of seen) {
    expect(each).toMatchObject({ ...facts, url: `${server.url}/api/v1/mfs/charges/ch_1` })
    expect(each.call).toBe(seen[0]?.[1].call)
  }
  expect(seen[1]?.[1]).toMatchObject({ attempt: 1, status: 503, serverRequestId: 'r-1', durationMs: 0 })
  expect(seen[2]?.[1]).toMatchObject({ attempt: 1, status: 503, reason: 'answer-lost', waitMs: 2000 })
  expect(seen[5]?.[1]).toMatchObject({
    code: 'api_error',
    status: 404,
    errorCode: 'not_found',
    outcome: 'unknown',
    attempts: 2,
    durationMs: 2000,
  })
})

it('a renewed token is told', async () => {
  const server = await startServer(withLogin([{ body: DETAILS }]))
  const { hooks, seen } = recording()
  await subscriptionsClient(server.url, { hooks }).details('sub-1')
  expect(seen.filter(([name]) => name === 'token').map(([, facts]) => facts)).toEqual([
    { operation: 'subscriptions.login', reason: 'first', grant: 'password' },
  ])
})

it('a hook that throws or rejects breaks nothing', async () => {
  const server = await startServer([{ status: 503 }, { status: 202, body: CHARGE }])
  const rejected: unknown[] = []
  const note = (reason: unknown) => rejected.push(reason)
  process.on('unhandledRejection', note)
  const fail = () => {
    throw new Error('a watcher that fails')
  }
  const reject = () => Promise.reject(new Error('a watcher that fails later'))
  const hooks: Hooks = { onRequest: fail, onResponse: reject, onRetry: fail, onError: reject }
  const gateway = gatewayClient(server.url, { hooks, clock: skippingClock() })
  expect((await gateway.charge(CHARGE_REQUEST)).id).toBe('ch_1')
  await new Promise(setImmediate)
  process.off('unhandledRejection', note)
  expect(rejected).toEqual([])
})

describe('the onError hook hears of every call that failed, once', () => {
  const failing = () => Promise.reject(new Error('The vault is closed.'))

  it('of a subscription whose credentials could not be had', async () => {
    const server = await startServer([{}])
    const { hooks, seen } = recording()
    await errorOf(subscriptionsClient(server.url, { hooks, credentials: failing }).subscribe(SUBSCRIPTION))
    const facts = {
      operation: 'subscriptions.subscribe',
      code: 'invalid_request',
      phase: 'login',
      attempts: 0,
    }
    expect(seen).toEqual([['error', expect.objectContaining(facts)]])
  })

  it('of a login whose credentials could not be had, or that was ended before it began', async () => {
    const server = await startServer([{}])
    const { hooks, seen } = recording()
    await errorOf(subscriptionsClient(server.url, { hooks, credentials: failing }).login())
    await errorOf(subscriptionsClient(server.url, { hooks }).login({ signal: AbortSignal.abort() }))
    const operation = 'subscriptions.login'
    expect(seen).toEqual([
      ['error', expect.objectContaining({ operation, code: 'invalid_request', outcome: 'not-sent' })],
      ['error', expect.objectContaining({ operation, code: 'aborted', outcome: 'not-sent' })],
    ])
  })

  it('of a login that the server refused', async () => {
    const server = await startServer([{ status: 401 }])
    const { hooks, seen } = recording()
    await errorOf(subscriptionsClient(server.url, { hooks }).login())
    expect(seen.map(([name]) => name)).toEqual(['request', 'response', 'error'])
  })

  it('and not of input that breaks a rule, which makes no call', async () => {
    const server = await startServer([{}])
    const { hooks, seen } = recording()
    await errorOf(gatewayClient(server.url, { hooks }).status('..'))
    await errorOf(subscriptionsClient(server.url, { hooks }).subscribe({ ...SUBSCRIPTION, amount: '0' }))
    expect(seen).toEqual([])
  })
})

it('hooks may be methods that use their object', async () => {
  class Log implements Hooks {
    readonly lines: string[] = []
    onRequest({ operation }: { readonly operation: string }): void {
      this.lines.push(operation)
    }
  }
  const server = await startServer([{ body: CHARGE }])
  const hooks = new Log()
  await gatewayClient(server.url, { hooks }).status('ch_1')
  expect(hooks.lines).toEqual(['gateway.status'])
})

it('a call that a hook ended before it was sent is not sent, and holds nobody back', async () => {
  const server = await startServer([{ body: CHARGE }])
  const controller = new AbortController()
  const client = gatewayClient(server.url, { hooks: { onRequest: () => controller.abort() } })
  const error = await errorOf(client.status('ch_1', { signal: controller.signal }))
  expect(error).toMatchObject({ code: 'aborted', outcome: 'not-sent', attempts: 0 })
  expect(server.requests).toHaveLength(0)
  await expect(client.status('ch_1')).resolves.toMatchObject({ id: 'ch_1' })
})
