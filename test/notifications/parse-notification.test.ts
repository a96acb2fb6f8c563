import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { InvalidRequestError } from '../../src/errors.ts'
import { parseNotification } from '../../src/notifications/index.ts'
import { delivery, parsedPayment, payment, subscription } from '../support/messages.ts'

const json = JSON.stringify(payment())
const fields = payment() as Record<string, string>
const form = new URLSearchParams(fields)
const multipart = new FormData()
for (const [name, value] of Object.entries(fields)) multipart.set(name, value)
const bytes = new TextEncoder().encode(json)
/** The message as a script creates it in another realm, such as those of test runners. */
const otherRealm = (script: string): object => runInNewContext(script, { text: json, bytes: [...bytes] })

/** The fields that are refused. */
const refused = (input: unknown): readonly string[] => {
  try {
    void parseNotification(input as string)
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error
    return error.issues.map(({ field }) => field)
  }
  return []
}

const isForm = { 'content-type': 'application/x-www-form-urlencoded' }
const upload = new Request('https://shop.example/', { method: 'PUT', body: multipart })
test.each<[string, () => unknown]>([
  ['JSON text', () => parseNotification(json)],
  ['JSON text with a byte order mark and spaces', () => parseNotification(`\uFEFF \n${json}\r\n`)],
  ['URL-encoded text', () => parseNotification(String(form))],
  ['bytes', () => parseNotification(bytes)],
  ['a Buffer with a byte order mark', () => parseNotification(Buffer.from(`\uFEFF${json}`))],
  ['a part of a Buffer', () => parseNotification(Buffer.from(`[[${json}]]`).subarray(2, -2))],
  ['bytes of another realm', () => parseNotification(otherRealm('Uint8Array.from(bytes)'))],
  ['an object of another realm', () => parseNotification(otherRealm('JSON.parse(text)'))],
  ['an ArrayBuffer', () => parseNotification(bytes.buffer)],
  ['a parsed object', () => parseNotification(payment())],
  ['URLSearchParams', () => parseNotification(form)],
  ['FormData', () => parseNotification(multipart)],
  ['a request with JSON', () => parseNotification(delivery(payment()))],
  ['a request with a form', () => parseNotification(delivery(String(form), isForm))],
  ['a request with a form labeled JSON', () => parseNotification(delivery(String(form)))],
  ['a request with JSON labeled as a form', () => parseNotification(delivery(payment(), isForm))],
  ['a request with a multipart form', () => parseNotification(upload)],
])('case 39: the same notification is read from %s', async (_, parse) => {
  expect(await parse()).toEqual(parsedPayment)
})

test('large numbers as identifiers keep every digit, and rounded ones are refused', async () => {
  for (const id of ['12345678901234567890', '12345678901234567891']) {
    const text = json.replace('"n-1"', id).replace('"42"', id)
    expect(parseNotification(text)).toMatchObject({ notificationId: id, paymentId: id })
    expect(await parseNotification(delivery(text))).toMatchObject({ notificationId: id })
  }
  for (const field of ['notificationId', 'subscriptionId', 'paymentId'])
    expect(refused(payment({ [field]: Number('12345678901234567890') }))).toEqual([field])
})

test('case 38: type and status are read in any case and spelling, and raw keeps the original', () => {
  const failed = payment({ type: ' subscription_payment', status: 'Failed_Payment\n' })
  expect(parseNotification(failed)).toMatchObject({ type: 'SUBSCRIPTION_PAYMENT', status: 'FAILED_PAYMENT' })
  for (const status of ['canceled', 'Cancelled', ' CANCELED ', 'CANCELED', 'CANCELLED']) {
    const expected = { type: 'SUBSCRIPTION', status: 'CANCELLED', paymentId: null, raw: { status } }
    expect(parseNotification(subscription({ type: 'subscription', status }))).toMatchObject(expected)
  }
})

test.each<[string, object, string, string]>([
  ['type', payment({ type: 'REFUND' }), 'REFUND', 'SUCCEEDED_PAYMENT'],
  ['status of a subscription', subscription({ status: 'EXPIRED' }), 'SUBSCRIPTION', 'EXPIRED'],
  ['status of a payment', payment({ status: 'REVERSED' }), 'SUBSCRIPTION_PAYMENT', 'REVERSED'],
  ['status for its type', subscription({ status: 'FAILED_PAYMENT' }), 'SUBSCRIPTION', 'FAILED_PAYMENT'],
])(
  'a message with an unknown %s is UNKNOWN and has what was received',
  (_, message, receivedType, status) => {
    expect(parseNotification(message)).toMatchObject({ type: 'UNKNOWN', receivedType, status })
  },
)

test('other casing, numbers as text and additional fields are read', () => {
  const { notificationId, subscriptionId, paymentId, ...rest } = payment({ extra: [1] })
  const ids = { notificationID: notificationId, subscriptionID: subscriptionId, paymentID: Number(paymentId) }
  expect(parseNotification({ ...rest, ...ids })).toMatchObject({ ...parsedPayment, raw: { extra: [1] } })
})

test.each<[string, unknown]>([
  ['seconds as a number', 1796032800],
  ['seconds with a fraction', '1796032800.75'],
  ['milliseconds', '1796032800123'],
  ['an ISO time', '2026-11-30T16:00:00+06:00'],
])('a timestamp in %s is read', (_form, timestamp) => {
  expect(parseNotification(payment({ timestamp })).occurredAt).toEqual(new Date('2026-11-30T10:00:00Z'))
})

test.each([undefined, null, ''])('a subscription message may have the paymentId %j', (paymentId) => {
  expect(parseNotification(subscription({ paymentId })).paymentId).toBeNull()
})

describe('a message is refused with the name of the field', () => {
  test.each<[string, unknown[]]>([
    ['notificationId', [undefined, '  ']],
    ['type', ['']],
    ['status', [['SUCCEEDED_PAYMENT']]],
    ['subscriptionId', [null]],
    ['paymentId', ['', true]],
    [
      'timestamp',
      ['yesterday', '-5', '2026-11-30 10:00:00', '2026-11-30T10:00:00', '1e9', '99999999999999999999'],
    ],
  ])('%s: %j', (field, values) => {
    for (const value of values) expect(refused(payment({ [field]: value })), String(value)).toEqual([field])
  })

  test('all invalid fields are named at once', () => {
    expect(refused({})).toEqual(['notificationId', 'type', 'status', 'subscriptionId', 'timestamp'])
  })

  test('a form with a field twice is refused', () => {
    expect(refused(`${form}&notificationId=n-9`)).toEqual(['notificationId'])
  })

  test('fields of a prototype are not fields of the message, and a field __proto__ changes no prototype', () => {
    expect(refused(`{"__proto__":${json}}`)).toHaveLength(5)
    expect(refused(Object.create(payment()))).toHaveLength(5)
    const { raw } = parseNotification(`${form}&__proto__=x`)
    expect([Object.hasOwn(raw, '__proto__'), Object.getPrototypeOf(raw)]).toEqual([true, Object.prototype])
  })

  test.each<[string, unknown]>([
    ['empty', ''],
    ['text that is not complete JSON', '{"notificationId": "n-1'],
    ['deeply nested', '['.repeat(50_000)],
    ['null', 'null'],
    ['other text', 'hello'],
    ['a list', [payment()]],
    ['a parsed null', null],
    ['bytes that are not UTF-8', Uint8Array.of(0x7b, 0xff, 0xfe)],
  ])('a body is refused: %s', (_, input) => {
    expect(refused(input)).toEqual(['body'])
  })

  test('the error has its operation and no text of the message', () => {
    const secret = 'sk-do-not-print'
    const attempt = () => parseNotification(`{"notificationId": "${secret}", broken`)
    const expected = { operation: 'notifications.parse', code: 'invalid_request' }
    expect(attempt).toThrow(expect.objectContaining(expected))
    expect(attempt).not.toThrow(secret)
  })
})
