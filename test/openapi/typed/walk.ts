import createClient from 'openapi-fetch'
import type { paths } from './api.ts'

// Walks through the whole quickstart with generated types and no code of this package. The payer's part is done with
// the API of the control panel.

const [, , baseUrl = ''] = process.argv
const { GET, POST, DELETE, use } = createClient<paths>({ baseUrl })

const panel = async (action: Record<string, unknown>): Promise<void> => {
  const response = await fetch(`${baseUrl}/_mock`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(action),
  })
  if (!response.ok) throw new Error(`The panel responded with ${response.status}: ${await response.text()}`)
}

const orThrow = <Data>({
  data,
  error,
  response,
}: {
  data?: Data
  error?: unknown
  response: Response
}): Data => {
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
const token = orThrow(await POST('/oauth/token', { body: credentials }))
bearer = token.access_token

const created = await POST('/api/v1.0/subscribe', {
  body: {
    clientID: 'mock-client',
    requestID: 'order-1001',
    start: '2026-12-02',
    end: '2027-05-31',
    userReturnURL: 'https://shop.example/return',
    cycle: 'WEEKLY',
    amount: '25.00',
  },
})
const { invoiceID, errorCode } = orThrow(created)
expectEqual(errorCode, '00')
expectEqual(Number(created.response.headers.get('x-ratelimit-remaining')) > 0, true)

await panel({ action: 'authorize', invoiceId: invoiceID })
const request = { params: { path: { invoiceId: invoiceID } } }
const { status, subscriptionId } = orThrow(await POST('/api/v1.0/subscribe/{invoiceId}/status', request))
expectEqual(status, 'SUCCEEDED')

const subscription = { params: { path: { subscriptionId } } }
const details = orThrow(await POST('/api/v1.0/subscription/{subscriptionId}', subscription))
expectEqual(details.amount, 25)

await panel({ action: 'advance', days: 21 })
bearer = orThrow(await POST('/oauth/token', { body: credentials })).access_token
const list = orThrow(
  await POST('/api/v1.0/subscription/{subscriptionId}/payments', {
    params: { path: { subscriptionId }, query: { page: 1, per_page: 2 } },
  }),
)
expectEqual(list.subscriptionPayments.length, 2)
const paymentId = String(list.subscriptionPayments[0]?.paymentId)
const payment = orThrow(
  await POST('/api/v1.0/subscription/payment/{paymentId}', { params: { path: { paymentId } } }),
)
expectEqual(payment.status, 'SUCCEEDED_PAYMENT')

const canceled = orThrow(await POST('/api/v1.0/subscription/{subscriptionId}/cancel', subscription))
expectEqual(canceled.status, 'PROCESSED')
const read = orThrow(await POST('/api/v1.0/subscription/cancel/{subscriptionId}', subscription))
expectEqual(read.id, canceled.id)

// A charge and its renewal.
bearer = 'mock-api-key'
expectEqual((await GET('/health')).response.status, 200)
expectEqual((await GET('/api/v1/reference')).response.status, 200)
const key = { params: { header: { 'Idempotency-Key': 'order-1001' } } }
const body = {
  msisdn: '+99900000001',
  amount: 250,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
}
const charge = orThrow(await POST('/api/v1/mfs/charges', { ...key, body }))
expectEqual(orThrow(await POST('/api/v1/mfs/charges', { ...key, body })).id, charge.id)

const confirmation = { params: { path: { confirmationId: charge.confirmation_id } } }
const wrong = await POST('/api/v1/mfs/confirm/{confirmationId}', { ...confirmation, body: { otp: '000000' } })
expectEqual(wrong.error?.error.code, 'incorrect_code')
const confirmed = await POST('/api/v1/mfs/confirm/{confirmationId}', {
  ...confirmation,
  body: { otp: '123456' },
})
expectEqual(confirmed.data?.status, 'succeeded')

const path = { id: charge.id }
expectEqual(orThrow(await GET('/api/v1/mfs/charges/{id}', { params: { path } })).status, 'succeeded')
const renewal = orThrow(
  await POST('/api/v1/mfs/charges/{id}/renew', {
    params: { path, header: { 'Idempotency-Key': 'renewal-2027-01' } },
    body: { mandate_id: charge.id },
  }),
)
expectEqual(renewal.outcome, 'SUCCEEDED')
expectEqual((await POST('/api/v1/reset')).response.status, 200)
expectEqual((await DELETE('/api/v1/reset')).response.status, 200)

// Each of these calls must be an error of the compiler.
// @ts-expect-error The header Idempotency-Key is missing.
const withoutKey = () => POST('/api/v1/mfs/charges', { body })
// @ts-expect-error The amount is no number.
const textAmount = () => POST('/api/v1/mfs/charges', { ...key, body: { ...body, amount: '250' } })
// @ts-expect-error The cycle does not exist.
const otherCycle = () => POST('/api/v1.0/subscribe', { body: { cycle: 'MONTHLY' } })

process.stdout.write(
  `Walked through both APIs; ${[withoutKey, textAmount, otherCycle].length} calls do not compile.\n`,
)
