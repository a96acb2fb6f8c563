import { internalsOf } from '../assemble.ts'
import { testNumbers } from '../gateway/behaviors.ts'
import type { Operation } from '../http/area.ts'
import { DAY } from '../time/duration.ts'
import type { Mock } from '../types.ts'
import { PANEL_PATH } from './access.ts'

/** Returns the path of an operation, with the mock's prefix. */
export const pathOf = (mock: Mock, operation: Operation): string =>
  Object.values(internalsOf(mock).areas)
    .flatMap(({ router }) => router.routes)
    .find(({ definition }) => definition.operation === operation)?.path ?? ''

type Fields = Readonly<Record<string, unknown>>

/**
 * Calls an operation as a shop does: the call is in the request log, and faults and limits apply to it. Throws an error
 * with the mock's explanation if the call does not succeed.
 */
const call = async (
  mock: Mock,
  operation: Operation,
  body: Fields,
  headers: Readonly<Record<string, string>> = {},
  id = '',
): Promise<Fields> => {
  const { baseUrl } = mock.clientOptions[operation.startsWith('gateway.') ? 'gateway' : 'subscriptions']
  const path = pathOf(mock, operation).replace(/:\w+/, encodeURIComponent(id))
  const sent = { 'Content-Type': 'application/json', ...headers }
  const response = await mock
    .fetch(baseUrl + path, { method: 'POST', headers: sent, body: JSON.stringify(body) })
    .catch(() => undefined)
  if (response?.ok === true) return Object(await response.json())
  const last = internalsOf(mock).log.last((entry) => entry.operation === operation)
  throw new Error(last?.explanation ?? `${operation} failed.`)
}

const newKey = (mock: Mock): string => `panel-${internalsOf(mock).log.bounds().end + 1}`

const returnTo = (mock: Mock, page: string): string =>
  internalsOf(mock).addresses.isServed()
    ? `${mock.clientOptions.subscriptions.baseUrl}${PANEL_PATH}/${page}`
    : 'https://shop.example/return'

export const loginOf = (credentials: Mock['clientOptions']['subscriptions']['credentials']) => {
  const { clientId: client_id, clientSecret: client_secret, ...user } = credentials
  return { grant_type: 'password', client_id, client_secret, ...user }
}

/** Returns the terms of a subscription that starts tomorrow. */
export const planOf = ({ clock }: Mock) => {
  const day = (days: number): string => new Date(clock.now() + days * DAY).toISOString().slice(0, 10)
  return { amount: '25.00', cycle: 'WEEKLY', start: day(1), end: day(300) }
}

/** Requests a subscription, and returns its invoiceID. */
export const subscribe = async (mock: Mock, given: Fields): Promise<string> => {
  const { credentials } = mock.clientOptions.subscriptions
  const token = await call(mock, 'subscriptions.login', loginOf(credentials))
  const own = { clientID: credentials.clientId, requestID: newKey(mock), ...planOf(mock) }
  const order = { ...own, userReturnURL: returnTo(mock, 'subscriptions'), ...given }
  const headers = { Authorization: `Bearer ${token.access_token}` }
  return String((await call(mock, 'subscriptions.subscribe', order, headers)).invoiceID)
}

const gatewayHeaders = (mock: Mock) => ({
  Authorization: `Bearer ${mock.clientOptions.gateway.apiKey}`,
  'Idempotency-Key': newKey(mock),
})

export const charge = async (mock: Mock, given: Fields): Promise<string> => {
  const own = { msisdn: testNumbers.succeeds, amount: 250, currency: 'BDT' }
  const fields = { ...own, redirect_uri: returnTo(mock, 'charges'), ...given }
  return String((await call(mock, 'gateway.charge', fields, gatewayHeaders(mock))).id)
}

/** Renews a charge, and returns the id of the renewal. */
export const renew = async (mock: Mock, id: string): Promise<string> =>
  String((await call(mock, 'gateway.renew', { mandate_id: id }, gatewayHeaders(mock), id)).id)
