import { describe, expect, test } from 'vitest'
import { GatewayClient, invoiceIdFrom, renewalKey, SubscriptionsClient, toInstant } from '../../src/index.ts'
import {
  hmacVerifier,
  isNewer,
  lookupVerifier,
  memoryDedupe,
  parseNotification,
  reconcile,
} from '../../src/notifications/index.ts'
import { createRedisDedupeStore } from '../../src/stores/index.ts'
import { API_KEY, CREDENTIALS, gatewayClient, subscriptionsClient } from './clients.ts'

/** As someone without a type checker gives it. */
const loosely = (value: unknown) => value as never
const SECRET = 'sk-do-not-print'

const NOWHERE = 'http://127.0.0.1:1'
const gateway = gatewayClient(NOWHERE)

describe('a set-up that is refused says what to give instead, under the name that was called', () => {
  const make = (options: object) => new GatewayClient({ baseUrl: NOWHERE, apiKey: API_KEY, ...options })

  test.each<[string, () => unknown]>([
    [
      'GatewayClient: options must be an object such as { baseUrl, apiKey }, received nothing.',
      () => new GatewayClient(loosely(undefined)),
    ],
    [
      'SubscriptionsClient: options must be an object such as { baseUrl, credentials }, received text.',
      () => new SubscriptionsClient(loosely('https://api.example')),
    ],
    [
      'SubscriptionsClient: credentials must be an object with clientId, clientSecret, username, password, or a function that gives one, received nothing.',
      () => new SubscriptionsClient(loosely({ baseUrl: NOWHERE })),
    ],
    [
      'SubscriptionsClient: credentials.clientId, credentials.clientSecret, credentials.username and credentials.password must each be text that is not blank and has no control characters, received nothing.',
      () => subscriptionsClient(NOWHERE, { credentials: loosely({}) }),
    ],
    [
      'SubscriptionsClient: credentials.clientId must be text that is not blank and has no control characters, received nothing; credentials.clientID is no field; did you mean credentials.clientId?',
      () => {
        const { clientId, ...others } = CREDENTIALS
        return subscriptionsClient(NOWHERE, { credentials: loosely({ ...others, clientID: clientId }) })
      },
    ],
    [
      'GatewayClient: apiKey must be an API key as text of visible ASCII characters, without spaces, or a function that gives one, received text with a line break at its end.',
      () => make({ apiKey: `${SECRET}\n` }),
    ],
    ['GatewayClient: timeOut is no option; did you mean timeout?', () => make({ timeOut: 5 })],
    [
      'GatewayClient: retry must be an object such as { limit: 2 }, or false, received a whole number.',
      () => make({ retry: 3 }),
    ],
    [
      'GatewayClient: retry.limit must be a whole number from 0, received a number below 0.',
      () => make({ retry: { limit: -1 } }),
    ],
    [
      'GatewayClient: headers must be an object of header names and texts, such as { "x-tenant": "7" }, received a Headers.',
      () => make({ headers: new Headers({ 'x-tenant': '7' }) }),
    ],
    [
      'GatewayClient: clock must be a clock: an object with the methods now, sleep, received an object without sleep.',
      () => make({ clock: { now: () => 0 } }),
    ],
    [
      'GatewayClient: rateLimit must be "wait" or "throw", received one of them in another case.',
      () => make({ rateLimit: 'WAIT' }),
    ],
    [
      'renewalKey: attempt must be a whole number from 1, received a number below 1.',
      () => renewalKey('ch_1', '2026-12-01', 0),
    ],
    [
      'toInstant: naive must be a time as YYYY-MM-DD HH:MM:SS text, received a Date.',
      () => toInstant(loosely(new Date(0)), 'UTC'),
    ],
    [
      'toInstant: naive must be a day of the calendar, received a day that the calendar does not have.',
      () => toInstant('2026-02-30', 'UTC'),
    ],
    [
      'invoiceIdFrom: returnUrl must be a URL, or its path and query as text, such as the url of a request, received a Request.',
      () => invoiceIdFrom(loosely(new Request('https://shop.example/'))),
    ],
    [
      'hmacVerifier: options must be an object such as { header, secrets }, received nothing.',
      () => hmacVerifier(loosely(undefined)),
    ],
    [
      'hmacVerifier: secret is no option of hmacVerifier; did you mean secrets? secrets must be one or more secrets that are not empty, received nothing.',
      () => hmacVerifier(loosely({ header: 'x-signature', secret: SECRET })),
    ],
    [
      'hmacVerifier: secrets must be one or more secrets that are not empty, received an empty list.',
      () => hmacVerifier({ header: 'x-signature', secrets: [] }),
    ],
    [
      'hmacVerifier: secrets must be one or more secrets that are not empty, received nothing.',
      () => hmacVerifier({ header: 'x-signature', secrets: loosely([SECRET, undefined]) }),
    ],
    [
      'hmacVerifier: encoding must be "hex" or "base64" or "base64url", received other text.',
      () => hmacVerifier({ header: 'x', secrets: SECRET, encoding: loosely('utf8') }),
    ],
    [
      'lookupVerifier: client must be a SubscriptionsClient: an object with the methods details, cancellation, payment, received an object without details, cancellation, payment.',
      () => lookupVerifier(loosely(gateway)),
    ],
    [
      'memoryDedupe: limit must be a number from 1, received a number below 1.',
      () => memoryDedupe({ limit: 0 }),
    ],
    [
      'isNewer: a must be a notification, or its occurredAt (a Date) and status, received nothing.',
      () => isNewer(loosely(undefined), undefined),
    ],
    [
      'isNewer: b.occurredAt must be a Date, as notifications have it, received text.',
      () => isNewer({ occurredAt: new Date(0), status: 'CANCELLED' }, loosely({ occurredAt: '2026-12-01' })),
    ],
    [
      'reconcile: options must be an object such as { believed, gateway }, received nothing.',
      () => reconcile(loosely(undefined)),
    ],
    [
      'reconcile: concurrency must be a whole number from 1, received a number below 1.',
      () => reconcile({ believed: [], concurrency: 0 }),
    ],
    [
      'notifications.parse: body must be a JSON object or form fields, received a promise (is an await missing?).',
      () => parseNotification(Promise.resolve({})),
    ],
    [
      'stores.redis: commandTimeout must be milliseconds above 0, received a number as text.',
      () => createRedisDedupeStore(async () => null, loosely({ commandTimeout: '5' })),
    ],
  ])('%s', (words, work) => {
    expect(work).toThrow(expect.objectContaining({ name: 'InvalidRequestError', message: words }))
  })
})
