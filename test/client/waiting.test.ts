import { describe, expect, it } from 'vitest'
import type { ChargeState } from '../../src/index.ts'
import { OK } from '../support/bodies.ts'
import { errorOf, gatewayClient } from '../support/clients.ts'
import { type Call, failureOf, openClients } from '../support/open-clients.ts'

const states = (...all: string[]) => all.map((status) => ({ body: { status } }))
const waitForCharge: Call = ({ gateway }) => gateway.waitForCharge('ch_1')

describe('case 35: waitForCharge', () => {
  it.each(['succeeded', 'failed', 'expired', 'reversed'])(
    'ends at %s, not at a pending state',
    async (last) => {
      const pending = ['pending_confirmation', 'pending_retry', 'pending_review']
      const clients = await openClients(states(...pending, last))
      expect(await waitForCharge(clients)).toEqual({ status: last })
      expect(clients.clock.waits).toHaveLength(3)
      expect(Math.min(...clients.clock.waits)).toBeGreaterThanOrEqual(500)
    },
  )

  it.each<[string, (state: ChargeState) => boolean | Promise<boolean>]>([
    ['true', ({ status }) => status === 'pending_retry'],
    ['a promise of true', async ({ status }) => status === 'pending_retry'],
  ])('ends when until returns %s', async (_, until) => {
    const { gateway } = await openClients(states('pending_confirmation', 'pending_retry', 'succeeded'))
    expect(await gateway.waitForCharge('ch_1', { until })).toEqual({ status: 'pending_retry' })
  })

  it('rejects with the reason of until', async () => {
    const { gateway } = await openClients(states('succeeded'))
    const reason = new Error('no')
    const failing = gateway.waitForCharge('ch_1', { until: () => Promise.reject(reason) })
    await expect(failing).rejects.toBe(reason)
  })

  it('waits for a charge that the gateway does not find yet, but not for an unknown one', async () => {
    const missing = { status: 404, body: { error: { code: 'not_found', message: 'No such charge.' } } }
    const late = await openClients([missing, missing, ...states('succeeded')])
    expect(await waitForCharge(late)).toEqual({ status: 'succeeded' })
    const unknown = await openClients(missing)
    const startedAt = unknown.clock.now()
    expect(await errorOf(waitForCharge(unknown))).toMatchObject({ status: 404, code: 'api_error' })
    expect(unknown.clock.now() - startedAt).toBeGreaterThanOrEqual(10_000)
    const hasty = unknown.gateway.waitForCharge('ch_1', { timeout: 2_000 })
    expect(await errorOf(hasty)).toMatchObject({ status: 404, code: 'api_error' })
  })

  it('whose last read hangs may still find the charge', async () => {
    const missing = { status: 404, body: { error: { code: 'not_found', message: 'No such charge.' } } }
    const { url } = await openClients([missing, { fault: 'silent' }])
    const error = await errorOf(gatewayClient(url).waitForCharge('ch_1', { timeout: 2_000 }))
    expect(error).toMatchObject({ code: 'timeout', cause: { status: 404 } })
  })

  it('ends at its deadline in real time with the last state, although until never ends', async () => {
    const { url } = await openClients(states('pending_retry'))
    const gateway = gatewayClient(url)
    const facts = { code: 'timeout', operation: 'gateway.status', phase: 'wait', timeoutMs: 1000 }
    const never = () => new Promise<boolean>(() => undefined)
    const errors = [undefined, never].map((until) =>
      errorOf(gateway.waitForCharge('ch_1', { until, timeout: 1000 })),
    )
    for (const error of await Promise.all(errors))
      expect(error).toMatchObject({ ...facts, lastState: { status: 'pending_retry' } })
  })

  it('ends at its deadline on the clock of the client, and reads once more there', async () => {
    const { gateway, clock, requests } = await openClients(states('pending_retry'))
    const startedAt = clock.now()
    const error = await errorOf(gateway.waitForCharge('ch_1', { timeout: 60_000 }))
    const expected = { code: 'timeout', outcome: 'unknown', retryable: true }
    expect(error.cause).toBeUndefined()
    expect(error).toMatchObject({ ...expected, lastState: { status: 'pending_retry' } })
    expect(error.message).toMatch(/^gateway\.status: .*60 s .*pending_retry.*lastState.*do not charge again/)
    expect(clock.now() - startedAt).toBe(60_000)
    expect(requests).toHaveLength(clock.waits.length + 1)
  })

  it('ends with its signal while the server is silent', async () => {
    const abort = new AbortController()
    const { gateway } = await openClients(() => {
      abort.abort()
      return { fault: 'silent' }
    })
    const error = await errorOf(gateway.waitForCharge('ch_1', { signal: abort.signal }))
    expect(error).toMatchObject({ code: 'aborted', phase: 'wait' })
  })

  it('waits as long as Retry-After says, and goes on after a temporary failure', async () => {
    const clients = await openClients([
      { body: { status: 'pending_retry' }, headers: { 'retry-after': '5' } },
      ...Array.from({ length: 3 }, () => ({ status: 503 })),
      ...states('succeeded'),
    ])
    expect(await waitForCharge(clients)).toEqual({ status: 'succeeded' })
    expect(clients.clock.waits[0]).toBe(5000)
  })

  it('waits between reads although the server sends Retry-After: 0', async () => {
    const body = { status: 'pending_confirmation' }
    const { gateway, clock, requests } = await openClients({ headers: { 'retry-after': '0' }, body })
    const work = gateway.waitForCharge('ch_1', { timeout: 10_000 })
    expect(await errorOf(work)).toMatchObject({ code: 'timeout', lastState: body })
    expect(Math.min(...clock.waits.slice(0, -1))).toBeGreaterThanOrEqual(500)
    expect(requests.length).toBeLessThan(20)
  })

  it('ends with a permanent failure', async () => {
    expect(await failureOf({ status: 404 }, waitForCharge)).toMatchObject({ status: 404 })
  })
})

it('waitForStatus ends when the status is no longer INITIALIZED', async () => {
  const request = { invoiceId: 'inv-1', subscriptionId: 'sub-1', createdAt: '2026-11-28 12:00:00', ...OK }
  const { subscriptions, clock } = await openClients(
    ['INITIALIZED', 'INITIALIZED', 'ON_HOLD'].map((status) => ({ body: { ...request, status } })),
  )
  const expected = { status: 'ON_HOLD', subscriptionId: 'sub-1' }
  expect(await subscriptions.waitForStatus('inv-1')).toMatchObject(expected)
  expect(clock.waits).toHaveLength(2)
})
