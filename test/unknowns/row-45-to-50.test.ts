import { expect } from 'vitest'
import type { NotifyOptions } from '../../mocks/options.ts'
import { createNotificationHandler, hmacVerifier } from '../../src/notifications/index.ts'
import type { OpenMock } from '../mock/open.ts'
import { type Open, S, test, testCases } from './set-up.ts'

/** A mock with one receiver that responds with `status`, and the requests that it receives. */
const withReceiver = async (open: Open, options: Omit<NotifyOptions, 'to'> = {}, status = 204) => {
  const received: Request[] = []
  const to = (request: Request) => {
    received.push(request)
    return new Response(null, { status })
  }
  return { ...(await open({ subscriptions: { notify: [{ to, ...options }] } })), received }
}

test('row 45: notifications stay in the outbox, or go to receivers as a POST of JSON', async (open) => {
  const quiet = await open()
  await quiet.subscription()
  expect(quiet.mock.notifications.all()).toHaveLength(1)
  expect(quiet.mock.notifications.deliveries()).toEqual([])

  const { mock, subscription, received } = await withReceiver(open)
  await subscription()
  await mock.notifications.flush()
  expect(received).toMatchObject([{ method: 'POST' }])
  expect([...(received[0]?.headers ?? [])]).toEqual([['content-type', 'application/json']])
})

test('row 46: notifications are unsigned unless signing is configured, and the verifier accepts only the signed ones', async (open) => {
  const form = { header: 'x-sign', prefix: 'sha256=' }
  const seen: string[] = []
  const handler = createNotificationHandler({
    verify: hmacVerifier({ ...form, secrets: 'shared-secret' }),
    onSubscription: ({ status }) => seen.push(status),
    onPayment: () => undefined,
  })
  for (const [options, status] of [
    [{}, 401],
    [{ signing: { ...form, secret: 'another' } }, 401],
    // Last, because the mocks use the same ids, and a known id is answered before its signature is verified.
    [{ signing: { ...form, secret: 'shared-secret' } }, 200],
  ] as const) {
    const { mock, subscription } = await open({ subscriptions: { notify: [{ to: handler, ...options }] } })
    await subscription()
    await mock.notifications.flush()
    expect(mock.notifications.deliveries().map((delivery) => delivery.status)).toEqual([status])
  }
  expect(seen).toEqual(['SUCCEEDED'])
})

test('row 47: a failed delivery is retried only when configured, then six times on the mock’s clock', async (open) => {
  for (const [retries, times] of [
    [false, ['06:00']],
    [true, ['06:00', '06:01', '06:06', '06:36', '08:36', '14:36']],
  ] as const) {
    const { mock, subscription, received } = await withReceiver(open, { retries }, 503)
    await subscription({ start: '2026-12-20' })
    await mock.clock.advance({ days: 1 })
    expect(mock.notifications.deliveries().map(({ at }) => at.toISOString().slice(11, 16))).toEqual(times)
    expect(new Set(await Promise.all(received.map((request) => request.text()))).size).toBe(1)
  }
})

test('row 48: an authorization, a processed cancellation and each payment send a notification, and nothing else does', async (open) => {
  const { mock, subscribe, subscription, s } = await open(S({ cancelDelay: { hours: 1 } }))
  mock.payer.decline((await subscribe()).json.invoiceID)
  const { subscriptionId } = await subscription({ cycle: 'DAILY' }, ['fail'])
  await mock.clock.advance({ days: 1 })
  await s(`/api/v1.0/subscription/${subscriptionId}/cancel`)
  const told = () => mock.notifications.all().map(({ type, status, paymentId }) => [type, status, paymentId])
  const before = [
    ['SUBSCRIPTION', 'SUCCEEDED', ''],
    ['SUBSCRIPTION_PAYMENT', 'FAILED_PAYMENT', String(mock.state.payments()[0]?.paymentId)],
  ]
  expect(told()).toEqual(before)
  await mock.clock.advance({ hours: 1 })
  expect(told()).toEqual([...before, ['SUBSCRIPTION', 'CANCELLED', '']])
})

test('row 49: the path prefix is an option, for mock and clients alike', async (open) => {
  const options = { subscriptions: { apiPrefix: '/api/v2' }, gateway: { apiPrefix: '' } }
  const { mock, subscriptions, gateway, s, g } = await open(options)
  expect((await s('/api/v2/subscription/x')).status).toBe(404)
  expect(mock.requests.all().at(-1)?.operation).toBe('subscriptions.details')
  await s('/api/v1.0/subscription/x')
  expect(mock.requests.all().at(-1)?.operation).toBeUndefined()
  expect((await subscriptions.login()).token_type).toBe('Bearer')
  expect((await g('/reference', { method: 'GET' })).status).toBe(200)
  expect(await gateway.reference()).toBeDefined()
  expect(await gateway.health()).toEqual({ ok: true, status: 200 })
})

const fieldsOf = async ({ login, subscriptions }: OpenMock) => {
  const { access_token: _token, refresh_token: _refresh, ...fields } = (await login()).json
  return [(await subscriptions.login()).token_type, fields]
}
const token = { token_type: 'Bearer', expires_in: 3600 }

testCases('row 50: a token response carries errorCode and errorMessage, or omits them', [
  [{}, fieldsOf, ['Bearer', { ...token, errorCode: '00', errorMessage: expect.any(String) }]],
  [S({ tokenEnvelope: false }), fieldsOf, ['Bearer', token]],
])
