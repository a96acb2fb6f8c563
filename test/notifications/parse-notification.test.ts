import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { InvalidRequestError } from '../../src/errors.ts'
import { parseNotification } from '../../src/notifications/index.ts'
import { delivery, parsedPayment, payment, subscription } from '../support/messages.ts'

const form = (fields: Record<string, unknown>): URLSearchParams =>
  new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]))

const formData = (fields: Record<string, unknown>): FormData => {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.set(name, String(value))
  return data
}

const bytes = (value: unknown): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(value))

/** What a script makes of the message in a vm context, as test runners have: of classes that are not this realm's. */
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

describe('every form of one message is read as the same notification', () => {
  const urlEncoded = 'application/x-www-form-urlencoded'
  test.each<[string, () => unknown]>([
    ['JSON text', () => parseNotification(JSON.stringify(payment()))],
    [
      'JSON text with a byte order mark and spaces',
      () => parseNotification(`\uFEFF \n${JSON.stringify(payment())}\r\n`),
    ],
    ['URL-encoded text', () => parseNotification(form(payment()).toString())],
    ['bytes', () => parseNotification(bytes(payment()))],
    ['a Buffer', () => parseNotification(Buffer.from(JSON.stringify(payment())))],
    [
      'a piece of a larger Buffer',
      () => parseNotification(Buffer.from(`[[${JSON.stringify(payment())}]]`).subarray(2, -2)),
    ],
    [
      'bytes of another realm, as test runners have',
      () => parseNotification(otherRealm('Uint8Array.from(bytes)')),
    ],
    ['an object of another realm', () => parseNotification(otherRealm('JSON.parse(text)'))],
    ['an ArrayBuffer', () => parseNotification(bytes(payment()).buffer)],
    ['a parsed object', () => parseNotification(payment())],
    ['URLSearchParams', () => parseNotification(form(payment()))],
    ['FormData', () => parseNotification(formData(payment()))],
    ['a request with JSON', () => parseNotification(delivery(payment()))],
    [
      'a request with a form',
      () => parseNotification(delivery(form(payment()).toString(), { 'content-type': urlEncoded })),
    ],
    ['a request with a form labeled JSON', () => parseNotification(delivery(form(payment()).toString()))],
    [
      'a request with JSON labeled as a form',
      () => parseNotification(delivery(payment(), { 'content-type': urlEncoded })),
    ],
    [
      'a request with a multipart form',
      () =>
        parseNotification(new Request('https://shop.example/', { method: 'PUT', body: formData(payment()) })),
    ],
  ])('%s', async (_form, parse) => {
    expect(await parse()).toEqual(parsedPayment)
  })
})

test('UTF-8 is read in every alphabet, with and without a byte order mark', async () => {
  const text = JSON.stringify(payment({ notificationId: 'é-টাকা-1' }))
  for (const body of [Buffer.from(text), Buffer.from(`\uFEFF${text}`)]) {
    expect(parseNotification(body)).toMatchObject({ notificationId: 'é-টাকা-1' })
    const request = delivery(body, { 'content-type': 'application/json; charset=utf-8' })
    await expect(parseNotification(request)).resolves.toMatchObject({ notificationId: 'é-টাকা-1' })
  }
})

test('large numbers as identifiers stay apart: no two messages become one', async () => {
  const text = (id: string) => JSON.stringify(payment()).replace('"n-1"', id).replace('"42"', id)
  for (const id of ['12345678901234567890', '12345678901234567891']) {
    expect(parseNotification(text(id))).toMatchObject({ notificationId: id, paymentId: id })
    expect(await parseNotification(delivery(text(id)))).toMatchObject({ notificationId: id })
  }
})

test.each(['notificationId', 'subscriptionId', 'paymentId'])(
  'a %s that a body parser has rounded is refused with what to change, rather than taken for another',
  (field) => {
    const message = JSON.parse(`{"id":12345678901234567890}`)
    expect(issuesOf(() => parseNotification(payment({ [field]: message.id })))).toEqual([
      expect.objectContaining({ field }),
    ])
  },
)

test('type and status are known in any case and with spaces around them', () => {
  expect(
    parseNotification(payment({ type: ' subscription_payment', status: 'Failed_Payment\n' })),
  ).toMatchObject({ type: 'SUBSCRIPTION_PAYMENT', status: 'FAILED_PAYMENT' })
  for (const status of ['canceled', 'Cancelled', ' CANCELED ']) {
    expect(parseNotification(subscription({ type: 'subscription', status }))).toMatchObject({
      type: 'SUBSCRIPTION',
      status: 'CANCELLED',
      raw: { status },
    })
  }
})

test('CANCELED and CANCELLED are one value, and raw keeps what was received', () => {
  const one = parseNotification(subscription({ status: 'CANCELED' }))
  const two = parseNotification(subscription({ status: 'CANCELLED' }))
  expect(one.status).toBe('CANCELLED')
  expect(two.status).toBe('CANCELLED')
  expect(one.raw.status).toBe('CANCELED')
  expect(one).toMatchObject({ type: 'SUBSCRIPTION', paymentId: null })
})

test.each([
  [
    'the type',
    payment({ type: 'REFUND' }),
    { receivedType: 'REFUND', status: 'SUCCEEDED_PAYMENT', paymentId: '42' },
  ],
  [
    'the status of a subscription',
    subscription({ status: 'EXPIRED' }),
    { receivedType: 'SUBSCRIPTION', status: 'EXPIRED', paymentId: null },
  ],
  [
    'the status of a payment',
    payment({ status: 'REVERSED' }),
    { receivedType: 'SUBSCRIPTION_PAYMENT', status: 'REVERSED', paymentId: '42' },
  ],
  [
    'a status of the other type',
    subscription({ status: 'FAILED_PAYMENT' }),
    { receivedType: 'SUBSCRIPTION', status: 'FAILED_PAYMENT' },
  ],
])('when %s is not known the message is UNKNOWN and says what was received', (_what, message, facts) => {
  expect(parseNotification(message)).toMatchObject({ type: 'UNKNOWN', ...facts })
})

test('names in the other casing, numbers for text and additional fields are read', () => {
  const { notificationId, subscriptionId, paymentId, ...rest } = payment({
    timestamp: 1796032800,
    extra: [1],
  })
  const notification = parseNotification({
    ...rest,
    notificationID: notificationId,
    subscriptionID: subscriptionId,
    paymentID: Number(paymentId),
  })
  expect(notification).toMatchObject({ ...parsedPayment, raw: { extra: [1] } })
})

test.each<[string, unknown]>([
  ['seconds as a number', 1796032800],
  ['seconds with a fraction', '1796032800.75'],
  ['milliseconds', '1796032800123'],
  ['an ISO time', '2026-11-30T16:00:00+06:00'],
])('a timestamp of %s is the same instant', (_form, timestamp) => {
  expect(parseNotification(payment({ timestamp })).occurredAt).toEqual(new Date('2026-11-30T10:00:00Z'))
})

test('a subscription message may lack its paymentId or have null there', () => {
  for (const paymentId of [undefined, null, '']) {
    expect(parseNotification(subscription({ paymentId })).paymentId).toBeNull()
  }
})

describe('a message that breaks a rule is refused by the name of the field', () => {
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

  test('all faults are named at once', () => {
    const issues = issuesOf(() => parseNotification({}))
    expect(issues?.map(({ field }) => field)).toEqual([
      'notificationId',
      'type',
      'status',
      'subscriptionId',
      'timestamp',
    ])
  })

  test('a field that a form gives twice is refused', () => {
    const twice = `${form(payment())}&notificationId=n-9`
    expect(issuesOf(() => parseNotification(twice))).toMatchObject([{ field: 'notificationId' }])
  })

  test('fields hidden in a prototype of the message are none of its own', () => {
    const hidden = `{"__proto__":${JSON.stringify(payment())}}`
    expect(issuesOf(() => parseNotification(hidden))).toHaveLength(5)
    expect(issuesOf(() => parseNotification(Object.create(payment())))).toHaveLength(5)
  })

  test.each<[string, unknown]>([
    ['empty', ''],
    ['text that is not complete JSON', '{"notificationId": "n-1'],
    ['deeply nested', '['.repeat(50_000)],
    ['an empty list', '[]'],
    ['a whole number', '7'],
    ['null', 'null'],
    ['other text', 'hello'],
    ['a list', [payment()]],
    ['a parsed null', null],
    ['bytes that are not UTF-8', Uint8Array.of(0x7b, 0xff, 0xfe)],
  ])('the body is %s', (_, input) => {
    expect(issuesOf(() => parseNotification(input as string))).toMatchObject([{ field: 'body' }])
  })

  test('the error keeps its operation and nothing of the message', () => {
    const secret = 'sk-do-not-print'
    const attempt = () => parseNotification(`{"notificationId": "${secret}", broken`)
    expect(attempt).toThrow(
      expect.objectContaining({ operation: 'notifications.parse', code: 'invalid_request' }),
    )
    expect(attempt).not.toThrow(secret)
  })
})

test('a field named __proto__ stays a field and changes no prototype', () => {
  const notification = parseNotification(`${form(payment())}&__proto__=x`)
  expect(Object.hasOwn(notification.raw, '__proto__')).toBe(true)
  expect(Object.getPrototypeOf(notification.raw)).toBe(Object.prototype)
})
