import { expect, test } from 'vitest'
import type { NotifyOptions } from '../../mocks/options.ts'
import { createNotificationHandler, hmacVerifier, parseNotification } from '../../src/notifications/index.ts'
import { OK } from '../support/bodies.ts'
import { answered, open } from './set-up.ts'

interface Received {
  readonly method: string
  readonly type: string | null
  readonly body: string
  readonly signature: string | null
}

/** A mock with one receiver, and what it received; it answers 503 as often as told. */
const withReceiver = (options: Omit<NotifyOptions, 'to'> = {}, failures = 0) => {
  const received: Received[] = []
  const to = async (request: Request) => {
    received.push({
      method: request.method,
      type: request.headers.get('content-type'),
      body: await request.text(),
      signature: request.headers.get('x-signature'),
    })
    return new Response(null, { status: received.length <= failures ? 503 : 204 })
  }
  return { ...open({ subscriptions: { notify: [{ to, ...options }] } }), received }
}

test('row 45: notifications wait in the outbox, go to receivers as POST of JSON, and are read in every form', async () => {
  const quiet = open()
  await quiet.subscription()
  expect(quiet.mock.notifications.all()).toHaveLength(1)
  expect(quiet.mock.notifications.deliveries()).toEqual([])

  const { mock, subscription, received } = withReceiver()
  await subscription()
  await mock.notifications.flush()
  expect(received).toMatchObject([{ method: 'POST', type: 'application/json', signature: null }])
  const other = withReceiver({ method: 'PUT', format: 'form' })
  await other.subscription()
  await other.mock.notifications.flush()
  expect(other.received).toMatchObject([{ method: 'PUT', type: 'application/x-www-form-urlencoded' }])

  const [message] = mock.notifications.all()
  const [json = '', form = ''] = [received[0]?.body, other.received[0]?.body]
  for (const input of [
    json,
    form,
    new TextEncoder().encode(json),
    JSON.parse(json),
    new URLSearchParams(form),
  ]) {
    expect(parseNotification(input)).toMatchObject({
      type: 'SUBSCRIPTION',
      status: 'SUCCEEDED',
      paymentId: null,
    })
  }
  const utf8 = JSON.stringify({ ...message, subscriptionId: 'é' })
  const headers = { 'content-type': 'application/json; charset=iso-8859-1' }
  const request = new Request('https://shop.example/', { method: 'POST', headers, body: utf8 })
  expect((await parseNotification(request)).subscriptionId).toBe('é')
})

test('row 46: messages are not signed unless told, and a verifier takes the signed and refuses the others', async () => {
  const signing = { secret: 'shared-secret' }
  const seen: string[] = []
  const handler = createNotificationHandler({
    verify: hmacVerifier({ header: 'x-signature', secrets: 'shared-secret' }),
    onSubscription: ({ status }) => seen.push(status),
    onPayment: () => undefined,
  })
  for (const [options, status] of [
    [{ signing }, 200],
    [{}, 401],
    [{ signing: { secret: 'another' } }, 401],
  ] as const) {
    const { mock, subscription } = open({ subscriptions: { notify: [{ to: handler, ...options }] } })
    await subscription()
    await mock.notifications.flush()
    expect(mock.notifications.deliveries().map((delivery) => delivery.status)).toEqual([status])
  }
  expect(seen).toEqual(['SUCCEEDED'])
})

test('row 47: a failed delivery is not repeated unless told, then six times on the mock’s clock', async () => {
  const once = withReceiver({}, 99)
  await once.subscription({ start: '2026-12-20' })
  await once.mock.clock.advance({ hours: 10 })
  expect(once.received).toHaveLength(1)

  const stubborn = withReceiver({ retries: true }, 99)
  await stubborn.subscription({ start: '2026-12-20' })
  await stubborn.mock.clock.advance({ days: 1 })
  expect(stubborn.mock.notifications.deliveries().map(({ at }) => at.toISOString().slice(11, 16))).toEqual([
    '06:00',
    '06:01',
    '06:06',
    '06:36',
    '08:36',
    '14:36',
  ])
  expect(new Set(stubborn.received.map(({ body }) => body)).size).toBe(1)

  const handled: string[] = []
  const handler = createNotificationHandler({
    verify: 'none',
    onSubscription: ({ status }) => handled.push(status),
    onPayment: ({ paymentId }) => handled.push(paymentId),
  })
  const notify = [{ to: handler, duplicate: true, shuffle: true }]
  const { mock, subscription } = open({ subscriptions: { notify } })
  await subscription({ cycle: 'DAILY' })
  await mock.clock.advance({ days: 3 })
  const payments = mock.state.payments().map(({ paymentId }) => String(paymentId))
  expect(mock.notifications.deliveries()).toHaveLength(8)
  expect(handled.sort()).toEqual([...payments, 'SUCCEEDED'])
})

test('row 48: an authorization, a processed cancellation and each payment are told, and nothing else', async () => {
  const { mock, subscribe, subscription, s } = open({ subscriptions: { cancelDelay: { hours: 1 } } })
  const { invoiceID } = (await subscribe()).json
  mock.payer.decline(invoiceID)
  expect(mock.notifications.all()).toEqual([])
  const { subscriptionId } = await subscription({ cycle: 'DAILY' }, ['succeed', 'fail'])
  await mock.clock.advance({ days: 2 })
  await s(`/api/v1.0/subscription/${subscriptionId}/cancel`)
  const told = () => mock.notifications.all().map(({ type, status, paymentId }) => [type, status, paymentId])
  const [first, second] = mock.state.payments()
  const before = [
    ['SUBSCRIPTION', 'SUCCEEDED', ''],
    ['SUBSCRIPTION_PAYMENT', 'SUCCEEDED_PAYMENT', String(first?.paymentId)],
    ['SUBSCRIPTION_PAYMENT', 'FAILED_PAYMENT', String(second?.paymentId)],
  ]
  expect(told()).toEqual(before)
  await mock.clock.advance({ hours: 1 })
  expect(told()).toEqual([...before, ['SUBSCRIPTION', 'CANCELLED', '']])
  const [message] = mock.notifications.all()
  expect(parseNotification({ ...message, status: 'EXPIRED' })).toMatchObject({
    type: 'UNKNOWN',
    status: 'EXPIRED',
  })
})

test('row 49: the prefix of the paths can be another, for mock and clients alike', async () => {
  const options = { subscriptions: { apiPrefix: '/api/v2' }, gateway: { apiPrefix: '' } }
  const { mock, subscriptions, gateway, s, g } = open(options)
  expect((await s('/api/v2/subscription/x')).status).toBe(404)
  expect(mock.requests.all().at(-1)?.operation).toBe('subscriptions.details')
  await s('/api/v1.0/subscription/x')
  expect(mock.requests.all().at(-1)?.operation).toBeUndefined()
  expect((await subscriptions.login()).token_type).toBe('Bearer')
  expect((await g('/reference', { method: 'GET' })).status).toBe(200)
  expect(await gateway.reference()).toBeDefined()
  expect(await gateway.health()).toEqual({ ok: true, status: 200 })
})

test('row 50: a token’s answer carries errorCode and errorMessage, or does not, and clients take both', async () => {
  expect((await open().login()).json).toMatchObject({ errorCode: '00', errorMessage: expect.any(String) })
  const { login, subscriptions } = open({ subscriptions: { tokenEnvelope: false } })
  expect(Object.keys((await login()).json).sort()).toEqual([
    'access_token',
    'expires_in',
    'refresh_token',
    'token_type',
  ])
  expect((await subscriptions.login()).token_type).toBe('Bearer')
  const enveloped = answered({}, {}, { body: { access_token: 'access', expires_in: 60, ...OK } })
  expect((await enveloped.subscriptions.login()).access_token).toBe('access')
})
