import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { InvalidRequestError } from '../../src/errors.ts'
import { parseNotification } from '../../src/notifications/index.ts'
import { delivery, parsedPayment, payment, subscription } from '../support/messages.ts'

const formOf = (fields: Record<string, unknown>): URLSearchParams =>
  new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]))

const formData = (fields: Record<string, unknown>): FormData => {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.set(name, String(value))
  return data
}

const bytes = (value: unknown): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(value))

/** The message as a script creates it in another realm, such as those of test runners. */
const otherRealm = (script: string): object =>
  runInNewContext(script, { text: JSON.stringify(payment()), bytes: [...bytes(payment())] })

const issuesOf = (act: () => unknown) => {
  try {
    act()
  } catch (error) {
    if (error instanceof InvalidRequestError) return error.issues
    throw error
  }
  return undefined
}

describe('case 39: the same notification is read from', () => {
  const multipart = new Request('https://shop.example/', { method: 'PUT', body: formData(payment()) })
  const form = formOf(payment()).toString()
  const json = JSON.stringify(payment())
  const isForm = { 'content-type': 'application/x-www-form-urlencoded' }
  test.each<[string, () => unknown]>([
    ['JSON text', () => parseNotification(json)],
    ['JSON text with a byte order mark and spaces', () => parseNotification(`\uFEFF \n${json}\r\n`)],
    ['URL-encoded text', () => parseNotification(form)],
    ['bytes', () => parseNotification(bytes(payment()))],
    ['a Buffer with a byte order mark', () => parseNotification(Buffer.from(`\uFEFF${json}`))],
    ['a part of a Buffer', () => parseNotification(Buffer.from(`[[${json}]]`).subarray(2, -2))],
    ['bytes of another realm', () => parseNotification(otherRealm('Uint8Array.from(bytes)'))],
    ['an object of another realm', () => parseNotification(otherRealm('JSON.parse(text)'))],
    ['an ArrayBuffer', () => parseNotification(bytes(payment()).buffer)],
    ['a parsed object', () => parseNotification(payment())],
    ['URLSearchParams', () => parseNotification(formOf(payment()))],
    ['FormData', () => parseNotification(formData(payment()))],
    ['a request with JSON', () => parseNotification(delivery(payment()))],
    ['a request with a form', () => parseNotification(delivery(form, isForm))],
    ['a request with a form labeled JSON', () => parseNotification(delivery(form))],
    ['a request with JSON labeled as a form', () => parseNotification(delivery(payment(), isForm))],
    ['a request with a multipart form', () => parseNotification(multipart)],
  ])('%s', async (_, parse) => {
    expect(await parse()).toEqual(parsedPayment)
  })
})

test('large numbers as identifiers keep every digit', async () => {
  const text = (id: string) => JSON.stringify(payment()).replace('"n-1"', id).replace('"42"', id)
  for (const id of ['12345678901234567890', '12345678901234567891']) {
    expect(parseNotification(text(id))).toMatchObject({ notificationId: id, paymentId: id })
    expect(await parseNotification(delivery(text(id)))).toMatchObject({ notificationId: id })
  }
})

test.each(['notificationId', 'subscriptionId', 'paymentId'])(
  'a %s that a body parser has rounded is refused',
  (field) => {
    const message = JSON.parse(`{"id":12345678901234567890}`)
    expect(issuesOf(() => parseNotification(payment({ [field]: message.id })))).toEqual([
      expect.objectContaining({ field }),
    ])
  },
)

test('case 38: type and status are read in any case and spelling, and raw keeps the original', () => {
  const failed = payment({ type: ' subscription_payment', status: 'Failed_Payment\n' })
  expect(parseNotification(failed)).toMatchObject({ type: 'SUBSCRIPTION_PAYMENT', status: 'FAILED_PAYMENT' })
  for (const status of ['canceled', 'Cancelled', ' CANCELED ', 'CANCELED', 'CANCELLED']) {
    expect(parseNotification(subscription({ type: 'subscription', status }))).toMatchObject({
      type: 'SUBSCRIPTION',
      status: 'CANCELLED',
      paymentId: null,
      raw: { status },
    })
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

test('a subscription message may lack its paymentId', () => {
  for (const paymentId of [undefined, null, '']) {
    expect(parseNotification(subscription({ paymentId })).paymentId).toBeNull()
  }
})

describe('a message is refused with the name of the field', () => {
  test.each<[string, Record<string, unknown>]>([
    ['notificationId', { notificationId: undefined }],
    ['notificationId', { notificationId: '  ' }],
    ['type', { type: '' }],
    ['status', { status: ['SUCCEEDED_PAYMENT'] }],
    ['subscriptionId', { subscriptionId: null }],
    ['paymentId', { paymentId: '' }],
    ['paymentId', { paymentId: true }],
    ['timestamp', { timestamp: 'yesterday' }],
    ['timestamp', { timestamp: '-5' }],
    ['timestamp', { timestamp: '2026-11-30 10:00:00' }],
    ['timestamp', { timestamp: '1e9' }],
    ['timestamp', { timestamp: '99999999999999999999' }],
  ])('%s: %o', (field, changes) => {
    expect(issuesOf(() => parseNotification(payment(changes)))?.map((issue) => issue.field)).toEqual([field])
  })

  test('all invalid fields are named at once', () => {
    const issues = issuesOf(() => parseNotification({}))
    const fields = ['notificationId', 'type', 'status', 'subscriptionId', 'timestamp']
    expect(issues?.map(({ field }) => field)).toEqual(fields)
  })

  test('a form with a field twice is refused', () => {
    const twice = `${formOf(payment())}&notificationId=n-9`
    expect(issuesOf(() => parseNotification(twice))).toMatchObject([{ field: 'notificationId' }])
  })

  test('fields of a prototype are not fields of the message, and a field __proto__ changes no prototype', () => {
    const hidden = `{"__proto__":${JSON.stringify(payment())}}`
    expect(issuesOf(() => parseNotification(hidden))).toHaveLength(5)
    expect(issuesOf(() => parseNotification(Object.create(payment())))).toHaveLength(5)
    const { raw } = parseNotification(`${formOf(payment())}&__proto__=x`)
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
    expect(issuesOf(() => parseNotification(input as string))).toMatchObject([{ field: 'body' }])
  })

  test('the error has its operation and no text of the message', () => {
    const secret = 'sk-do-not-print'
    const attempt = () => parseNotification(`{"notificationId": "${secret}", broken`)
    expect(attempt).toThrow(
      expect.objectContaining({ operation: 'notifications.parse', code: 'invalid_request' }),
    )
    expect(attempt).not.toThrow(secret)
  })
})
