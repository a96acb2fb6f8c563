import createClient from 'openapi-fetch'
import type { paths } from './api.ts'

// Walks through the whole quickstart with generated types and no code of this package. The payer's part is done with
// the API of the control panel.

const [, , baseUrl = ''] = process.argv
const { GET, POST, DELETE, use } = createClient<paths>({ baseUrl })

const panel = async (action: Record<string, unknown>): Promise<void> => {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const response = await fetch(`${baseUrl}/_mock`, { method: 'POST', headers, body: JSON.stringify(action) })
  if (!response.ok) throw new Error(`The panel responded with ${response.status}: ${await response.text()}`)
}

type Result<Data> = { data?: Data; error?: unknown; response: Response }

/** The data of a response, which must be a success. */
const dataOf = async <Data>(call: Promise<Result<Data>>): Promise<Data> => {
  const { data, error, response } = await call
  if (data === undefined) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`)
  return data
}

const expectEqual = (actual: unknown, expected: unknown): void => {
  if (actual !== expected) throw new Error(`Expected ${String(expected)}, got ${String(actual)}.`)
}

let bearer = ''
use({
  onRequest({ request }) {
    if (bearer !== '') request.headers.set('authorization', `Bearer ${bearer}`)
    return request
  },
})

// A subscription.
const credentials = {
  grant_type: 'password',
  client_id: 'mock-client',
  client_secret: 'mock-client-secret',
  username: 'mock-user',
  password: 'mock-password',
} as const
const login = async () => (await dataOf(POST('/oauth/token', { body: credentials }))).access_token
bearer = await login()
const order = {
  clientID: 'mock-client',
  requestID: 'order-1001',
  start: '2026-12-02',
  end: '2027-05-31',
  userReturnURL: 'https://shop.example/return',
  cycle: 'WEEKLY',
  amount: '25.00',
} as const
const created = await POST('/api/v1.0/subscribe', { body: order })
const { invoiceID: invoiceId, errorCode } = await dataOf(Promise.resolve(created))
expectEqual(errorCode, '00')
expectEqual(Number(created.response.headers.get('x-ratelimit-remaining')) > 0, true)
await panel({ action: 'authorize', invoiceId })
const request = { params: { path: { invoiceId } } }
const { status, subscriptionId } = await dataOf(POST('/api/v1.0/subscribe/{invoiceId}/status', request))
expectEqual(status, 'SUCCEEDED')

const path = { subscriptionId }
const subscription = { params: { path } }
expectEqual((await dataOf(POST('/api/v1.0/subscription/{subscriptionId}', subscription))).amount, 25)
await panel({ action: 'advance', days: 21 })
bearer = await login()
const page = { params: { path, query: { page: 1, per_page: 2 } } }
const list = await dataOf(POST('/api/v1.0/subscription/{subscriptionId}/payments', page))
expectEqual(list.subscriptionPayments.length, 2)
const one = { params: { path: { paymentId: String(list.subscriptionPayments[0]?.paymentId) } } }
expectEqual(
  (await dataOf(POST('/api/v1.0/subscription/payment/{paymentId}', one))).status,
  'SUCCEEDED_PAYMENT',
)
const canceled = await dataOf(POST('/api/v1.0/subscription/{subscriptionId}/cancel', subscription))
expectEqual(canceled.status, 'PROCESSED')
const read = await dataOf(POST('/api/v1.0/subscription/cancel/{subscriptionId}', subscription))
expectEqual(read.id, canceled.id)

// A charge and its renewal.
bearer = 'mock-api-key'
expectEqual((await GET('/health')).response.status, 200)
expectEqual((await GET('/api/v1/reference')).response.status, 200)
const key = { params: { header: { 'Idempotency-Key': 'order-1001' } } }
const redirect_uri = 'https://shop.example/paid'
const body = { msisdn: '+99900000001', amount: 250, currency: 'BDT', redirect_uri }
const charge = await dataOf(POST('/api/v1/mfs/charges', { ...key, body }))
const { id, confirmation_id: confirmationId } = charge
expectEqual((await dataOf(POST('/api/v1/mfs/charges', { ...key, body }))).id, id)
const confirmation = { params: { path: { confirmationId } } }
const confirm = (otp: string) =>
  POST('/api/v1/mfs/confirm/{confirmationId}', { ...confirmation, body: { otp } })
expectEqual((await confirm('000000')).error?.error.code, 'incorrect_code')
expectEqual((await confirm('123456')).data?.status, 'succeeded')
expectEqual((await dataOf(GET('/api/v1/mfs/charges/{id}', { params: { path: { id } } }))).status, 'succeeded')
const cycle = { path: { id }, header: { 'Idempotency-Key': 'renewal-2027-01' } }
const renewal = POST('/api/v1/mfs/charges/{id}/renew', { params: cycle, body: { mandate_id: id } })
expectEqual((await dataOf(renewal)).outcome, 'SUCCEEDED')
expectEqual((await POST('/api/v1/reset')).response.status, 200)
expectEqual((await DELETE('/api/v1/reset')).response.status, 200)

// Each of these calls must be an error of the compiler.
// @ts-expect-error The header Idempotency-Key is missing.
const withoutKey = () => POST('/api/v1/mfs/charges', { body })
// @ts-expect-error The amount is no number.
const textAmount = () => POST('/api/v1/mfs/charges', { ...key, body: { ...body, amount: '250' } })
// @ts-expect-error The cycle does not exist.
const otherCycle = () => POST('/api/v1.0/subscribe', { body: { cycle: 'MONTHLY' } })
const { length } = [withoutKey, textAmount, otherCycle]
process.stdout.write(`Walked through both APIs; ${length} calls do not compile.\n`)
