import { describe, expect, test } from 'vitest'
import { type Fault, MockRefusedError } from '../../mocks/core.ts'
import { MOCK_CHARGE, ORDER, openMock } from '../support/mock-clients.ts'
import { setUp } from './receiver.ts'

describe('a fault with `when` applies only to', () => {
  const OTHER = '+99900000002'

  /** A mock with two charges and two subscription requests, and calls about the first or the second of them. */
  const open = async () => {
    const { mock, gateway, subscriptions } = openMock({ gateway: { rateLimit: false } })
    const pay = (msisdn: string = MOCK_CHARGE.msisdn, idempotencyKey?: string) =>
      gateway.charge({ ...MOCK_CHARGE, msisdn }, idempotencyKey === undefined ? {} : { idempotencyKey })
    const charges = [await pay(), await pay(OTHER)]
    const requests = [
      await subscriptions.subscribe(ORDER),
      await subscriptions.subscribe({ ...ORDER, requestID: 'order-2' }),
    ]
    const subscriptionIds = mock.state.subscriptions().map(({ subscriptionId }) => subscriptionId)
    const calls = {
      'gateway.charge': (at: number) => pay([MOCK_CHARGE.msisdn, OTHER][at], `key-${at}`),
      'gateway.status': (at: number) => gateway.status(charges[at]?.id ?? ''),
      'gateway.confirm': (at: number) => gateway.confirm(charges[at]?.confirmation_id ?? '', { otp: '0' }),
      'gateway.renew': (at: number) =>
        gateway.renew(charges[at]?.id ?? '', { idempotencyKey: `renewal-${at}` }),
      'subscriptions.subscribe': (at: number) =>
        subscriptions.subscribe({ ...ORDER, requestID: `order-${at + 1}` }),
      'subscriptions.status': (at: number) => subscriptions.status(requests[at]?.invoiceID ?? ''),
      'subscriptions.details': (at: number) => subscriptions.details(subscriptionIds[at] ?? ''),
    }
    return { mock, calls, id: charges[1]?.id ?? '' }
  }

  test.each<[string, keyof Awaited<ReturnType<typeof open>>['calls'], (id: string) => Fault['when']]>([
    ['a charge of a number', 'gateway.charge', () => ({ msisdn: OTHER })],
    ['a charge of a number without its plus', 'gateway.charge', () => ({ msisdn: OTHER.slice(1) })],
    ['a charge with a key', 'gateway.charge', () => ({ idempotencyKey: 'key-1' })],
    ['a charge that a function accepts', 'gateway.charge', () => (call) => call.fields.msisdn === OTHER],
    ['a read of a charge of a number', 'gateway.status', () => ({ msisdn: OTHER })],
    ['a read of one charge', 'gateway.status', (id) => ({ id })],
    ['a confirmation of a number', 'gateway.confirm', () => ({ msisdn: OTHER, otp: 0 })],
    ['a renewal of a number', 'gateway.renew', () => ({ msisdn: OTHER })],
    ['a subscription of an order', 'subscriptions.subscribe', () => ({ requestID: 'order-2' })],
    ['a status of an order', 'subscriptions.status', () => ({ requestID: 'order-2' })],
    ['details of an order', 'subscriptions.details', () => ({ requestID: 'order-2' })],
  ])('%s', async (_name, operation, when) => {
    const { mock, calls, id } = await open()
    const fault = { kind: 'status', status: 418, times: 'always', when: when(id) } as const
    for (const target of [operation, '*'] as const) mock.faults.add({ ...fault, operation: target })
    const faults = () => mock.requests.of(operation).map(({ fault: kind }) => kind)
    const before = faults().length
    for (const at of [0, 1]) await calls[operation](at).catch(() => undefined)
    expect(faults().slice(before)).toEqual([undefined, 'status'])
  })

  test('the next matching request, and counts no other', async () => {
    const { mock, calls } = await open()
    mock.faults.add({ operation: 'gateway.status', kind: 'status', status: 418, when: { msisdn: OTHER } })
    await calls['gateway.status'](0)
    await expect(calls['gateway.status'](1)).rejects.toThrow('418')
    await calls['gateway.status'](1)
  })
})

describe('notifications', () => {
  test('are sent again with the same identifier, and are recorded as deliveries', async () => {
    const options = { signing: { secret: 'shared' }, headers: { Authorization: 'private' } }
    const { mock, received, authorize } = setUp(options)
    await authorize()
    const [first] = mock.notifications.all()
    expect(mock.notifications.resend(first?.notificationId ?? '')).toEqual(first)
    await mock.notifications.flush()
    expect(received.map(({ body }) => body)).toEqual([first, first])
    expect(mock.notifications.all()).toHaveLength(1)
    expect(mock.notifications.deliveries()).toMatchObject([{ attempt: 1 }, { attempt: 1 }])
    const [delivery] = mock.notifications.deliveries()
    expect(JSON.parse(delivery?.body ?? '')).toEqual(first)
    expect(delivery?.headers).toEqual({
      Authorization: '[redacted]',
      'Content-Type': 'application/json',
      'x-signature': received[0]?.request.headers.get('x-signature'),
    })
    expect(() => mock.notifications.resend('none')).toThrow(MockRefusedError)
  })

  test('that no event caused are sent with defaults, or with every field of the test', async () => {
    const { mock, received } = setUp()
    const sent = mock.notifications.send({ type: 'SUBSCRIPTION', status: 'CANCELLED' })
    const ids = { notificationId: 'n', subscriptionId: 's', paymentId: 'p' }
    const own = { ...ids, type: 'REFUND', status: 'PAUSED', timestamp: 't' }
    mock.notifications.send(own)
    await mock.notifications.flush()
    expect(received.map(({ body }) => body)).toEqual([sent, own])
    expect(sent).toMatchObject({ paymentId: '', timestamp: String(mock.clock.now() / 1_000) })
    expect(sent.notificationId).not.toBe('')
    expect(() => mock.notifications.send({ type: 'SUBSCRIPTION' } as never)).toThrow(
      /notifications\.send: Missing status: /,
    )
    expect(() => mock.notifications.send({ ...own, extra: 1 } as never)).toThrow(/extra/)
  })
})

describe('payer.cancel', () => {
  test.each(['invoice', 'sub'])('cancels the subscription %s, once, and notifies', async (id) => {
    const { mock, kinds, authorize } = setUp()
    await authorize()
    expect(mock.payer.cancel(id)).toMatchObject({ active: false, cancelledAt: mock.clock.now() })
    await mock.clock.advance({ days: 3 })
    expect([kinds(), mock.state.payments()]).toEqual([
      ['SUBSCRIPTION/SUCCEEDED', 'SUBSCRIPTION/CANCELLED'],
      [],
    ])
    expect(() => mock.payer.cancel(id)).toThrow(/payer\.cancel: .*CANCELLED/)
    expect(() => mock.payer.cancel('none')).toThrow(/not issued/)
  })
})
