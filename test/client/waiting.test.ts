import { describe, expect, it } from 'vitest'
import type { TimeoutError } from '../../src/index.ts'
import { OK } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'
import { skippingClock } from '../support/skipping-clock.ts'

const requestStatus = (status: string) => ({
  body: { invoiceId: 'inv-1', status, subscriptionId: 'sub-1', createdAt: '2026-11-28 12:00:00', ...OK },
})
const charges = (...states: string[]) => states.map((status) => ({ body: { status } }))

describe('waiting for a charge', () => {
  it.each(['succeeded', 'failed', 'expired', 'reversed'])(
    'ends at %s; pending states are not final',
    async (last) => {
      const server = await startServer(
        charges('pending_confirmation', 'pending_retry', 'pending_review', last),
      )
      const clock = skippingClock()
      expect(await gatewayClient(server.url, { clock }).waitForCharge('ch_1')).toEqual({ status: last })
      expect(clock.waits).toHaveLength(3)
      for (const wait of clock.waits) expect(wait).toBeGreaterThanOrEqual(500)
    },
  )

  it('ends when until holds', async () => {
    const server = await startServer(charges('pending_confirmation', 'pending_retry', 'succeeded'))
    const gateway = gatewayClient(server.url, { clock: skippingClock() })
    const state = await gateway.waitForCharge('ch_1', { until: ({ status }) => status === 'pending_retry' })
    expect(state).toEqual({ status: 'pending_retry' })
  })

  it('goes on while until gives a promise of false, and ends with what such a promise rejects with', async () => {
    const server = await startServer(charges('pending_confirmation', 'pending_retry', 'succeeded'))
    const gateway = gatewayClient(server.url, { clock: skippingClock() })
    const until = async ({ status }: { status: string }) => status === 'succeeded'
    expect(await gateway.waitForCharge('ch_1', { until })).toEqual({ status: 'succeeded' })
    const failure = new Error('no')
    const failing = gateway.waitForCharge('ch_1', { until: () => Promise.reject(failure) })
    await expect(failing).rejects.toBe(failure)
  })

  it('ends at its deadline though until never answers', async () => {
    const server = await startServer(charges('pending_retry'))
    const until = () => new Promise<boolean>(() => undefined)
    const waiting = gatewayClient(server.url).waitForCharge('ch_1', { until, timeout: 80 })
    expect(await errorOf(waiting)).toMatchObject({ code: 'timeout', lastState: { status: 'pending_retry' } })
  })

  it('its deadline gives the last state, and never calls a pending charge failed', async () => {
    const server = await startServer(charges('pending_retry'))
    const error = await errorOf<TimeoutError>(
      gatewayClient(server.url).waitForCharge('ch_1', { timeout: 80 }),
    )
    expect(error).toMatchObject({
      code: 'timeout',
      operation: 'gateway.status',
      phase: 'wait',
      timeoutMs: 80,
      lastState: { status: 'pending_retry' },
    })
  })

  it('its deadline counts on the client’s clock too, and the last read is made there', async () => {
    const server = await startServer(charges('pending_retry'))
    const clock = skippingClock()
    const startedAt = clock.now()
    const waiting = gatewayClient(server.url, { clock }).waitForCharge('ch_1', { timeout: 60_000 })
    expect(await errorOf(waiting)).toMatchObject({ code: 'timeout', lastState: { status: 'pending_retry' } })
    expect(clock.now() - startedAt).toBe(60_000)
    expect(server.requests).toHaveLength(clock.waits.length + 1)
  })

  it('ends with its signal, also while the server is silent', async () => {
    const abort = new AbortController()
    const server = await startServer(() => {
      abort.abort()
      return { fault: 'silent' }
    })
    const error = await errorOf(gatewayClient(server.url).waitForCharge('ch_1', { signal: abort.signal }))
    expect(error).toMatchObject({ code: 'aborted', phase: 'wait' })
  })

  it('waits as long as the server asks for, and goes on after a failure that may pass', async () => {
    const server = await startServer([
      { body: { status: 'pending_retry' }, headers: { 'retry-after': '5' } },
      ...Array.from({ length: 3 }, () => ({ status: 503 })),
      { body: { status: 'succeeded' } },
    ])
    const clock = skippingClock()
    expect(await gatewayClient(server.url, { clock }).waitForCharge('ch_1')).toEqual({ status: 'succeeded' })
    expect(clock.waits[0]).toBe(5000)
  })

  it('ends with a failure that will not pass', async () => {
    const server = await startServer([{ status: 404 }])
    expect(await errorOf(gatewayClient(server.url).waitForCharge('ch_1'))).toMatchObject({ status: 404 })
  })

  it('checks what it is given before any I/O', async () => {
    const gateway = gatewayClient('http://127.0.0.1:1')
    const options = { until: 'succeeded', timeout: -1 } as never
    expect(await errorOf(gateway.waitForCharge('ch_1', options))).toMatchObject({
      code: 'invalid_request',
      issues: [{ field: 'until' }, { field: 'timeout' }],
    })
    expect(await errorOf(gateway.waitForCharge('..'))).toMatchObject({ code: 'invalid_request' })
  })
})

it('waiting for a request’s status ends when it is no longer INITIALIZED', async () => {
  const server = await startServer(withLogin(['INITIALIZED', 'INITIALIZED', 'ON_HOLD'].map(requestStatus)))
  const clock = skippingClock()
  const state = await subscriptionsClient(server.url, { clock }).waitForStatus('inv-1')
  expect(state).toMatchObject({ status: 'ON_HOLD', subscriptionId: 'sub-1' })
  expect(clock.waits).toHaveLength(2)
})
