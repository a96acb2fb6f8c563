import { describe, expect, it } from 'vitest'
import { createMock, type MockOptions } from '../../mocks/core.ts'
import type { UnexpectedReport, UnexpectedResponseError } from '../../src/index.ts'
import { GatewayClient, KeyReusedError, nextStep } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS, OK, payment, SUBSCRIBED } from '../support/bodies.ts'
import { errorOf } from '../support/clients.ts'
import { type Call, calls, failureOf, once, openClients, unexpected } from '../support/open-clients.ts'
import type { Script } from '../support/scripted-server.ts'

/** The two clients, and the reports of what they did not expect. */
const watched = async (script: Script | readonly Script[]) => {
  const reports: UnexpectedReport[] = []
  return { ...(await openClients(script, { onUnexpected: (report) => reports.push(report) })), reports }
}

const list: Call = ({ subscriptions }) => subscriptions.payments('sub-1')
const confirm: Call = ({ gateway }) => gateway.confirm('conf_1', { otp: '123456', chargeId: 'ch_1' })
const { charge, details, status, subscribe } = calls

const url = 'https://pay.example/a/1'
const monthly = { ...DETAILS, cycle: 'MONTHLY' }
const onHold = { invoiceId: 'inv-1', status: 'ON_HOLD', subscriptionId: 'NA', createdAt: 'x', ...OK }
const { paymentId: _id, subscriptionId: _of, ...rest } = payment(12)
const reversal = { reverseTransactionAmount: '0.00', reverseTransactionDate: '', reverseTransactionId: '' }
const { amount: _amount, enabled: _enabled, ...readable } = DETAILS
const listOf = (...subscriptionPayments: unknown[]) => ({ ...OK, subscriptionPayments })
const omitted = ['subscriptionPayments[]', 'subscriptionPayments[]']
const paymentOf: Call = ({ subscriptions }) => subscriptions.payment('12')
const statusOf: Call = ({ subscriptions }) => subscriptions.status('inv-1')

const [unreadable, otherForms] = [
  { ...DETAILS, amount: 'a lot', enabled: [1] },
  { ...rest, paymentID: '12', subscriptionID: 5, ...reversal, ...OK },
]
const same = payment(12, { subscriptionId: '5', ...OK })

// What a success returns, and the fields that it reports.
it.each<[string, Call, body: unknown, result: unknown, reports?: readonly string[]]>([
  ['case 23: a charge that has its status alone', status, { status: 'succeeded' }, { status: 'succeeded' }],
  ['case 24: an unknown cycle', details, monthly, monthly],
  ['case 24: an unknown status of a request', statusOf, onHold, { ...onHold, subscriptionId: null }],
  ['case 24: an unknown status of a charge', status, { status: 'reversed' }, { status: 'reversed' }],
  ['case 25: a payment in other forms', paymentOf, otherForms, same],
  ['case 25: numbers as text', details, { ...DETAILS, amount: '25.00', enabled: 'true' }, DETAILS],
  ['case 25: all but unreadable fields', details, unreadable, readable, ['amount', 'enabled']],
  ['null as the list of payments', list, { ...OK, subscriptionPayments: null }, listOf()],
  ['a list without what is no record', list, listOf(null, payment(3), 4), listOf(payment(3)), omitted],
  ['a confirmation with the status', confirm, { status: 'failed' }, { status: 'failed' }],
])('%s is a result', async (_, call, body, result, fields = []) => {
  const { reports, ...clients } = await watched({ body })
  expect(await call(clients)).toEqual(result)
  expect(reports.map(({ field }) => field)).toEqual(fields)
  expect(JSON.stringify(reports)).not.toContain('a lot')
})

it('case 22: 200 without a code but with url and invoiceId is a success, and the missing code is reported', async () => {
  const { reports, ...clients } = await watched({ body: { url, invoiceId: 'inv-1' } })
  expect(await subscribe(clients)).toEqual({ url, invoiceID: 'inv-1' })
  expect(reports[0]).toMatchObject({ operation: 'subscriptions.subscribe', field: 'errorCode' })
})

it('case 23: 202 on a charge and 201 on a renewal are successes; a failed renewal keeps every field', async () => {
  expect(await charge(await openClients({ status: 202, body: CHARGE }))).toEqual(CHARGE)
  const body = {
    ...CHARGE,
    id: 'ch_2',
    status: 'failed',
    outcome: 'WALLET_BLOCKED',
    error: { code: 'declined' },
  }
  expect(await calls.renew(await openClients({ status: 201, body }))).toEqual(body)
})

it('case 25: a result is returned although onUnexpected throws', async () => {
  const onUnexpected = () => {
    throw new Error('The listener failed.')
  }
  const clients = await openClients({ body: { ...DETAILS, amount: 'a lot' } }, { onUnexpected })
  expect(await details(clients)).toMatchObject({ id: 'sub-1' })
})

const rejected = { code: 'api_error', outcome: 'rejected' }
const over = { errorCode: '07', errorMessage: 'start is over' }
const expired = { error: { code: 'charge_expired', message: '' } }
const unclear = { code: 'api_error', status: 200, outcome: 'unknown' }
const { id: _charge, ...nameless } = CHARGE

it.each<[string, Call, body: object, error: object]>([
  ['case 22: an error code', subscribe, over, { ...rejected, status: 200, errorCode: '07', body: over }],
  ['case 22: neither a code nor a url', subscribe, { invoiceID: 'inv-1', url: '' }, unexpected],
  ['case 22: the code 0', subscribe, { ...SUBSCRIBED, errorCode: 0 }, unclear],
  ['case 22: the code "0"', subscribe, { ...SUBSCRIBED, errorCode: '0' }, unclear],
  ['case 22: an empty code', subscribe, { ...SUBSCRIBED, errorCode: '' }, unclear],
  ['case 22: the code 000', subscribe, { ...SUBSCRIBED, errorCode: '000' }, unclear],
  ['case 22: the code 7 as a number', subscribe, { ...SUBSCRIBED, errorCode: 7 }, unclear],
  ['case 22: a code that is an object', subscribe, { ...SUBSCRIBED, errorCode: { code: '00' } }, unclear],
  ['a code that names a failure of the server', subscribe, { errorCode: '504' }, unclear],
  ['a code for a timeout', subscribe, { errorCode: 'UPSTREAM_TIMEOUT' }, unclear],
  ['a code for a pending request', charge, { error: { code: 'processing', message: '' } }, unclear],
  ['a code for work in progress', subscribe, { errorCode: 'IN_PROCESS' }, unclear],
  ['a code for an impossible subscription', subscribe, { errorCode: 'CANNOT_BE_PROCESSED' }, rejected],
  ['a code for a success', charge, { error: { code: '202', message: '' } }, unclear],
  ['a code for a decline', charge, { error: { code: 'processor_declined', message: '' } }, rejected],
  ['a code for an impossible request', charge, { error: { code: 'UNPROCESSABLE', message: '' } }, rejected],
  [
    'case 52: an error code beside the created object',
    subscribe,
    { ...SUBSCRIBED, errorCode: '07' },
    unclear,
  ],
  ['no list of payments', list, OK, { code: 'unexpected_response' }],
  ['an error object for a confirmation', confirm, expired, { ...rejected, errorCode: 'charge_expired' }],
  ['an error object beside another field', confirm, { ...expired, serverRequestId: 'r-1' }, rejected],
  ['an error object for a reset', calls.reset, expired, rejected],
  ['the error code "0"', confirm, { error: { code: '0', message: 'ok' } }, unclear],
  ['the error code "00"', confirm, { error: { code: '00', message: 'ok' } }, unclear],
  ['an empty error code', confirm, { error: { code: '', message: 'ok' } }, unclear],
  [
    'a charge without its id',
    charge,
    nameless,
    { ...unexpected, message: expect.stringContaining('lacks id') },
  ],
])(
  '%s in a 200 is an error that keeps the body, but not the number of the payer',
  async (_, call, body, expected) => {
    const error = await failureOf<UnexpectedResponseError>({ body }, call, once)
    const { msisdn: _number, ...kept } = body as { readonly msisdn?: unknown }
    expect(error).toMatchObject(expected)
    expect(error.body).toEqual(kept)
    if (body === over) expect(error.message).toContain('start is over')
  },
)

describe('a confirmation whose response lacks the status of the charge', () => {
  it('reads the charge', async () => {
    const clients = await openClients([{ status: 204 }, { body: { status: 'succeeded' } }])
    expect(await confirm(clients)).toEqual({ status: 'succeeded' })
    expect(clients.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/api/v1/mfs/confirm/conf_1', '{"otp":"123456"}'],
      ['GET', '/api/v1/mfs/charges/ch_1', ''],
    ])
  })

  it('reads the charge if the response is about another charge', async () => {
    const other = { ...CHARGE, id: 'ch_2', status: 'succeeded' }
    const clients = await openClients([{ body: other }, { body: { id: 'ch_1', status: 'failed' } }])
    expect(await confirm(clients)).toEqual({ id: 'ch_1', status: 'failed' })
    expect(await confirm(await openClients([{ body: other }, { status: 404 }]))).toEqual({})
  })

  it('is a success although reading the charge fails', async () => {
    const clients = await openClients([{ body: { id: 'ch_1' } }, { status: 500 }])
    expect(await confirm(clients)).toEqual({ id: 'ch_1' })
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
  const key = { idempotencyKey: 'order-77' }
  const other = { msisdn: '8801799999999', amount: 999 }

  it.each([
    [{ amount: 999 }, 'amount'],
    [{ currency: 'USD' }, 'currency'],
    [other, 'msisdn and amount'],
  ])(
    '(%o) is an error that names the fields without values and contains the first charge',
    async (changes, fields) => {
      const { mock, gateway, reports } = onMock()
      const first = await gateway.charge(CHARGE_REQUEST, key)
      expect(await gateway.charge(CHARGE_REQUEST, key)).toEqual(first)
      const error = await errorOf(gateway.charge({ ...CHARGE_REQUEST, ...changes }, key))
      const { id, amount } = first
      expect(error).toBeInstanceOf(KeyReusedError)
      const facts = { code: 'key_reused', outcome: 'unknown', retryable: false, phase: 'response', ...key }
      expect(error).toMatchObject({ ...facts, body: { id, amount } })
      expect(error.message).toContain(`another ${fields} than the request`)
      expect(error.message).toMatch(/status\(id\).*another key/)
      expect(error.message).not.toMatch(/8801799999999|999/)
      expect(JSON.stringify(error)).not.toContain(CHARGE_REQUEST.msisdn)
      expect(nextStep(error)).toEqual({ step: 'find-out', how: 'read-charge' })
      expect(reports).toEqual([])
      expect(mock.state.charges()).toHaveLength(1)
    },
  )

  it('is found after a lost response too, but not compared by request()', async () => {
    const { mock, gateway } = onMock({ clock: 'system' })
    await gateway.charge(CHARGE_REQUEST, key)
    mock.faults.add({ operation: 'gateway.charge', kind: 'status', status: 503 })
    const again = { ...CHARGE_REQUEST, amount: 1 }
    expect(await errorOf(gateway.charge(again, key))).toMatchObject({ code: 'key_reused', attempts: 2 })
    await gateway.request({ method: 'POST', path: '/api/v1/mfs/charges', body: again, ...key })
  })

  it('returns the first charge with onKeyReuse "report", and is reported without a value', async () => {
    const { mock, gateway, reports } = onMock({}, 'report')
    const first = await gateway.charge(CHARGE_REQUEST, key)
    expect(await gateway.charge(CHARGE_REQUEST, key)).toEqual(first)
    expect(reports).toEqual([])
    expect(await gateway.charge({ ...CHARGE_REQUEST, ...other }, key)).toEqual(first)
    const message = expect.stringMatching(/msisdn.*amount.*idempotency ?key/i)
    expect(reports).toMatchObject([{ operation: 'gateway.charge', field: 'msisdn', message }])
    expect(JSON.stringify(reports)).not.toMatch(/8801799999999|999/)
    expect(mock.state.charges()).toHaveLength(1)
  })

  it('may have any id if the operation is not one of the client', async () => {
    const { gateway } = await openClients({ body: { id: 'ch_1', status: 'stopped' } })
    const request = { method: 'POST', path: '/api/v1/mandates/stop', body: { mandate_id: 'ch_1' } } as const
    expect(await gateway.request({ ...request, idempotencyKey: 'stop-1' })).toMatchObject({ id: 'ch_1' })
  })

  it('is an error if a renewal gets the charge of its mandate, because then nobody paid for the cycle', async () => {
    const { reports, gateway } = await watched({ status: 201, body: { ...CHARGE, status: 'succeeded' } })
    const error = await errorOf(gateway.renew('ch_1', key))
    expect(error).toBeInstanceOf(KeyReusedError)
    expect(error.message).toContain('has the id of the mandate')
    expect(error).toMatchObject({ outcome: 'unknown', body: { id: 'ch_1' } })
    expect(await gateway.renew('ch_0', key)).toMatchObject({ id: 'ch_1' })
    expect(reports).toEqual([])
  })

  it('is an error, and not reported, where the server compares the bodies', async () => {
    const { gateway, reports } = onMock({ gateway: { keyReuse: 'reject' } })
    await gateway.charge(CHARGE_REQUEST, key)
    const error = await errorOf(gateway.charge({ ...CHARGE_REQUEST, amount: 999 }, key))
    expect(error).toMatchObject({ status: 422, outcome: 'rejected' })
    expect(reports).toEqual([])
  })
})

const PAYER = CHARGE_REQUEST.msisdn

it.each<[string, received: object, msisdn?: string]>([
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
  ['to a national number with separators', { msisdn: '+880 (0)1700-000001' }, '01700000001'],
  ['to a number with a trunk prefix', { msisdn: '8801700000001' }, '+880 01700000001'],
  ['to a number with zeros', { msisdn: '+88001700000001' }, '008801700000001'],
])('a response has the charge that was sent, %s', async (_, received, msisdn = PAYER) => {
  const { reports, gateway } = await watched({ status: 202, body: { ...CHARGE, ...received } })
  const charge = gateway.charge({ ...CHARGE_REQUEST, msisdn }, { idempotencyKey: 'order-1' })
  expect(await charge).toMatchObject({ id: 'ch_1' })
  expect(reports.filter(({ rule }) => rule === 'the value that was sent')).toEqual([])
})

it.each([
  ['amount', { amount: -250 }],
  ['amount', { amount: 25 }],
  ['amount', { amount: 2.5 }],
  ['currency', { currency: 'USD' }],
  ['msisdn', { msisdn: '8801700000002' }],
  ['msisdn', { msisdn: '01800000001' }],
  ['msisdn', { msisdn: '88018*****001' }],
])(
  'another %s is reported once, and a charge without the caller’s key is returned: %o',
  async (field, received) => {
    const { reports, ...clients } = await watched({ status: 202, body: { ...CHARGE, ...received } })
    expect(await calls.charge(clients)).toMatchObject({ id: 'ch_1' })
    expect(reports).toMatchObject([{ field, rule: 'the value that was sent' }])
  },
)
