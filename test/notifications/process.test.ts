import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { nextStep } from '../../src/index.ts'
import { createMemoryStore } from '../../src/notifications/dedupe.ts'
import type { DeliveryResult, QueuedDelivery } from '../../src/notifications/index.ts'
import { hmacVerifier, lookupVerifier } from '../../src/notifications/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { delivery, payment } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'
import { api, merchant, useTokenServer } from '../support/token-set-up.ts'

type Setup = NonNullable<Parameters<typeof openReceiver>[0]>

const queued = (body: string | Uint8Array = JSON.stringify(payment()), headers = {}): QueuedDelivery => ({
  headers: { 'content-type': 'application/json', ...headers },
  body,
})
const broken = () => Promise.reject(new Error('down'))
const brokenStore = () => ({ ...createMemoryStore(new ManualClock(), new ManualClock()), claim: broken })

describe('a delivery from a queue', () => {
  test.each<[DeliveryResult, number, setup: () => Setup, body?: string]>([
    ['processed', 200, () => ({})],
    ['processed', 200, () => ({}), JSON.stringify(payment({ type: 'REFUND' }))],
    ['in-progress', 503, () => ({ dedupe: brokenStore() })],
    ['unverified', 503, () => ({ verify: broken })],
    ['refused', 401, () => ({ verify: () => false })],
    ['invalid', 400, () => ({}), '{"notificationId":'],
    ['failed', 500, () => ({ onPayment: broken })],
  ])('is %s where a request receives %i', async (result, status, setup, body) => {
    const outcome = await openReceiver(setup()).handler.process(queued(body))
    expect(outcome.result).toBe(result)
    const runsAgain = ['in-progress', 'unverified', 'failed'].includes(result)
    expect(outcome.retryAfterMs).toBe(runsAgain ? 5_000 : undefined)
    expect(outcome.notification?.notificationId).toBe(result === 'invalid' ? undefined : 'n-1')
    expect('error' in outcome).toBe(['unverified', 'invalid', 'failed'].includes(result))
    const { handler } = openReceiver(setup())
    expect((await handler(delivery(body ?? payment()))).status).toBe(status)
  })

  test('is a duplicate of a request with its id, and the other way round', async () => {
    const { handler, deliver, onPayment } = openReceiver()
    expect(await deliver(payment())).toBe(200)
    expect(await handler.process(queued())).toMatchObject({ result: 'duplicate' })
    expect(await handler.process(queued(JSON.stringify(payment({ notificationId: 'n-9' }))))).toMatchObject({
      result: 'processed',
    })
    expect(await deliver(payment({ notificationId: 'n-9' }))).toBe(200)
    expect(onPayment).toHaveBeenCalledTimes(2)
  })

  test('runs the code again after a failure, once', async () => {
    const onPayment = vi.fn().mockRejectedValueOnce(new Error('busy'))
    const { handler } = openReceiver({ onPayment })
    const results = [
      await handler.process(queued()),
      await handler.process(queued()),
      await handler.process(queued()),
    ]
    expect(results.map(({ result }) => result)).toEqual(['failed', 'processed', 'duplicate'])
    expect(results[0]?.error).toEqual(new Error('busy'))
  })

  test.each<[string, (text: string) => QueuedDelivery]>([
    ['text that went through JSON', (text) => JSON.parse(JSON.stringify(queued(text)))],
    ['bytes', (text) => queued(Buffer.from(text))],
    ['compressed bytes', (text) => queued(gzipSync(text), { 'content-encoding': 'gzip' })],
    [
      'fields of node:http, with those of HTTP/2',
      (text) => queued(text, { ':path': '/', cookie: ['a=1', 'b=2'] }),
    ],
  ])('has its signature verified over %s', async (_, carry) => {
    const text = `  ${JSON.stringify(payment({ note: 'é' }))}\n`
    const signature = createHmac('sha256', 'shared').update(text).digest('hex')
    const { handler } = openReceiver({ verify: hmacVerifier({ header: 'X-Signature', secrets: 'shared' }) })
    const signed = (given: string) => {
      const { headers, body } = carry(text)
      return handler.process({ headers: { ...headers, 'x-signature': given }, body })
    }
    expect(await signed('00')).toMatchObject({ result: 'refused' })
    expect(await signed(signature)).toMatchObject({ result: 'processed' })
  })

  test.each([
    ['too large', queued('x'.repeat(2_000))],
    ['empty', queued('')],
    ['of unknown encoding', queued(Buffer.from([0xff, 0xfe]), { 'content-encoding': 'unknown' })],
  ])('that is %s is invalid', async (_, given) => {
    const { handler, kinds } = openReceiver({ maxBytes: 1_000 })
    expect(await handler.process(given)).toMatchObject({
      result: 'invalid',
      error: { code: 'invalid_request' },
    })
    expect(kinds()).toEqual(['invalid-message'])
  })
})

describe('after a rejected login', () => {
  useTokenServer()

  test.each<[string, (client: ReturnType<typeof merchant>) => Setup, DeliveryResult]>([
    ['the verifier', (client) => ({ verify: lookupVerifier(client.client) }), 'unverified'],
    ['the listener', (client) => ({ onPayment: () => client.details() }), 'failed'],
  ])('of %s, the error tells the queue to pause', async (_, setup, result) => {
    api.refuse(403, { errorCode: '17' })
    const outcome = await openReceiver(setup(merchant())).handler.process(queued())
    expect(outcome).toMatchObject({ result, retryAfterMs: 900_000 })
    expect(nextStep(outcome.error)).toMatchObject({ step: 'pause-queue', afterMs: 900_000 })
  })
})

test.each<[string, unknown]>([
  ['a Buffer that went through JSON', JSON.parse(JSON.stringify(Buffer.from('{}')))],
  ['a parsed message', payment()],
  ['nothing', undefined],
])('case 67: a job with %s as its body fails with the setup, not as an invalid message', async (_, body) => {
  const { handler, reports } = openReceiver()
  const work = handler.process({ headers: {}, body: body as never })
  await expect(work).rejects.toMatchObject({ code: 'invalid_request', issues: [{ field: 'body' }] })
  expect(reports).toEqual([])
})

test('the headers of a delivery may be a Headers instance', async () => {
  const headers = new Headers({ 'content-type': 'application/json', 'content-encoding': 'gzip' })
  const body = gzipSync(JSON.stringify(payment()))
  expect(await openReceiver().handler.process({ headers, body })).toMatchObject({ result: 'processed' })
})
