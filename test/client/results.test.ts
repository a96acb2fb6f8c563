import { describe, expect, it } from 'vitest'
import { createMock, type MockOptions } from '../../mocks/core.ts'
import type { UnexpectedReport, UnexpectedResponseError } from '../../src/index.ts'
import { GatewayClient, KeyReusedError, nextStep } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS, OK, payment, SUBSCRIBED } from '../support/bodies.ts'
import { errorOf } from '../support/clients.ts'
import { type Call, calls, failureOf, once, openClients, unexpected } from '../support/open-clients.ts'
import type { Script } from '../support/scripted-server.ts'

/** The two clients, and the reports of what they did not expect. */
const watched = async (script: Script) => {
  const reports: UnexpectedReport[] = []
  return { ...(await openClients(script, { onUnexpected: (report) => reports.push(report) })), reports }
}

const rejected = { code: 'api_error', outcome: 'rejected' }

describe('case 22: the envelope of area S', () => {
  it('200 with an error code is a refusal that keeps code and body', async () => {
    const body = { errorCode: '07', errorMessage: 'start is over' }
    const error = await failureOf({ body }, calls.subscribe)
    expect(error).toMatchObject({ ...rejected, status: 200, errorCode: '07', body })
    expect(error.message).toContain('start is over')
  })

  it('200 without a code and without a url is not a success', async () => {
    const error = await failureOf({ body: { invoiceID: 'inv-1', url: '' } }, calls.subscribe)
    expect(error).toMatchObject({ ...unexpected, body: { invoiceID: 'inv-1' } })
  })

  it('200 without a code but with url and invoiceId is a success, and the missing code is reported', async () => {
    const body = { url: 'https://pay.example/a/1', invoiceId: 'inv-1' }
    const { reports, ...clients } = await watched({ body })
    expect(await calls.subscribe(clients)).toEqual({ url: body.url, invoiceID: 'inv-1' })
    const report = { operation: 'subscriptions.subscribe', field: 'errorCode' }
    expect(reports).toContainEqual(expect.objectContaining(report))
  })

  it.each([0, '0', '', '000', 7, { code: '00' }])(
    'the unexpected code %j is not a success and proves no refusal',
    async (errorCode) => {
      const body = { ...SUBSCRIBED, errorCode }
      expect(await failureOf({ body }, calls.subscribe)).toMatchObject({
        status: 200,
        outcome: 'unknown',
        body,
      })
    },
  )
})

describe('case 23: the statuses of area G', () => {
  it('202 on a charge and 201 on a renewal are successes; a failed renewal keeps every field', async () => {
    expect(await calls.charge(await openClients({ status: 202, body: CHARGE }))).toEqual(CHARGE)
    const error = { code: 'declined' }
    const body = { ...CHARGE, id: 'ch_2', status: 'failed', outcome: 'WALLET_BLOCKED', error }
    expect(await calls.renew(await openClients({ status: 201, body }))).toEqual(body)
    const read = { ...body, id: 'ch_1' }
    expect(await calls.status(await openClients({ body: read }))).toMatchObject({ status: 'failed' })
  })

  it('a charge status that has its status alone is expected', async () => {
    const { reports, ...clients } = await watched({ body: { status: 'succeeded' } })
    expect(await calls.status(clients)).toEqual({ status: 'succeeded' })
    expect(reports).toEqual([])
  })
})

describe('cases 24 and 25: a response that differs from the specification', () => {
  it('keeps unknown statuses and cycles as they are', async () => {
    const details = await openClients({ body: { ...DETAILS, cycle: 'MONTHLY' } })
    expect((await details.subscriptions.details('sub-1')).cycle).toBe('MONTHLY')
    const status = { invoiceId: 'inv-1', status: 'ON_HOLD', subscriptionId: 'NA', createdAt: 'x', ...OK }
    const { subscriptions } = await openClients({ body: status })
    expect(await subscriptions.status('inv-1')).toEqual({ ...status, subscriptionId: null })
    const { gateway } = await openClients({ status: 202, body: { ...CHARGE, status: 'reversed' } })
    expect((await gateway.charge(CHARGE_REQUEST)).status).toBe('reversed')
  })

  it('in casing or in types gives the same result', async () => {
    const paid = payment(12, { subscriptionId: '5' })
    const { paymentId, subscriptionId, ...others } = paid
    const body = {
      ...others,
      paymentID: String(paymentId),
      subscriptionID: Number(subscriptionId),
      reverseTransactionAmount: '0.00',
      reverseTransactionDate: '',
      reverseTransactionId: '',
      ...OK,
    }
    const { subscriptions } = await openClients({ body })
    expect(await subscriptions.payment('12')).toEqual({ ...paid, ...OK })
    const details = { ...DETAILS, amount: '25.00', enabled: 'true', id: 'sub-1' }
    expect(await calls.details(await openClients({ body: details }))).toEqual(DETAILS)
  })

  it('in a field that cannot be read omits it and reports its name, never its value', async () => {
    const { reports, ...clients } = await watched({ body: { ...DETAILS, amount: 'a lot', enabled: [1] } })
    const { amount: _amount, enabled: _enabled, ...readable } = DETAILS
    expect(await calls.details(clients)).toEqual(readable)
    expect(reports.map(({ field }) => field)).toEqual(['amount', 'enabled'])
    expect(JSON.stringify(reports)).not.toContain('a lot')
  })

  it('gives its result although onUnexpected throws', async () => {
    const onUnexpected = () => {
      throw new Error('The listener failed.')
    }
    const clients = await openClients({ body: { ...DETAILS, amount: 'a lot' } }, { onUnexpected })
    expect(await calls.details(clients)).toMatchObject({ id: 'sub-1' })
  })

  it('by lacking a necessary field is an error that keeps the body without the number of the payer', async () => {
    const { id: _id, msisdn, ...body } = CHARGE
    const error = await failureOf<UnexpectedResponseError>(
      { status: 202, body: { ...body, msisdn } },
      calls.charge,
      once,
    )
    expect(error.body).toEqual(body)
    expect(error).toMatchObject({ ...unexpected, status: 202 })
    expect(error.message).toContain('id')
  })

  it('in its list of payments: null is an empty list, and the client omits what is not a record', async () => {
    const list = async (subscriptionPayments: unknown) => {
      const { subscriptions } = await openClients({ body: { ...OK, subscriptionPayments } })
      return (await subscriptions.payments('sub-1')).subscriptionPayments
    }
    expect(await list(null)).toEqual([])
    const record = { paymentId: 3, status: 'X' }
    expect(await list([null, record, 4])).toEqual([expect.objectContaining(record)])
    await expect(list(undefined)).rejects.toMatchObject({ code: 'unexpected_response' })
  })
})

describe('a confirmation', () => {
  const confirm: Call = ({ gateway }) => gateway.confirm('conf_1', { otp: '123456', chargeId: 'ch_1' })

  it('reads the charge when the response lacks the status', async () => {
    const clients = await openClients([{ status: 204 }, { body: { status: 'succeeded' } }])
    expect(await confirm(clients)).toEqual({ status: 'succeeded' })
    expect(clients.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/api/v1/mfs/confirm/conf_1', '{"otp":"123456"}'],
      ['GET', '/api/v1/mfs/charges/ch_1', ''],
    ])
  })

  it('does not read the charge when the response has the status', async () => {
    const clients = await openClients({ body: { status: 'failed' } })
    expect(await confirm(clients)).toEqual({ status: 'failed' })
    expect(clients.requests).toHaveLength(1)
  })

  it('is a success although reading the charge fails', async () => {
    expect(await confirm(await openClients([{ body: { id: 'ch_1' } }, { status: 500 }]))).toEqual({
      id: 'ch_1',
    })
  })

  it.each([calls.confirm, calls.reset])(
    'is not a success when the response has an error object (%#)',
    async (call) => {
      for (const more of [{}, { serverRequestId: 'r-1' }]) {
        const body = { error: { code: 'charge_expired', message: '' }, ...more }
        expect(await failureOf({ body }, call)).toMatchObject({
          errorCode: 'charge_expired',
          outcome: 'rejected',
        })
      }
    },
  )

  it.each(['0', '00', ''])('is of unknown outcome when the error object has the code %j', async (code) => {
    const error = await failureOf({ body: { error: { code, message: 'ok' } } }, calls.confirm)
    expect(error).toMatchObject({ code: 'api_error', outcome: 'unknown' })
  })
})

/** The gateway client of a mock, and its reports. */
const onMock = (options: MockOptions = {}, onKeyReuse?: 'report') => {
  const mock = createMock(options)
  const reports: UnexpectedReport[] = []
  const onUnexpected = (report: UnexpectedReport) => reports.push(report)
  const { gateway: config } = mock.clientOptions
  const gateway = new GatewayClient({ ...config, fetch: mock.fetch, onUnexpected, onKeyReuse })
  return { mock, gateway, reports }
}

describe('cases 33 and 101: an idempotency key of another charge', () => {
  const idempotencyKey = 'order-77'

  it('is an error that names the fields and contains the first charge', async () => {
    const { mock, gateway, reports } = onMock()
    const first = await gateway.charge(CHARGE_REQUEST, { idempotencyKey })
    expect(await gateway.charge(CHARGE_REQUEST, { idempotencyKey })).toEqual(first)
    for (const [changes, fields] of [
      [{ amount: 999 }, 'amount'],
      [{ currency: 'USD' }, 'currency'],
      [{ msisdn: '8801799999999', amount: 999 }, 'msisdn and amount'],
    ] as const) {
      const error = await errorOf(gateway.charge({ ...CHARGE_REQUEST, ...changes }, { idempotencyKey }))
      const { id, amount } = first
      expect(error).toBeInstanceOf(KeyReusedError)
      const facts = { code: 'key_reused', outcome: 'unknown', retryable: false, idempotencyKey }
      expect(error).toMatchObject({ ...facts, phase: 'response', body: { id, amount } })
      expect(error.message).toContain(`another ${fields} than the request`)
      expect(error.message).toMatch(/status\(id\).*another key/)
      expect(error.message).not.toMatch(/8801799999999|999/)
      expect(nextStep(error)).toEqual({ step: 'find-out', how: 'read-charge' })
    }
    expect(reports).toEqual([])
    expect(mock.state.charges()).toHaveLength(1)
  })

  it('is found after a lost response too, and for a key that request() does not compare', async () => {
    const { mock, gateway } = onMock({ clock: 'system' })
    await gateway.charge(CHARGE_REQUEST, { idempotencyKey })
    mock.faults.add({ operation: 'gateway.charge', kind: 'status', status: 503 })
    const again = { ...CHARGE_REQUEST, amount: 1 }
    expect(await errorOf(gateway.charge(again, { idempotencyKey }))).toMatchObject({
      code: 'key_reused',
      attempts: 2,
    })
    const path = '/api/v1/mfs/charges'
    await gateway.request({ method: 'POST', path, body: again, idempotencyKey })
  })

  it('returns the first charge with onKeyReuse "report", and is reported without a value', async () => {
    const { mock, gateway, reports } = onMock({}, 'report')
    const first = await gateway.charge(CHARGE_REQUEST, { idempotencyKey })
    expect(await gateway.charge(CHARGE_REQUEST, { idempotencyKey })).toEqual(first)
    expect(reports).toEqual([])
    const other = { ...CHARGE_REQUEST, msisdn: '8801799999999', amount: 999 }
    expect(await gateway.charge(other, { idempotencyKey })).toEqual(first)
    expect(reports).toEqual([
      expect.objectContaining({
        operation: 'gateway.charge',
        field: 'msisdn',
        message: expect.stringMatching(/msisdn.*amount.*idempotency ?key/i),
      }),
    ])
    expect(JSON.stringify(reports)).not.toMatch(/8801799999999|999/)
    expect(mock.state.charges()).toHaveLength(1)
  })

  it('is an error if a renewal gets the charge of its mandate, because then nobody paid for the cycle', async () => {
    const charge = { ...CHARGE, id: 'ch_1', status: 'succeeded' }
    const { reports, ...clients } = await watched({ status: 201, body: charge })
    const error = await errorOf(clients.gateway.renew('ch_1', { idempotencyKey }))
    expect(error).toBeInstanceOf(KeyReusedError)
    expect(error.message).toContain('has the id of the mandate')
    expect(error).toMatchObject({ outcome: 'unknown', body: { id: 'ch_1' } })
    expect(await clients.gateway.renew('ch_0', { idempotencyKey })).toMatchObject({ id: 'ch_1' })
    expect(reports).toEqual([])
  })

  it('is an error, and not reported, where the server compares the bodies', async () => {
    const { gateway, reports } = onMock({ gateway: { keyReuse: 'reject' } })
    await gateway.charge(CHARGE_REQUEST, { idempotencyKey })
    const error = await errorOf(gateway.charge({ ...CHARGE_REQUEST, amount: 999 }, { idempotencyKey }))
    expect(error).toMatchObject({ status: 422, outcome: 'rejected' })
    expect(reports).toEqual([])
  })
})

/** The reports of a charge whose response has these fields. */
const reportsOf = async (fields: object): Promise<readonly UnexpectedReport[]> => {
  const { reports, ...clients } = await watched({ status: 202, body: { ...CHARGE, ...fields } })
  expect(await calls.charge(clients)).toMatchObject({ id: 'ch_1' })
  return reports
}

it.each([
  ['with the amount as text', { amount: '250' }],
  ['with decimals', { amount: '250.00' }],
  ['with the number as a number', { msisdn: 8801700000001 }],
  ['with a plus before the number', { msisdn: '+880 1700000001' }],
  ['with the currency in lower case', { currency: 'bdt' }],
  ['without a field', { currency: undefined }],
  ['with an empty field', { currency: '' }],
  ['with zeros before the number', { msisdn: '008801700000001' }],
  ['with separators in the number', { msisdn: '+880 (0)1700-000.001' }],
  ['with the number in its national form', { msisdn: '01700000001' }],
  ['with a masked number', { msisdn: '88017*****001' }],
  ['with a masked number in its national form', { msisdn: '017xxxxx001' }],
  ['with the end of the number', { msisdn: '****0001' }],
  ['with a zero after the country code', { msisdn: '+880 01700 000001' }],
])('a response has the charge that was sent, %s', async (_, fields) => {
  const reports = await reportsOf(fields)
  expect(reports.filter(({ rule }) => rule === 'what was sent')).toEqual([])
})

it.each([
  ['01700000001', '+880 (0)1700-000001'],
  ['+880 01700000001', '8801700000001'],
  ['008801700000001', '+88001700000001'],
])('a charge of %s is not reported when the response has %s', async (msisdn, received) => {
  const { gateway } = await openClients({ status: 202, body: { ...CHARGE, msisdn: received } })
  const charge = gateway.charge({ ...CHARGE_REQUEST, msisdn }, { idempotencyKey: 'order-1' })
  expect(await charge).toMatchObject({ id: 'ch_1' })
})

it.each([
  ['amount', { amount: -250 }],
  ['amount', { amount: 25 }],
  ['amount', { amount: 2.5 }],
  ['currency', { currency: 'USD' }],
  ['msisdn', { msisdn: '8801700000002' }],
  ['msisdn', { msisdn: '01800000001' }],
  ['msisdn', { msisdn: '88018*****001' }],
])('another %s is reported once, and the charge is returned: %o', async (field, fields) => {
  expect(await reportsOf(fields)).toMatchObject([{ field, rule: 'what was sent' }])
})
