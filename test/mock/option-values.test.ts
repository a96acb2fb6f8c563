import { describe, expect, test } from 'vitest'
import type { MockOptions } from '../../mocks/core.ts'
import {
  createMock,
  gatewayDefaults,
  gatewayHttpDefaults,
  mockDefaults,
  subscriptionsDefaults,
  subscriptionsHttpDefaults,
} from '../../mocks/core.ts'

const REQUEST = { start: '2026-12-01', end: '2026-12-31', cycle: 'DAILY', amount: '1' }
const CHARGE = { msisdn: '+1', amount: 1, currency: 'BDT' }

const limits = [
  {},
  true,
  { limit: -1, windowMs: 1 },
  { limit: 1, windowMs: 0 },
  { limit: Number.NaN, windowMs: 1 },
]
const lengths = [-1, Number.NaN, Number.POSITIVE_INFINITY, '1h', null, { hour: 1 }, { hours: '1' }, true]
const words = ['loose', 1, null, {}]
const flags = ['no', 0, null]

/** Values that make no sense, by option. */
const own: Record<string, readonly unknown[]> = {
  rules: words,
  seed: [{}, null, Number.NaN],
  clock: [
    'yesterday',
    '2026-12-01T06:00:00',
    '2027-02-30T06:00:00Z',
    '2026-11-31',
    null,
    true,
    new Date(Number.NaN),
  ],
  sleep: words,
  rateLimitTime: words,
  logSize: [0, -1, 1.5, '10', null, Number.POSITIVE_INFINITY],
}
const bothAreas = {
  baseUrl: [
    'api.example',
    'ftp://api.example',
    'https://api.example/?a=1',
    'https://u:p@api.example',
    5,
    null,
  ],
  apiPrefix: ['/v2/', 'v2', '/:id', 5, null],
  contentType: words,
  unknownFields: words,
  rateLimit: [...limits, { limit: 1, window: 1 }],
}
const subscriptions: Record<string, readonly unknown[]> = {
  ...bothAreas,
  variant: [['casing'], 'id-casing', null],
  notify: [
    'https://shop.example',
    ['https://shop.example'],
    [{}],
    [{ to: 'https://shop.example', retry: 3 }],
    null,
  ],
  merchants: [
    [],
    'mock-client',
    [{ name: 'Shop' }],
    [{ name: 'Shop', clientId: 'a', clientSecret: 'b', users: [] }],
    [{ name: 'Shop', clientId: 'a', clientSecret: 5, users: [{ username: 'u', password: 'p' }] }],
    ['one', 'two'].map((name) => ({
      name,
      clientId: 'same',
      clientSecret: name,
      users: [{ username: 'u', password: 'p' }],
    })),
  ],
  requestTtl: lengths,
  pendingSubscriptionId: words,
  enabledValues: [1, {}, { active: '1', inactive: '0' }, { active: 1, inactive: 0, ended: 2 }],
  timeZone: ['Mars/Olympus', '', 6, null],
  startCutoff: ['25:00', '23.30', true, 2330],
  pastStart: words,
  maxEnd: [true, 730, { days: 730 }, { from: 'now', days: 1 }, { from: 'start', days: -1 }],
  amountPattern: ['^\\d+$', null],
  duplicateRequest: words,
  clientMismatch: words,
  debitTime: ['noon', false, 12],
  dunning: [3, { retries: 1 }, { retries: -1, everyDays: 1 }, { retries: 1, everyDays: 0 }],
  nextPaymentDateAfterEnd: [null, 'none'],
  cancelDelay: lengths,
  cancelTwice: words,
  tokenTtl: lengths,
  refresh: words,
  lockout: [
    true,
    5,
    { attempts: 5 },
    { attempts: 0, windowSeconds: 60, durationSeconds: 60 },
    { attempts: 5, windowSeconds: -60, durationSeconds: 60 },
    { attempts: 5, windowSeconds: 60, durationSeconds: Number.NaN },
  ],
  errorCodes: [{ succes: '0' }, { invalid: 1 }, 'E1'],
  validationStatus: [418, '422', null],
  errorsAs200: flags,
  notFoundStatus: [410, '404', null],
  paging: [
    10,
    { defaultSize: 5 },
    { defaultSize: 0, maxSize: 1, ignore: [] },
    { defaultSize: 1, maxSize: 1, ignore: ['perPage'] },
    { defaultSize: 200, maxSize: 100, ignore: [] },
  ],
  sendRetryAfter: flags,
  tokenEnvelope: flags,
  existing: [
    {},
    [{}],
    [{ request: { ...REQUEST, start: '2026-11-31' } }],
    [{ request: { ...REQUEST, amount: '0' } }],
    [{ request: { ...REQUEST, cycle: 'MONTHLY' } }],
    [{ request: REQUEST, payment: ['fail'] }],
    [{ request: REQUEST, payments: ['fails'] }],
    [{ request: REQUEST, invoiceId: '' }],
    [{ request: REQUEST, authorizedAt: true }],
  ],
  tokens: [{}, ['token'], [{ token: 'x' }], [{ accessToken: 'x', expiresAt: 'soon' }]],
}
const gateway: Record<string, readonly unknown[]> = {
  ...bothAreas,
  apiKeys: [[], 'key', [''], [5], [' key'], ['schlüssel'], ['a\nb']],
  otp: [123_456, '', '123 456', null],
  testNumbers: [[], { '+1': 'explodes' }, null],
  defaultBehavior: ['explodes', null],
  unlistedNumbers: words,
  retryDelay: lengths,
  confirmationTtl: lengths,
  confirmAnswer: words,
  statusAnswer: words,
  redirectAllowlist: ['https://shop.example', ['shop.example'], [null]],
  keyReuse: words,
  keyTtl: lengths,
  renewalsAsMandates: flags,
  maxOtpAttempts: [true, 0, -1, 1.5, '3'],
  inputRules: words,
  charges: [
    {},
    [{ ...CHARGE, msisdn: 1 }],
    [{ ...CHARGE, amount: 1.5 }],
    [{ ...CHARGE, status: 'paid' }],
    [{ ...CHARGE, outcome: 'PAID' }],
    [{ ...CHARGE, created_at: '2026-12-01T06:00:00' }],
    [{ ...CHARGE, redirect_uri: 'shop' }],
    [{ ...CHARGE, id: 'mandate' }],
    [{ ...CHARGE, mandate: 'ch_1' }],
  ],
}

const cases = (area: string, table: Record<string, readonly unknown[]>): [string, string, unknown][] =>
  Object.entries(table).flatMap(([name, values]) =>
    values.map((value): [string, string, unknown] => [area, name, value]),
  )

/** What creating a mock with such an option throws. */
const thrown = (area: string, name: string, value: unknown): unknown => {
  const options = area === '' ? { [name]: value } : { [area]: { [name]: value } }
  try {
    createMock(options as MockOptions)
    return undefined
  } catch (error) {
    return error
  }
}

describe('the values of options', () => {
  test('every option has values here that make no sense', () => {
    expect(Object.keys(own).sort()).toEqual(Object.keys(mockDefaults).sort())
    const all = { ...subscriptionsHttpDefaults, ...subscriptionsDefaults }
    expect(Object.keys(subscriptions).sort()).toEqual(Object.keys(all).sort())
    expect(Object.keys(gateway).sort()).toEqual(
      Object.keys({ ...gatewayHttpDefaults, ...gatewayDefaults }).sort(),
    )
  })

  test.each([...cases('', own), ...cases('subscriptions', subscriptions), ...cases('gateway', gateway)])(
    'one that makes no sense is refused by name: %s %s = %j',
    (area, name, value) => {
      const error = thrown(area, name, value)
      expect(error).toSatisfy((it: unknown) => it instanceof TypeError || it instanceof RangeError)
      // Receivers are connected by the same code as later ones, whose words then name the fault.
      const named =
        name === 'notify'
          ? /subscriptions\.notify|notifications\.connect/
          : [area, name].filter(Boolean).join('.')
      expect(String(error)).toMatch(named)
    },
  )

  test('no options at all, or an area that is none, are refused', () => {
    expect(() => createMock(null as never)).toThrow(
      'The options must be an object such as { clock: new Date() }, not null.',
    )
    expect(() => createMock({ gateway: null } as never)).toThrow(
      'Option gateway must be an object of options, not null.',
    )
    expect(() => createMock({ subscriptions: 'strict' } as never)).toThrow(
      'Option subscriptions must be an object of options, not text.',
    )
  })

  test.each([
    [new Date(0), 'a Date'],
    [[], 'a list'],
    [new Map(), 'a Map'],
  ])('%o in the place of the options is refused', (given, kind) => {
    expect(() => createMock(given as never)).toThrow(TypeError)
    expect(() => createMock(given as never)).toThrow(`such as { clock: new Date() }, not ${kind}.`)
    expect(() => createMock({ gateway: given } as never)).toThrow(
      `Option gateway must be an object of options, not ${kind}.`,
    )
  })

  test('what is undefined counts as left out, also inside an option', () => {
    const mock = createMock({
      rules: undefined,
      gateway: { otp: undefined },
      subscriptions: { errorCodes: { invalid: undefined }, requestTtl: undefined },
    } as never)
    expect(mock.clientOptions.gateway.apiKey).toBe('mock-api-key')
  })

  test('a wrong secret does not stand in the error', () => {
    const error = thrown('gateway', 'apiKeys', ['   '])
    expect(String(error)).toContain('gateway.apiKeys[0] must be text, not empty text')
    expect(String(thrown('gateway', 'apiKeys', 'sk-secret'))).not.toContain('sk-secret')
    expect(String(thrown('gateway', 'apiKeys', ['sk-secret\n']))).not.toContain('sk-secret')
    expect(String(thrown('gateway', 'otp', '98 76'))).not.toContain('98 76')
  })
})
