import { internalsOf } from '../assemble.ts'
import type { Fields } from '../base/result.ts'
import { testNumbers } from '../gateway/behaviors.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import type { Operation } from '../http/area.ts'
import { defaultMerchant } from '../subscriptions/options.ts'
import { DAY } from '../time/duration.ts'
import type { Mock } from '../types.ts'
import { PANEL_PATH } from './access.ts'

/** Returns the path of an operation, with the mock's prefix. */
export const pathOf = (mock: Mock, operation: Operation): string =>
  Object.values(internalsOf(mock).areas)
    .flatMap(({ router }) => router.routes)
    .find(({ definition }) => definition.operation === operation)?.path ?? ''

/** Returns whether the API key is the one of every mock without options. Any other key may be secret. */
export const hasPublicKey = ({ clientOptions }: Mock): boolean =>
  clientOptions.gateway.apiKey === gatewayDefaults.apiKeys[0]

/** Returns whether the client secret and the password are those of every mock without options. */
export const hasPublicUser = ({ clientOptions }: Mock): boolean => {
  const { clientSecret, password } = clientOptions.subscriptions.credentials
  return clientSecret === defaultMerchant.clientSecret && password === defaultMerchant.users[0].password
}

type Credentials = Mock['clientOptions']['subscriptions']['credentials']

/** Returns the fields of a login. */
export const loginOf = ({ clientId: client_id, clientSecret: client_secret, ...user }: Credentials) => ({
  grant_type: 'password',
  client_id,
  client_secret,
  ...user,
})

/** Returns the terms of a subscription that starts tomorrow. */
export const planOf = ({ clock }: Mock) => {
  const day = (days: number): string => new Date(clock.now() + days * DAY).toISOString().slice(0, 10)
  return { amount: '25.00', cycle: 'WEEKLY', start: day(1), end: day(300) }
}

/** Returns a new idempotency key or request ID. The mock's state counts them, so no state contains one twice. */
const newKey = (mock: Mock): string => `panel-${internalsOf(mock).ids.text('panel', 8)}`

/** Returns the address to which the payer returns: a page of the panel, if the mock has a server. */
const returnTo = (mock: Mock, page: string): string =>
  internalsOf(mock).addresses.isServed()
    ? `${mock.clientOptions.subscriptions.baseUrl}${PANEL_PATH}/${page}`
    : 'https://shop.example/return'

/** Returns the fields of a subscription request that a form may leave open. */
export const orderOf = (mock: Mock) => ({
  clientID: mock.clientOptions.subscriptions.credentials.clientId,
  requestID: newKey(mock),
  ...planOf(mock),
  userReturnURL: returnTo(mock, 'subscriptions'),
})

/** Returns the fields of a charge that a form may leave open. */
export const saleOf = (mock: Mock) => ({
  msisdn: testNumbers.succeeds,
  amount: 250,
  currency: 'BDT',
  redirect_uri: returnTo(mock, 'charges'),
})

/**
 * Calls an operation as a shop does: the call is in the request log, and faults and limits apply to it. Throws an error
 * with the mock's explanation if the call does not succeed.
 */
export const callAsShop = async (
  mock: Mock,
  operation: Operation,
  body: Fields,
  id = '',
): Promise<Fields> => {
  const { gateway, subscriptions } = mock.clientOptions
  const isGateway = operation.startsWith('gateway.')
  const headers = new Headers({ 'Content-Type': 'application/json' })
  if (isGateway) headers.set('Idempotency-Key', newKey(mock))
  if (operation !== 'subscriptions.login') {
    const login = () => callAsShop(mock, 'subscriptions.login', loginOf(subscriptions.credentials))
    headers.set('Authorization', `Bearer ${isGateway ? gateway.apiKey : (await login()).access_token}`)
  }
  const { baseUrl } = isGateway ? gateway : subscriptions
  const url = baseUrl + pathOf(mock, operation).replace(/:\w+/, encodeURIComponent(id))
  const response = await mock
    .fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(10_000) })
    .catch(() => undefined)
  if (response?.ok === true) return Object(await response.json())
  const last = internalsOf(mock).log.last((entry) => entry.operation === operation)
  throw new Error(last?.explanation ?? `${operation} failed.`)
}
