import { describe, expect, test } from 'vitest'
import * as core from '../../mocks/core.ts'
import { optionTables } from '../../mocks/options.ts'

const open = () => core.createMock({ clock: '2026-12-01T06:00:00Z' })

const REQUEST = { start: '2026-12-01', end: '2026-12-31', cycle: 'DAILY', amount: '1' }
const CHARGE = { msisdn: '+1', amount: 1, currency: 'BDT' }
const user = { username: 'u', password: 'p' }
const merchant = { name: 'Shop', clientId: 'same', clientSecret: 's', users: [user] }

const charges = (fields: object) => [{ ...CHARGE, ...fields }]
const existing = (fields: object) => [{ request: REQUEST, ...fields }]

/** Creates a mock with one option. */
const create = (name: string, value: unknown) => () =>
  core.createMock(name.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as object)

const expectNamed = (name: string, value: unknown): void => {
  expect(create(name, value)).toThrow(TypeError)
  expect(create(name, value)).toThrow(name)
}

describe('createMock refuses, and names the option of,', () => {
  const names = Object.entries(optionTables).flatMap(([area, table]) =>
    Object.keys(table).map((name) => `${area}${name}`),
  )

  test.each(names)('a wrong type: %s', (name) => {
    for (const value of [null, Symbol('x'), 10n, [null], { unknown: 1 }]) expectNamed(name, value)
  })

  // One row for each kind of rule.
  test.each<[name: string, values: readonly unknown[]]>([
    ['rules', ['loose', 1]],
    ['seed', [Number.NaN]],
    ['clock', ['2026-12-01T06:00:00', '2027-02-30T06:00:00Z', '2026-11-31', true, new Date(Number.NaN)]],
    ['logSize', [0, 1.5, '10', Number.POSITIVE_INFINITY]],
    ['gateway.baseUrl', ['api.example', 'ftp://a', 'https://a/?b=1', 'https://u:p@a', 'https://a/#b']],
    ['gateway.apiPrefix', ['/v2/', 'v2', '/:id']],
    ['gateway.rateLimit', [true, {}, { limit: -1, windowMs: 1 }, { limit: 1, windowMs: 0 }]],
    ['gateway.keyTtl', [-1, Number.NaN, Number.POSITIVE_INFINITY, '1h', { hour: 1 }, { hours: '1' }, true]],
    ['gateway.apiKeys', [[], 'key', [''], [5], [' key'], ['schlüssel'], ['a\nb']]],
    ['gateway.otp', [123_456, '', '123 456']],
    ['gateway.testNumbers', [[], { '+1': 'explodes' }]],
    ['gateway.redirectAllowlist', ['https://shop.example', ['shop.example'], [null]]],
    ['gateway.renewalsAsMandates', ['no', 0]],
    ['gateway.charges', [{ amount: 1.5 }, { msisdn: 1 }, { status: 'paid' }, { outcome: 'x' }].map(charges)],
    ['gateway.charges', [{ created_at: '2026-12-01T06:00:00' }, { redirect_uri: 'shop' }].map(charges)],
    ['gateway.charges', [{ id: 'mandate' }, { mandate: 'ch_1' }].map(charges)],
    ['subscriptions.variant', [['casing'], 'id-casing']],
    ['subscriptions.merchants', [[], [{ name: 'Shop' }], [{ ...merchant, users: [] }], [merchant, merchant]]],
    ['subscriptions.merchants', [[{ ...merchant, clientSecret: 5 }]]],
    ['subscriptions.enabledValues', [1, { active: '1', inactive: '0' }]],
    ['subscriptions.timeZone', ['Mars/Olympus', '']],
    ['subscriptions.startCutoff', ['25:00', '23.30', true, 2330]],
    ['subscriptions.maxEnd', [{ days: 730 }, { from: 'now', days: 1 }, { from: 'start', days: -1 }]],
    ['subscriptions.amountPattern', ['[', 5]],
    ['subscriptions.dunning', [{ retries: 1 }, { retries: -1, everyDays: 1 }, { retries: 1, everyDays: 0 }]],
    ['subscriptions.lockout', [{ attempts: 5 }, { attempts: 0, windowSeconds: 60, durationSeconds: 60 }]],
    ['subscriptions.errorCodes', [{ succes: '0' }, { invalid: 1 }]],
    ['subscriptions.validationStatus', [418, '422']],
    ['subscriptions.paging', [{ defaultSize: 5 }, { defaultSize: 200, maxSize: 100, ignore: [] }]],
    ['subscriptions.paging', [{ defaultSize: 1, maxSize: 1, ignore: ['perPage'] }]],
    [
      'subscriptions.existing',
      [{ payment: ['fail'] }, { invoiceId: '' }, { authorizedAt: true }].map(existing),
    ],
    ['subscriptions.tokens', [['token'], [{ token: 'x' }], [{ accessToken: 'x', expiresAt: 'soon' }]]],
    ['subscriptions.notify', [['https://shop.example'], [{}], [{ to: 'https://shop.example', retry: 3 }]]],
  ])('a wrong value: %s', (name, values) => {
    for (const value of values) expectNamed(name, value)
  })
})

test('an option that is undefined counts as omitted, also inside an option', () => {
  const mock = core.createMock({
    rules: undefined,
    gateway: { otp: undefined },
    subscriptions: { errorCodes: { invalid: undefined }, requestTtl: undefined },
  } as never)
  expect(mock.clientOptions.gateway.apiKey).toBe('mock-api-key')
})

test('an error does not contain a wrong secret', () => {
  expect(create('gateway.apiKeys', ['   '])).toThrow(
    /^gateway\.apiKeys\.0 must be visible ASCII text that a header can carry$/,
  )
  for (const apiKeys of ['sk-secret', ['sk-secret\n']]) {
    expect(create('gateway.apiKeys', apiKeys)).toThrow(/^(?!.*secret)/s)
  }
  expect(create('gateway.otp', '98 76')).toThrow(/^(?!.*98 76)/s)
  for (const name of ['gateway', 'gateway.rateLimit', 'gateway.keyTtl', 'subscriptions.lockout']) {
    expect(create(name, 'sk-secret')).toThrow(/^(?!.*secret).*received string$/s)
  }
  const { notifications, payer } = open()
  expect(() => notifications.connect('sk-secret')).toThrow(/^(?!.*secret)/s)
  expect(() => payer.confirm('https://pay.example/?code=secret')).toThrow(/^(?!.*secret)/s)
})

test.each<[RegExp, () => unknown]>([
  [/^Unknown option sede: did you mean seed\? \(options: rules, .*\)$/, create('sede', 1)],
  [
    /^Unknown option subscriptions\.timezone: did you mean timeZone\? \(options: .*timeZone, /,
    create('subscriptions.timezone', 'UTC'),
  ],
  [/^operation must be .*"gateway\.charge" or /, () => open().requests.of('gateway.chrage' as never)],
  [
    /^faults\.add: Unknown field probabilty: did you mean probability\? \(fields: .*probability, /,
    () => open().faults.add({ operation: '*', kind: 'reset', probabilty: 1 } as never),
  ],
])('an error for a misspelled name lists the names that exist %s', (words, work) => {
  expect(work).toThrow(TypeError)
  expect(work).toThrow(words)
})
