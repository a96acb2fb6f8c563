import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextStep, type UnexpectedReport } from '../../src/index.ts'
import { isCutJson } from '../../src/json.ts'
import { CANCELLED, CHARGE, CHARGE_REQUEST, DETAILS, OK, payment } from '../support/bodies.ts'
import { errorOf, gatewayClient } from '../support/clients.ts'
import { type Call, calls, failureOf, once, openClients, unexpected } from '../support/open-clients.ts'
import { unhandledDuring } from '../support/refused.ts'
import type { Script } from '../support/scripted-server.ts'

describe('a response about another record', () => {
  const details = { ...DETAILS, id: 'SUB-1 ' }
  const request = { invoiceID: 'inv-1', status: 'INITIALIZED', subscriptionId: 'sub-1', createdAt: '', ...OK }
  const record = { ...payment(7), ...OK }
  const list: Call = ({ subscriptions }) => subscriptions.payments('sub-1')

  it.each<[string, Call, object]>([
    ['the charge', calls.status, { ...CHARGE, id: 'ch_2' }],
    ['the confirmed charge', calls.confirm, { ...CHARGE, confirmation_id: 'conf_2', status: 'succeeded' }],
    ['the subscription', calls.details, { ...DETAILS, id: 'sub-10' }],
    ['the request', ({ subscriptions }) => subscriptions.status('inv-1'), { ...request, invoiceID: 'inv-2' }],
    ['the payment', ({ subscriptions }) => subscriptions.payment(7), { ...record, paymentId: '70' }],
    ['the cancellation', calls.cancel, { ...CANCELLED, id: 'sub-1', subscriptionID: 'sub-2' }],
    [
      'one of the payments',
      list,
      { ...OK, subscriptionPayments: [payment(7), { ...payment(8), subscriptionId: 'sub-2' }] },
    ],
  ])('is an error, or is returned and reported with onOtherRecord: %s', async (_, call, body) => {
    const error = await failureOf({ body }, call)
    expect(error).toMatchObject({ ...unexpected, attempts: 1 })
    expect(error.message).toContain('is about another record: see the option onOtherRecord.')
    expect(nextStep(error).step).toBe(error.acts ? 'find-out' : 'fail')
    const reports: UnexpectedReport[] = []
    const onUnexpected = (report: UnexpectedReport) => void reports.push(report)
    await call(await openClients({ body }, { onUnexpected, onOtherRecord: 'report' }))
    expect(reports).toMatchObject([{ message: 'The response is about another record' }])
  })

  it('is not waited for, and the charge that was confirmed is not read from it', async () => {
    const other = { body: { ...CHARGE, id: 'ch_2', status: 'succeeded' } }
    const { gateway } = await openClients(other)
    await expect(gateway.waitForCharge('ch_1')).rejects.toMatchObject(unexpected)
    const confirming = await openClients([{ body: {} }, other])
    const confirmation = { otp: '123456', chargeId: 'ch_1' }
    expect(await confirming.gateway.confirm('conf_1', confirmation)).toEqual({})
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
    [
      'payments that name no subscription',
      list,
      { ...OK, subscriptionPayments: [{ paymentId: 7, status: 'X' }] },
    ],
    ['the identifier of the cancellation', ({ subscriptions }) => subscriptions.cancellation('7'), CANCELLED],
  ])('is not one with %s', async (_, call, body) => {
    const reports: UnexpectedReport[] = []
    await call(await openClients({ body }, { onUnexpected: (report) => void reports.push(report) }))
    expect(reports.filter(({ rule }) => rule === 'the value that was sent')).toEqual([])
  })
})

describe('case 21: a response without the JSON of its operation', () => {
  const page = { headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' }
  const empty = { body: undefined, errorCode: undefined }
  it.each<[string, Script, Call, object]>([
    ['502 with an HTML page', { status: 502, ...page }, calls.charge, { code: 'api_error', status: 502 }],
    ['200 with an HTML page', page, calls.charge, { ...unexpected, status: 200 }],
    ['an empty 500', { status: 500 }, calls.reset, { status: 500, ...empty }],
    ['an empty 400', { status: 400 }, calls.reset, { status: 400, ...empty }],
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

describe('case 104: a body is cut off only if it ends too early', () => {
  const SAMPLE = [
    { id: 'ch_1', amount: -2.5e-3, list: [true, false, null, [], {}, 'é"\\\n'], nested: { a: { b: [1] } } },
    { ...CHARGE, note: 'a "quoted" \\ word {[' },
    [[1, [2]], { x: 'তাক\u0001' }],
  ]

  it('at any character of a JSON text', () => {
    const inAscii = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`
    for (const sample of SAMPLE) {
      const json = JSON.stringify(sample)
      for (const text of [json, JSON.stringify(sample, null, 2), json.replace(/[\u0080-\uffff]/g, inAscii)])
        for (let length = 1; length < text.length; length += 1)
          expect(isCutJson(text.slice(0, length)), text.slice(0, length)).toBe(true)
    }
  })

  const NOT_CUT = `{"id":"ch_1","amount":NaN}   {"id":"ch_1","amount":NaN   {"id":"ch_1",}   {"id":"ch_1","list":[1,],"am
    {'id':'ch_1'}   {'id':'ch_   {"id":"ch_1"}{"id":"ch_2"}   {"id":"ch_1"}{"id":   {id:"ch_1"   {"id":undefined
    {"id":"ch_1"]   ["id":"ch_1"   {"id":"ch_1" "am   {"id":01`

  it.each(NOT_CUT.split(/ {3}|\n */))(
    'and not for %s, which is unexpected and sent once, for a read too',
    async (body) => {
      for (const call of [calls.details, calls.charge])
        expect(await failureOf({ body }, call)).toMatchObject({
          ...unexpected,
          attempts: 1,
          retryable: false,
        })
    },
  )
})

describe('the text of a response', () => {
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
    const body = { error: { code: 'x', message: 'No.' }, trace }
    const error = await failureOf({ status: 400, body }, calls.status)
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
