import { describe, expect, it } from 'vitest'
import type { Hooks } from '../../src/index.ts'
import { CHARGE, DETAILS, SUBSCRIPTION } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { calls, openClients, recording } from '../support/open-clients.ts'
import { unhandledDuring } from '../support/refused.ts'
import { startServer } from '../support/scripted-server.ts'

it('hooks receive each attempt, each retry and the failure, with the same call object', async () => {
  const { hooks, seen } = recording()
  const busy = { status: 503, headers: { 'retry-after': '2', 'x-request-id': 'r-1' } }
  const refused = { status: 404, body: { error: { code: 'not_found', message: '' } } }
  const clients = await openClients([busy, refused], { hooks })
  await errorOf(calls.status(clients))
  expect(seen.map(([name]) => name)).toEqual(['request', 'response', 'retry', 'request', 'response', 'error'])
  const facts = { operation: 'gateway.status', method: 'GET', path: '/api/v1/mfs/charges/:id' }
  for (const [, event] of seen) {
    expect(event).toMatchObject({ ...facts, url: `${clients.url}/api/v1/mfs/charges/ch_1` })
    expect(event.call).toBe(seen[0]?.[1].call)
  }
  const [, response, retry, , , failure] = seen.map(([, event]) => event)
  expect(response).toMatchObject({ attempt: 1, status: 503, serverRequestId: 'r-1', durationMs: 0 })
  expect(retry).toMatchObject({ attempt: 1, status: 503, reason: 'response-lost', waitMs: 2000 })
  const facts404 = { code: 'api_error', status: 404, errorCode: 'not_found', outcome: 'unknown' }
  expect(failure).toMatchObject({ ...facts404, attempts: 2, durationMs: 2000 })
})

it('a hook that throws or rejects does not change the call', async () => {
  const fail = () => {
    throw new Error('The hook failed.')
  }
  const reject = () => Promise.reject(new Error('The hook failed later.'))
  const hooks: Hooks = { onRequest: fail, onResponse: reject, onRetry: fail, onError: reject }
  const clients = await openClients([{ status: 503 }, { status: 202, body: CHARGE }], { hooks })
  const work = async () => expect(await calls.charge(clients)).toEqual(CHARGE)
  expect(await unhandledDuring(work)).toEqual([])
})

describe('onError receives every call that failed, once', () => {
  const credentials = () => Promise.reject(new Error('The vault is closed.'))

  it('such as a call or a login without credentials, and an aborted login', async () => {
    const { url } = await startServer([{}])
    const { hooks, seen } = recording()
    await errorOf(subscriptionsClient(url, { hooks, credentials }).subscribe(SUBSCRIPTION))
    await errorOf(subscriptionsClient(url, { hooks, credentials }).login())
    await errorOf(subscriptionsClient(url, { hooks }).login({ signal: AbortSignal.abort() }))
    const [subscribe, login] = ['subscriptions.subscribe', 'subscriptions.login']
    expect(seen).toMatchObject([
      ['error', { operation: subscribe, code: 'invalid_request', phase: 'login', attempts: 0 }],
      ['error', { operation: login, code: 'invalid_request', outcome: 'not-sent' }],
      ['error', { operation: login, code: 'aborted', outcome: 'not-sent' }],
    ])
  })

  it('such as a login that is rejected', async () => {
    const { url } = await startServer([{ status: 401 }])
    const { hooks, seen } = recording()
    await errorOf(subscriptionsClient(url, { hooks }).login())
    expect(seen.map(([name]) => name)).toEqual(['request', 'response', 'error'])
  })

  it('such as a health check of a service that is down', async () => {
    const { hooks, seen } = recording()
    const { gateway } = await openClients({ status: 503 }, { hooks, retry: false })
    await gateway.health()
    await errorOf(gateway.reset())
    const errors = seen.flatMap(([name, event]) => (name === 'error' ? [event] : []))
    const code = 'api_error'
    expect(errors).toMatchObject([
      { code, retryable: true },
      { code, retryable: false },
    ])
  })

  it('but not invalid input, which makes no call', async () => {
    const { hooks, seen } = recording()
    const { subscriptions, gateway } = await openClients({}, { hooks })
    await errorOf(gateway.status('..'))
    await errorOf(subscriptions.subscribe({ ...SUBSCRIPTION, amount: '0' }))
    expect(seen).toEqual([])
  })
})

it('hooks may be methods of a class instance that use `this`', async () => {
  class Log implements Hooks {
    readonly lines: string[] = []
    onRequest({ operation }: { readonly operation: string }): void {
      this.lines.push(operation)
    }
  }
  const hooks = new Log()
  await calls.details(await openClients({ body: DETAILS }, { hooks }))
  expect(hooks.lines).toEqual(['subscriptions.login', 'subscriptions.details'])
})

it.each(['onErorr', 'onerror', 'OnRetry', 'onToken', 'beforeRequest'])(
  'an unknown hook is refused: %s',
  (name) => {
    const hooks: object = { onRequest: () => undefined, [name]: () => undefined }
    for (const make of [gatewayClient, subscriptionsClient])
      expect(() => make('https://api.example', { hooks })).toThrow(`Unknown option hooks.${name}`)
    expect(() => gatewayClient('https://api.example').withOptions({ hooks })).toThrow(
      `Unknown option hooks.${name}`,
    )
  },
)

it('a call that a hook aborts before it is sent is not sent, and does not delay the next', async () => {
  const server = await startServer([{ body: CHARGE }])
  const controller = new AbortController()
  const client = gatewayClient(server.url, { hooks: { onRequest: () => controller.abort() } })
  const error = await errorOf(client.status('ch_1', { signal: controller.signal }))
  expect(error).toMatchObject({ code: 'aborted', outcome: 'not-sent', attempts: 0 })
  expect(server.requests).toHaveLength(0)
  await expect(client.status('ch_1')).resolves.toMatchObject({ id: 'ch_1' })
})
