import { describe, expect, test } from 'vitest'
import {
  gatewayDefaults,
  strictGatewayDefaults,
  strictSubscriptionsDefaults,
  subscriptionsDefaults,
} from '../../mocks/core.ts'
import { Editor } from './language-service.ts'
import { publicFields, publicNames } from './public-fields.ts'

/** Unions whose own docstring lists what each variant says. */
const LISTED = /^(?:AnyMandateKitError|Claim|Difference|NotificationReport)\./

/** ` (S1; Limits).`: the place in the specification that ends a docstring. */
const PLACE = / \((?:S\d|S-[a-h]|S rule \d|G\d|G rule \d)[^()]*\)\.$/

const entries = [
  'src/index.ts',
  'src/notifications/index.ts',
  'src/stores/index.ts',
  'mocks/index.ts',
  'mocks/core.ts',
  'mocks/server.ts',
]
const fields = publicFields(entries)

/** A default as a docstring tells it; undefined where the docstrings of its parts tell it. */
const told = (value: unknown): string | undefined => {
  if (['string', 'number', 'boolean'].includes(typeof value) || value instanceof RegExp) return `\`${value}\``
  if (Array.isArray(value)) return value.length === 0 ? 'none' : undefined
  const [[unit, length] = [], ...more] = Object.entries(Object(value))
  const isLength = more.length === 0 && ['hours', 'seconds'].includes(String(unit))
  return isLength ? `${length} ${unit}` : undefined
}

/** The same of an option's part: a number stands for itself, its thousands apart. */
const toldOfPart = (value: unknown): string | undefined =>
  typeof value === 'number' ? value.toLocaleString('en').replaceAll(',', ' ') : told(value)

const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null

/** What the docstring of each option of an area, and of each of its parts, says of its default. */
const defaultsOf = (type: string, defaults: object, strict: object): [name: string, words: string][] =>
  Object.entries(defaults).flatMap(([name, value]): [string, string][] => {
    const words = told(value)
    const stricter = told(Reflect.get(strict, name))
    if (words !== undefined) {
      const end = stricter === undefined ? '' : `; under strict rules: ${stricter}`
      return [[`${type}.${name}`, `Default: ${words}${end}.`]]
    }
    // Numbers of a table and merchants of a list are no fields of a type.
    if (!isRecord(value) || Array.isArray(value) || name === 'testNumbers') return []
    return Object.entries(value).map(([part, own]) => [
      `${type}.${name}.${part}`,
      `Default: ${toldOfPart(own)}.`,
    ])
  })

test('every option of the mock tells its default as the code has it', () => {
  const wanted = [
    ...defaultsOf('GatewayOptions', gatewayDefaults, strictGatewayDefaults),
    ...defaultsOf('SubscriptionsOptions', subscriptionsDefaults, strictSubscriptionsDefaults),
  ]
  const documentation = new Map(
    fields.map((field) => [field.name, field.documentation.replaceAll(/\s+/g, ' ')]),
  )
  const wrong = wanted.filter(([name, words]) => !documentation.get(name)?.includes(words))
  expect(wrong).toEqual([])
  expect(wanted.length).toBeGreaterThan(60)
})

test('every exported name is explained, and every signature of a function', () => {
  const names = publicNames(entries)
  expect(names.filter(({ documentation }) => documentation === '').map(({ name }) => name)).toEqual([])
  expect(names.length).toBeGreaterThan(150)
})

describe('every field of an exported type', () => {
  test('is explained', () => {
    const silent = fields.filter(({ name, documentation }) => documentation === '' && !LISTED.test(name))
    expect(silent.map(({ name, file }) => `${name} in ${file}`)).toEqual([])
    expect(fields.length).toBeGreaterThan(500)
  })

  test('of a request or an answer ends in its place in the specification', () => {
    const bodies = fields.filter(
      ({ name, file }) => file.startsWith('src/contract/') && !name.startsWith('EndpointDefinition.'),
    )
    const without = bodies.filter(({ documentation }) => !PLACE.test(documentation))
    expect(without.map(({ name, documentation }) => `${name}: ${documentation}`)).toEqual([])
    expect(bodies.length).toBeGreaterThan(60)
  })
})

const editor = new Editor(`
import type { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { parseNotification } from 'mandatekit/notifications'
declare const gateway: GatewayClient
declare const subscriptions: SubscriptionsClient

const token = await subscriptions.login()
const subscribed = await subscriptions.subscribe({
  requestID: 'r-1', start: '2026-12-01', end: '2027-12-01', cycle: 'DAILY', amount: '25.00',
  userReturnURL: 'https://shop.example/return', clientID: 'shop',
})
const requested = await subscriptions.status(subscribed.invoiceID)
const details = await subscriptions.details('s-1')
const cancelled = await subscriptions.cancel('s-1')
const cancellation = await subscriptions.cancellation('s-1')
const page = await subscriptions.payments('s-1', { page: 1, perPage: 100 })
const [listed] = page.subscriptionPayments
const payment = await subscriptions.payment('1')
for await (const each of subscriptions.allPayments('s-1')) void each
const awaited = await subscriptions.waitForStatus('i-1')

const charge = await gateway.charge({
  msisdn: '+8801700000000', amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid',
}, { idempotencyKey: 'order-1' })
const confirmed = await gateway.confirm(charge.confirmation_id, { otp: '123456', chargeId: charge.id })
const state = await gateway.status(charge.id)
const renewed = await gateway.renew(charge.id, { cycle: '2026-12-01', attempt: 1 })
const settled = await gateway.waitForCharge(charge.id)
const health = await gateway.health()
const both = await gateway.charge({} as never).withResponse()
const notification = parseNotification('{}')

void [token.expires_in, requested.subscriptionId, details.nextPaymentDate, details.enabled]
void [payment.reverseTransactionAmount, payment.errorCode, listed?.dueDate, state.outcome, confirmed.amount]
void [charge.confirmation_url, both.response.attempts, notification.occurredAt, cancelled.status]
`)

test('a user who calls everything is told of no error', () => {
  expect(editor.problems()).toEqual([])
})

describe('an editor shows', () => {
  test.each([
    ['gateway.charge', '(request: ChargeRequest, options?: ChargeOptions): CallPromise<Charge>'],
    [
      'subscriptions.subscribe',
      '(request: SubscribeInput, options?: CallOptions): CallPromise<SubscribeResult>',
    ],
  ])('the types of %s by their names', (method, signature) => {
    expect(editor.hover(method).declaration).toContain(signature)
  })

  test.each([
    ['token', 'Token'],
    ['subscribed', 'SubscribeResult'],
    ['requested', 'RequestStatus'],
    ['details', 'SubscriptionDetails'],
    ['cancelled', 'Cancellation'],
    ['cancellation', 'Cancellation'],
    ['page', 'PaymentList'],
    ['listed', 'Payment | undefined'],
    ['payment', 'PaymentDetails'],
    ['each', 'Payment'],
    ['awaited', 'RequestStatus'],
    ['charge', 'Charge'],
    ['confirmed', 'Partial<Charge>'],
    ['state', 'ChargeState'],
    ['renewed', 'Charge'],
    ['settled', 'ChargeState'],
    ['health', 'Health'],
    ['both', 'Answered<Charge, CallResponse>'],
    ['notification', 'Notification'],
  ])('the answer %s by the name of its type: %s', (name, type) => {
    const { declaration } = editor.hover(name === 'listed' ? 'const [listed' : `const ${name}`)
    expect(declaration).toBe(`const ${name}: ${type}`)
  })

  test.each([
    '  requestID',
    'start',
    'end',
    'cycle',
    'amount',
    'userReturnURL',
    'clientID',
    '{ page',
    'perPage',
    'msisdn',
    "'+8801700000000', amount",
    'currency',
    'redirect_uri',
    'idempotencyKey',
    'otp',
    'chargeId',
    '{ cycle',
    'attempt',
    'token.expires_in',
    'requested.subscriptionId',
    'details.nextPaymentDate',
    'details.enabled',
    'payment.reverseTransactionAmount',
    'payment.errorCode',
    'listed?.dueDate',
    'state.outcome',
    'confirmed.amount',
    'charge.confirmation_url',
    'response.attempts',
    'notification.occurredAt',
    'cancelled.status',
  ])('what %s means', (place) => {
    const { declaration, documentation } = editor.hover(place)
    expect(declaration).toMatch(/^\(property\) /)
    expect(documentation).not.toBe('')
  })
})
