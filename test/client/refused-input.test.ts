import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { GatewayClient, InvalidRequestError, toInstant } from '../../src/index.ts'
import { hmacVerifier } from '../../src/notifications/index.ts'
import {
  API_KEY,
  CHARGE_REQUEST,
  errorOf,
  gatewayClient,
  SUBSCRIPTION,
  subscriptionsClient,
} from './clients.ts'
import { startServer } from './scripted-server.ts'

/** As someone without a type checker gives it. */
const loosely = (value: unknown) => value as never
const SECRET = 'sk-do-not-print'

const NOWHERE = 'http://127.0.0.1:1'
const gateway = gatewayClient(NOWHERE)
const subscriptions = subscriptionsClient(NOWHERE)

describe('a call that is refused says what to give instead, and that nothing was sent', () => {
  const { userReturnURL, ...withoutReturn } = SUBSCRIPTION

  test.each<[string, () => Promise<unknown>]>([
    // The kind is always more precise than the rule: never "a whole number, received a whole number".
    [
      'page must be a whole number from 1, received a number below 1',
      () => subscriptions.payments('s', { page: 0 }),
    ],
    [
      'perPage must be a whole number from 1 to 100, received a number above 100',
      () => subscriptions.payments('s', { perPage: 101 }),
    ],
    [
      'perPage must be a whole number from 1 to 100, received a number as text',
      () => subscriptions.payments('s', loosely({ perPage: '50' })),
    ],
    [
      'page must be a whole number from 1, received a number with a fraction',
      () => subscriptions.payments('s', { page: 1.5 }),
    ],
    [
      'page must be a whole number from 1, received NaN',
      () => subscriptions.payments('s', { page: Number.NaN }),
    ],
    [
      'page must be a whole number from 1, received Infinity',
      () => subscriptions.payments('s', { page: Number.POSITIVE_INFINITY }),
    ],
    [
      'page must be an object such as { page: 2, perPage: 50 }, received a whole number',
      () => subscriptions.allPayments('s', loosely(2)).next(),
    ],
    [
      'subscriptionId must be an identifier as text that is not empty, received an object; page must be an object such as { page: 2, perPage: 50 }, received text',
      () => subscriptions.payments(loosely({ page: 2 }), loosely('sub-1')),
    ],
    [
      'request must be an object with requestID, start, end, userReturnURL, cycle, amount, received nothing',
      () => subscriptions.subscribe(loosely(undefined)),
    ],
    [
      'request must be an object with requestID, start, end, userReturnURL, cycle, amount, received a promise (is an await missing?)',
      () => subscriptions.subscribe(loosely(Promise.resolve(SUBSCRIPTION))),
    ],
    [
      'start must be a day of the calendar as YYYY-MM-DD text, received a Date',
      () => subscriptions.subscribe(loosely({ ...SUBSCRIPTION, start: new Date(0) })),
    ],
    [
      'start must be a day of the calendar as YYYY-MM-DD text, received a day that the calendar does not have',
      () => subscriptions.subscribe({ ...SUBSCRIPTION, start: '2026-02-30' }),
    ],
    [
      'start must be a day of the calendar as YYYY-MM-DD text, received text of another form',
      () => subscriptions.subscribe({ ...SUBSCRIPTION, start: '1 December' }),
    ],
    [
      'end must be a day on or after start, received an earlier day',
      () => subscriptions.subscribe({ ...SUBSCRIPTION, end: '2026-11-30' }),
    ],
    [
      'cycle must be one of DAILY, WEEKLY, FIFTEEN_DAYS, received one of them in another case',
      () => subscriptions.subscribe(loosely({ ...SUBSCRIPTION, cycle: 'daily' })),
    ],
    [
      'cycle must be one of DAILY, WEEKLY, FIFTEEN_DAYS, received other text',
      () => subscriptions.subscribe(loosely({ ...SUBSCRIPTION, cycle: 'MONTHLY' })),
    ],
    [
      'requestID must be text that is not empty, received a Map',
      () => subscriptions.subscribe(loosely({ ...SUBSCRIPTION, requestID: new Map() })),
    ],
    [
      'userReturnUrl is no field of subscribe; did you mean userReturnURL? userReturnURL must be an absolute URL such as https://shop.example/return, received nothing',
      () => subscriptions.subscribe(loosely({ ...withoutReturn, userReturnUrl: userReturnURL })),
    ],
    [
      'colour is no field of subscribe; there are clientID, requestID, start, end, userReturnURL, cycle, amount',
      () => subscriptions.subscribe(loosely({ ...SUBSCRIPTION, colour: 'red' })),
    ],
    [
      'colour is no field of subscribe; shade is no field of subscribe; there are clientID, requestID, start, end, userReturnURL, cycle, amount',
      () => subscriptions.subscribe(loosely({ ...SUBSCRIPTION, colour: 'red', shade: 'dark' })),
    ],
    [
      'request must be an object with msisdn, amount, currency, redirect_uri, received text',
      () => gateway.charge(loosely('+8801700000001')),
    ],
    [
      'amount must be a whole number from 0, received a number as text',
      () => gateway.charge(loosely({ ...CHARGE_REQUEST, amount: '250' })),
    ],
    [
      'amount must be a whole number from 0, received a whole number too large to be exact',
      () => gateway.charge({ ...CHARGE_REQUEST, amount: 2 ** 53 }),
    ],
    [
      'amount must be a whole number from 0, received a number below 0',
      () => gateway.charge({ ...CHARGE_REQUEST, amount: -5 }),
    ],
    [
      'idempotency_key is no option of charge; did you mean idempotencyKey?',
      () => gateway.charge(CHARGE_REQUEST, loosely({ idempotency_key: 'order-1' })),
    ],
    [
      'options must be an object such as { timeout: 10_000 }, received text',
      () => gateway.charge(CHARGE_REQUEST, loosely('order-1')),
    ],
    [
      "confirmation must be an object such as { otp: '…' }, received text",
      () => gateway.confirm('conf_1', loosely('123456')),
    ],
    [
      "confirmationId must be an identifier as text that is not empty, received an object; confirmation must be an object such as { otp: '…' }, received text",
      () => gateway.confirm(loosely({ otp: '123456' }), loosely('conf_1')),
    ],
    [
      'chargeID is no field of confirm; did you mean chargeId?',
      () => gateway.confirm('conf_1', loosely({ otp: '1', chargeID: 'c' })),
    ],
    [
      "renewal must be an object such as { cycle: '2026-12-01' } or { idempotencyKey: '…' }, received text",
      () => gateway.renew('ch_1', loosely('2026-12-01')),
    ],
    [
      'cycle must be a day of the calendar as YYYY-MM-DD text, received a Date',
      () => gateway.renew('ch_1', loosely({ cycle: new Date(0) })),
    ],
    [
      'attempt must be a whole number from 1, received a number below 1',
      () => gateway.renew('ch_1', { cycle: '2026-12-01', attempt: 0 }),
    ],
    [
      'chargeId must be an identifier as text that is not empty, received a whole number',
      () => gateway.status(loosely(7)),
    ],
    [
      'options must be an object such as { timeout: 10_000 }, received an AbortSignal',
      () => gateway.status('ch_1', loosely(new AbortController().signal)),
    ],
    [
      'timeout must be milliseconds above 0, received 0 or less',
      () => gateway.status('ch_1', { timeout: 0 }),
    ],
    [
      'options must be an object such as { timeout: 10_000 }, received a function',
      () =>
        gateway.waitForCharge(
          'ch_1',
          loosely(() => true),
        ),
    ],
  ])('%s', async (words, call) => {
    const error = await errorOf(call())
    const ending = words.endsWith('?') ? '' : '.'
    expect(error.message).toBe(`${error.operation}: ${words}${ending} Nothing was sent.`)
    expect(error).toBeInstanceOf(InvalidRequestError)
  })
})

describe('a secret in the wrong place', () => {
  test.each<[string, () => unknown]>([
    ['as the key with a line break', () => gatewayClient(NOWHERE, { apiKey: `${SECRET}\n` })],
    ['as the base URL’s password', () => gatewayClient(`https://user:${SECRET}@api.example`)],
    ['as the credentials', () => subscriptionsClient(NOWHERE, { credentials: loosely(SECRET) })],
    [
      'as credentials that are a list',
      () => subscriptionsClient(NOWHERE, { credentials: loosely([SECRET]) }),
    ],
    ['as a header that cannot be', () => gatewayClient(NOWHERE, { headers: { 'x-token': `${SECRET}\r\n` } })],
    ['as an option', () => gatewayClient(NOWHERE, { rateLimit: loosely(SECRET) })],
    ['as the options', () => new GatewayClient(loosely(SECRET))],
    ['as the code', () => gateway.confirm('conf_1', loosely(SECRET))],
    ['as the request', () => gateway.charge(loosely(SECRET))],
    ['as an amount', () => gateway.charge(loosely({ ...CHARGE_REQUEST, amount: SECRET }))],
    ['as the day', () => subscriptions.subscribe({ ...SUBSCRIPTION, start: SECRET })],
    ['as the renewal', () => gateway.renew('ch_1', loosely(SECRET))],
    ['as the idempotency key', () => gateway.charge(CHARGE_REQUEST, { idempotencyKey: `${SECRET}\n` })],
    ['as the signing secret’s name', () => hmacVerifier({ header: `${SECRET} `, secrets: SECRET })],
    ['as a time', () => toInstant(SECRET, 'UTC')],
    ['as a zone', () => toInstant('2026-12-01', SECRET)],
    [
      'behind a getter that throws it',
      () =>
        new GatewayClient({
          get baseUrl(): string {
            throw new Error(SECRET)
          },
          apiKey: API_KEY,
        }),
    ],
  ])('%s, is named by its kind and never shown', async (_, work) => {
    const error = await errorOf((async () => work())())
    expect(error).toBeInstanceOf(InvalidRequestError)
    for (const text of [
      error.message,
      error.stack,
      JSON.stringify(error),
      inspect(error, { depth: 20, showHidden: true }),
    ]) {
      expect(text).not.toContain(SECRET)
    }
  })
})

test('what an API key function gives is refused by its kind, under the call that needed it', async () => {
  const server = await startServer([{}])
  const client = gatewayClient(server.url, { apiKey: () => loosely(undefined) })
  const error = await errorOf(client.charge(CHARGE_REQUEST))
  expect(error.message).toMatch(
    /^gateway\.charge: apiKey must be an API key .*, received nothing\. Nothing was sent\.$/,
  )
  expect(server.requests).toEqual([])
})
