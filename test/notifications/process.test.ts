import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { nextStep } from '../../src/index.ts'
import type { DeliveryResult, QueuedDelivery } from '../../src/notifications/index.ts'
import { createMemoryDedupeStore, lookupVerifier } from '../../src/notifications/index.ts'
import { delivery, payment, sign, signing } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'
import { api, merchant, useTokenServer } from '../support/token-set-up.ts'

type Setup = NonNullable<Parameters<typeof openReceiver>[0]>

const queued = (body: string | Uint8Array = JSON.stringify(payment()), headers = {}): QueuedDelivery => ({
  headers: { 'content-type': 'application/json', ...headers },
  body,
})
const broken = () => Promise.reject(new Error('down'))
const withBrokenStore = () => ({ dedupe: { ...createMemoryDedupeStore(), claim: broken } })

describe('a delivery from a queue', () => {
  test.each<[DeliveryResult, number, setup: () => Setup, body?: string]>([
    ['processed', 200, () => ({})],
    ['processed', 200, () => ({}), JSON.stringify(payment({ type: 'REFUND' }))],
    ['in-progress', 503, withBrokenStore],
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
    expect(await openReceiver(setup()).deliver(body ?? payment())).toBe(status)
  })

  test('is a duplicate of a request with its id, and the other way round', async () => {
    const { handler, deliver, onPayment } = openReceiver()
    expect(await deliver(payment())).toBe(200)
    expect(await handler.process(queued())).toMatchObject({ result: 'duplicate' })
    const other = payment({ notificationId: 'n-9' })
    expect(await handler.process(queued(JSON.stringify(other)))).toMatchObject({ result: 'processed' })
    expect(await deliver(other)).toBe(200)
    expect(onPayment).toHaveBeenCalledTimes(2)
  })

  const http2 = { ':path': '/', cookie: ['a=1', 'b=2'] }
  test.each<[string, (text: string) => QueuedDelivery]>([
    ['text that went through JSON', (text) => JSON.parse(JSON.stringify(queued(text)))],
    ['bytes', (text) => queued(Buffer.from(text))],
    ['compressed bytes', (text) => queued(gzipSync(text), { 'content-encoding': 'gzip' })],
    ['text, with fields of node:http and HTTP/2', (text) => queued(text, http2)],
  ])('has its signature verified over %s', async (_, carry) => {
    const text = `  ${JSON.stringify(payment({ note: 'é' }))}\n`
    const { handler } = openReceiver(signing)
    for (const [signature, result] of [
      ['00', 'refused'],
      [sign(text), 'processed'],
    ]) {
      const { headers, body } = carry(text)
      const job = { headers: { ...headers, 'x-signature': signature }, body }
      expect(await handler.process(job)).toMatchObject({ result })
    }
  })

  test.each([
    ['too large', queued('x'.repeat(2_000))],
    ['empty', queued('')],
    ['of unknown encoding', queued(Buffer.from([0xff, 0xfe]), { 'content-encoding': 'unknown' })],
  ])('that is %s is invalid', async (_, given) => {
    const { handler, kinds } = openReceiver({ maxBytes: 1_000 })
    const invalid = { result: 'invalid', error: { code: 'invalid_request' } }
    expect(await handler.process(given)).toMatchObject(invalid)
    expect(kinds()).toEqual(['invalid-message'])
  })

  test.each<[string, unknown]>([
    ['a Buffer that went through JSON', JSON.parse(JSON.stringify(Buffer.from('{}')))],
    ['a parsed message', payment()],
    ['nothing', undefined],
  ])('case 67: that has %s as its body fails with the setup, not as an invalid message', async (_, body) => {
    const { handler, reports } = openReceiver()
    const work = handler.process({ headers: {}, body: body as never })
    await expect(work).rejects.toMatchObject({ code: 'invalid_request', issues: [{ field: 'body' }] })
    expect(reports).toEqual([])
  })

  test.each<[string, unknown, string[]]>([
    ['a city in UTF-8', { 'x-city': 'Łódź' }, ['x-city']],
    ['a line break', { 'x-note': 'one\ntwo', 'x-other': 'kept' }, ['x-note']],
    ['an empty name', { '': 'value' }, ['']],
    ['one of two values', { 'x-city': ['Berlin', 'Кyiv'] }, ['x-city']],
    ['pseudo-headers of HTTP/2 and null', { ':path': '/', 'x-null': null }, []],
    ['null headers', null, []],
    ['no headers', undefined, []],
  ])('case 103: with %s is processed without what Headers cannot hold', async (_, headers, names) => {
    const { handler, reports } = openReceiver({ verify: ({ headers: got }) => !got.has('x-null') })
    const job = { headers: headers as never, body: JSON.stringify(payment()) }
    expect(await handler.process(job)).toMatchObject({ result: 'processed' })
    expect(reports).toEqual(names.map((name) => ({ kind: 'header-omitted', name })))
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

test.each<[named: unknown, retryAfterMs: number, header: string]>([
  [900_000, 900_000, '900'],
  [1_500.2, 1_501, '2'],
  [0, 5_000, '5'],
  [999, 5_000, '5'],
  [Number.POSITIVE_INFINITY, 3_600_000, '3600'],
  [Number.NaN, 5_000, '5'],
  ['soon', 5_000, '5'],
  [undefined, 5_000, '5'],
])(
  'case 110b: an error that names a wait of %j gives %i ms to a queue and Retry-After: %s',
  async (named, ms, header) => {
    const fail = () => Promise.reject(Object.assign(new Error('busy'), { retryAfterMs: named }))
    const { handler } = openReceiver({ verify: fail })
    expect(await handler.process(queued())).toMatchObject({ result: 'unverified', retryAfterMs: ms })
    const response = await handler(delivery(payment()))
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, header])
    const failing = openReceiver({ onPayment: fail }).handler
    expect(await failing.process(queued())).toMatchObject({ result: 'failed', retryAfterMs: ms })
  },
)
