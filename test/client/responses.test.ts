import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextStep } from '../../src/index.ts'
import { isCutJson } from '../../src/json.ts'
import { CANCELLED, CHARGE, CHARGE_REQUEST, DETAILS, OK, payment } from '../support/bodies.ts'
import { errorOf, gatewayClient } from '../support/clients.ts'
import { type Call, calls, failureOf, once, openClients, unexpected } from '../support/open-clients.ts'
import { unhandledDuring } from '../support/refused.ts'
import type { Script } from '../support/scripted-server.ts'

const half = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.slice(0, text.length / 2)
}

describe('a response about another record', () => {
  const details = { ...DETAILS, id: 'SUB-1 ' }
  const request = { invoiceID: 'inv-1', status: 'INITIALIZED', subscriptionId: 'sub-1', createdAt: '', ...OK }
  const record = { ...payment(7), ...OK }

  it.each<[string, Call, object]>([
    ['the charge', calls.status, { ...CHARGE, id: 'ch_2' }],
    ['the confirmed charge', calls.confirm, { ...CHARGE, confirmation_id: 'conf_2', status: 'succeeded' }],
    ['the subscription', calls.details, { ...DETAILS, id: 'sub-10' }],
    ['the request', ({ subscriptions }) => subscriptions.status('inv-1'), { ...request, invoiceID: 'inv-2' }],
    ['the payment', ({ subscriptions }) => subscriptions.payment(7), { ...record, paymentId: '70' }],
    ['the cancellation', calls.cancel, { ...CANCELLED, subscriptionID: 'sub-2' }],
  ])('is no result: %s', async (_, call, body) => {
    const error = await failureOf({ body }, call)
    expect(error).toMatchObject({ ...unexpected, attempts: 1 })
    expect(error.message).toContain('is about another record')
    expect(nextStep(error).step).toBe(error.acts ? 'find-out' : 'fail')
  })

  it.each<[string, Call, object]>([
    ['no identifier', calls.status, { status: 'succeeded' }],
    ['no identifier but its own', calls.cancel, { ...CANCELLED, subscriptionID: undefined }],
    ['a placeholder', calls.status, { id: 'NA', status: 'succeeded' }],
    ['another case and a space', calls.details, details],
    ['a number for text', ({ subscriptions }) => subscriptions.payment('7'), record],
    ['text for a number', ({ subscriptions }) => subscriptions.payment(7), { ...record, paymentId: '07' }],
    ['no leading zeros', ({ subscriptions }) => subscriptions.payment('007'), record],
    ['another case of the name', ({ subscriptions }) => subscriptions.status('inv-1'), request],
    ['the identifier of the cancellation', ({ subscriptions }) => subscriptions.cancellation('7'), CANCELLED],
  ])('is not one with %s', async (_, call, body) => {
    await expect(call(await openClients({ body }))).resolves.toBeTypeOf('object')
  })

  it('is not waited for, and the charge that was confirmed is not read from it', async () => {
    const other = { body: { ...CHARGE, id: 'ch_2', status: 'succeeded' } }
    const { gateway } = await openClients(other)
    await expect(gateway.waitForCharge('ch_1')).rejects.toMatchObject(unexpected)
    const confirming = await openClients([{ body: {} }, other])
    const confirmation = { otp: '123456', chargeId: 'ch_1' }
    expect(await confirming.gateway.confirm('conf_1', confirmation)).toEqual({})
  })
})

describe('case 21: a response without the JSON of its operation', () => {
  const page = { headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' }
  it.each<[string, Script, Call, object]>([
    ['502 with an HTML page', { status: 502, ...page }, calls.charge, { code: 'api_error', status: 502 }],
    ['200 with an HTML page', page, calls.charge, { ...unexpected, status: 200 }],
    ['an empty 500', { status: 500 }, calls.reset, { status: 500, body: undefined, errorCode: undefined }],
    ['an empty 400', { status: 400 }, calls.reset, { status: 400, body: undefined, errorCode: undefined }],
    ['an empty 200 to a charge', {}, calls.charge, unexpected],
    ['an empty 200 to a cancellation', {}, calls.cancel, unexpected],
    ['a list in place of a record', { body: [CANCELLED] }, calls.cancel, unexpected],
    ['an error that is cut off', { status: 422, body: OK, fault: 'cut' }, calls.reset, { status: 422 }],
    ['JSON that ends early', { body: '{"id":"ch_1"' }, calls.charge, { ...unexpected, status: 200 }],
    ['JSON with a syntax error', { body: '{"status":12345678901234567890 x}' }, calls.status, unexpected],
  ])('%s is an error that keeps the status', async (_, script, call, expected) => {
    expect(await failureOf(script, call, once)).toMatchObject(expected)
  })

  it.each([200, 204])('an empty %i to a reset and to a confirmation is a success', async (status) => {
    const { gateway } = await openClients({ status })
    expect(await gateway.reset()).toBeUndefined()
    expect(await gateway.confirm('conf_1', { otp: '123456' })).toEqual({})
  })
})

describe('a response that is cut off on a connection that closed properly', () => {
  it.each([
    ['in the middle', half(CHARGE)],
    ['at its beginning', ''],
  ])('%s is a lost response: the client retries a charge with its key', async (_, body) => {
    const clients = await openClients([{ body }, { status: 202, body: CHARGE }])
    expect(await calls.charge(clients)).toMatchObject({ id: 'ch_1' })
    const [first, second] = clients.requests
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key'])
    expect(second?.body).toBe(first?.body)
  })

  it('is a lost response: the client retries a read and a renewal', async () => {
    const reads = await openClients([{ body: half(DETAILS) }, { body: DETAILS }])
    await calls.details(reads)
    const renewals = await openClients([
      { body: half(CHARGE) },
      { status: 201, body: { ...CHARGE, id: 'ch_2' } },
    ])
    await calls.renew(renewals)
    expect([reads.requests.length, renewals.requests.length]).toEqual([3, 2])
  })

  it('each time ends the call with an error that has the attempts and the key', async () => {
    const { gateway } = await openClients({ body: half(CHARGE) })
    const error = await errorOf(gateway.charge(CHARGE_REQUEST, { idempotencyKey: 'order-1' }))
    expect(error).toMatchObject({ ...unexpected, attempts: 3, idempotencyKey: 'order-1', retryable: true })
  })

  it('never makes the client retry subscribe or cancel, which may have acted', async () => {
    for (const call of [calls.cancel, calls.subscribe]) {
      const clients = await openClients({ body: half(CANCELLED) })
      expect(await errorOf(call(clients))).toMatchObject({ outcome: 'unknown', attempts: 1 })
      expect(clients.requests).toHaveLength(2)
    }
  })
})

describe('case 104: a body is cut off only if it ends too early', () => {
  const SAMPLE = [
    { id: 'ch_1', amount: -2.5e-3, list: [true, false, null, [], {}, 'é"\\\n'], nested: { a: { b: [1] } } },
    { ...CHARGE, note: 'a "quoted" \\ word {[' },
    [[1, [2]], { x: 'তাক\u0001' }],
  ]
  const attemptsOf = async (body: string) => (await failureOf({ body }, calls.details)).attempts

  it('at any character of a JSON text', async () => {
    for (const sample of SAMPLE) {
      const escaped = JSON.stringify(sample).replace(
        /[\u0080-\uffff]/g,
        (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
      for (const text of [JSON.stringify(sample), JSON.stringify(sample, null, 2), escaped])
        for (let length = 1; length < text.length; length += 1)
          expect(isCutJson(text.slice(0, length)), text.slice(0, length)).toBe(true)
    }
  })

  it.each([
    '{"id":"ch_1","amount":NaN}',
    '{"id":"ch_1","amount":NaN',
    '{"id":"ch_1",}',
    '{"id":"ch_1","list":[1,],"am',
    "{'id':'ch_1'}",
    "{'id':'ch_",
    '{"id":"ch_1"}{"id":"ch_2"}',
    '{"id":"ch_1"}{"id":',
    '{id:"ch_1"',
    '{"id":undefined',
    '{"id":"ch_1"]',
    '["id":"ch_1"',
    '{"id":"ch_1" "am',
    '{"id":01',
  ])('and not for %s, which a retry would not change: it is unexpected, and sent once', async (body) => {
    expect(await attemptsOf(body)).toBe(1)
    expect(await failureOf({ body }, calls.charge)).toMatchObject({
      ...unexpected,
      attempts: 1,
      retryable: false,
    })
  })
})

describe('the text of a response', () => {
  const _text = JSON.stringify({ ...DETAILS, requestID: 'commande-é-€-টাকা' })
  /** A JSON value as the client reads it. */
  const read = async (json: string): Promise<unknown> => {
    const body = `{"status":"succeeded","value":${json}}`
    const client = gatewayClient('http://gateway.example', { fetch: async () => new Response(body) })
    const { response } = await client.status('ch_1').withResponse()
    return (response.body as { value: unknown }).value
  }

  it('without large integers is read as JSON.parse reads it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (json) => {
        fc.pre(!/\d{16}/.test(json))
        expect(await read(json)).toEqual(JSON.parse(json))
      }),
    )
  })

  it('keeps every digit of a large integer, wherever it stands, and changes nothing else', async () => {
    const large = fc.bigInt({ min: 2n ** 53n, max: 10n ** 40n })
    await fc.assert(
      fc.asyncProperty(large, fc.string(), fc.integer(), async (number, word, small) => {
        const json = `{"n":${number},"m":[-${number}, ${small}],"s":${JSON.stringify(`${word}${number}"`)},"f":1.5}`
        const value = { n: `${number}`, m: [`-${number}`, small], s: `${word}${number}"`, f: 1.5 }
        expect(await read(json)).toEqual(value)
      }),
    )
  })

  it.each([
    ['9 million characters', 'x'.repeat(9_000_000)],
    ['millions of escapes', '\n"\\'.repeat(1_000_000)],
  ])('with %s and a large integer is read in time', async (_, note) => {
    const value = { note, n: '12345678901234567890', last: '\\' }
    const json = `{"note":${JSON.stringify(note)},"n":12345678901234567890,"last":"\\\\"}`
    // A deep comparison would print megabytes when it fails.
    expect(JSON.stringify(await read(json)) === JSON.stringify(value)).toBe(true)
  })

  it('nested deeper than the stack allows leaves the outcome and the key of a charge', async () => {
    const body = `{"d":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    const error = await failureOf({ status: 500, body }, calls.charge, once)
    expect(error).toMatchObject({ outcome: 'unknown', idempotencyKey: expect.any(String) })
  })

  it('with thousands of unfinished titles does not delay the error', async () => {
    const startedAt = performance.now()
    const script = { status: 502, body: '<title'.repeat(80_000) }
    expect(await failureOf(script, calls.charge, once)).toMatchObject({ status: 502, outcome: 'unknown' })
    // Backtracking over this text takes minutes.
    expect(performance.now() - startedAt).toBeLessThan(30_000)
  })

  it('of a huge refusal is an excerpt in the error', async () => {
    const trace = Array.from({ length: 20_000 }, () => 'frame')
    const error = await failureOf(
      { status: 400, body: { error: { code: 'x', message: 'No.' }, trace } },
      calls.status,
    )
    expect(JSON.stringify(error).length).toBeLessThan(5000)
  })
})

it('the data and its response come from one call', async () => {
  const headers = { 'x-request-id': 'r-9', 'X-RateLimit-Limit': '120' }
  const body = { ...CHARGE, id: 7, extra: true }
  const { gateway, requests } = await openClients({ status: 202, headers, body })
  const call = gateway.charge(CHARGE_REQUEST, { idempotencyKey: 'k' })
  const [{ data, response }, same] = await Promise.all([call.withResponse(), call])
  expect(same).toBe(data)
  expect(data.id).toBe('7')
  expect(response).toEqual({
    status: 202,
    headers: expect.objectContaining({ 'x-request-id': 'r-9', 'x-ratelimit-limit': '120' }),
    serverRequestId: 'r-9',
    body,
    rateLimit: { limit: 120 },
    attempts: 1,
    idempotencyKey: 'k',
  })
  expect(requests).toHaveLength(1)
})

it('a failure rejects the promises that the caller uses, and no other', async () => {
  const { gateway } = await openClients({ status: 404 })
  const unhandled = await unhandledDuring(async () => {
    await errorOf(gateway.status('ch_1'))
    await errorOf(gateway.status('ch_1').withResponse())
    const call = gateway.status('ch_1')
    await Promise.allSettled([call, call.withResponse()])
  })
  expect(unhandled).toEqual([])
})

it('a failure that the caller ignores is one unhandled rejection', async () => {
  const gateway = gatewayClient('http://127.0.0.1:1')
  expect(await unhandledDuring(() => void gateway.status(''))).toHaveLength(1)
})

it('login has a response, too, and health has one when the service responded', async () => {
  const { subscriptions, gateway } = await openClients({ status: 503, headers: { 'x-request-id': 'r-1' } })
  const { data, response } = await subscriptions.login().withResponse()
  expect(response).toMatchObject({ status: 200, body: { access_token: data.access_token }, attempts: 1 })
  expect(await gateway.health().withResponse()).toMatchObject({
    data: { ok: false, status: 503 },
    response: { status: 503, serverRequestId: 'r-1' },
  })
})
