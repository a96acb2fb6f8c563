import { describe, expect, test, vi } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { cancel, kinds, MINUTE, NOON, setUp } from './receiver.ts'

describe('notifications out', () => {
  test('what happens is told in time order, each at its own time, and advance resolves when it is delivered', async () => {
    const { mock, received } = setUp()
    mock.payer.authorize('invoice', { payments: ['succeed', 'fail'] })
    await mock.clock.advance({ days: 2 })
    await cancel(mock)
    await mock.notifications.flush()
    await mock.clock.advance({ days: 10 })
    expect(kinds(received)).toEqual([
      'SUBSCRIPTION/SUCCEEDED',
      'SUBSCRIPTION_PAYMENT/SUCCEEDED_PAYMENT',
      'SUBSCRIPTION_PAYMENT/FAILED_PAYMENT',
      'SUBSCRIPTION/CANCELLED',
    ])
    for (const { body, at } of received) {
      expect(Object.keys(body)).toEqual([
        'notificationId',
        'type',
        'status',
        'subscriptionId',
        'paymentId',
        'timestamp',
      ])
      expect(Object.values(body).every((value) => typeof value === 'string')).toBe(true)
      expect(Number(body.timestamp) * 1_000).toBe(at)
      expect(body.paymentId === '').toBe(body.type === 'SUBSCRIPTION')
      expect(body.subscriptionId).toBe('sub')
    }
    expect(received[1]?.at).toBe(Date.parse(NOON))
    expect(mock.notifications.all()).toEqual(received.map(({ body }) => body))
    expect(new Set(received.map(({ body }) => body.notificationId)).size).toBe(4)
  })

  test('a delivery is a POST of JSON', async () => {
    const { mock, received } = setUp({ headers: { 'X-Shop': '1' } })
    mock.payer.authorize('invoice')
    await mock.notifications.flush()
    const request = received[0]?.request
    expect([request?.method, request?.headers.get('content-type'), request?.headers.get('x-shop')]).toEqual([
      'POST',
      'application/json',
      '1',
    ])
  })

  test('without a receiver messages stay in the outbox, which is bounded', async () => {
    const { mock, disconnect, received } = setUp()
    disconnect()
    mock.payer.authorize('invoice')
    await mock.clock.advance({ days: 3 })
    expect([received.length, mock.notifications.all().length]).toEqual([0, 4])
    const small = createMock({
      clock: '2026-12-01T06:00:00Z',
      logSize: 2,
      subscriptions: {
        existing: [{ request: { start: '2026-12-01', end: '2026-12-09', cycle: 'DAILY', amount: '5' } }],
      },
    })
    await small.clock.advance({ days: 5 })
    expect(small.notifications.all().map(({ paymentId }) => paymentId)).toEqual(
      small.state
        .payments()
        .slice(-2)
        .map(({ paymentId }) => String(paymentId)),
    )
    expect(small.notifications.dropped).toBe(3)
  })

  test('what is not answered 2xx is told again, six times in all, later and later on the mock’s clock', async () => {
    const { mock, received, answers } = setUp({ retries: true })
    // The sixth answer is for the payment of noon.
    answers.push(500, new Error('down'), 302, 404, 503, 200, 500)
    mock.payer.authorize('invoice')
    await mock.clock.advance({ hours: 5, minutes: 59 })
    const start = Date.parse('2026-12-01T06:00:00Z')
    expect(received.map(({ at }) => (at - start) / MINUTE)).toEqual([0, 1, 6, 36, 156])
    await mock.clock.advance({ hours: 6 })
    const tries = mock.notifications
      .deliveries()
      .filter(({ notificationId }) => notificationId === received[0]?.body.notificationId)
    expect(
      tries.map(({ attempt, status, error, delivered }) => [attempt, status ?? error, delivered]),
    ).toEqual([
      [1, 500, false],
      [2, 'down', false],
      [3, 302, false],
      [4, 404, false],
      [5, 503, false],
      [6, 500, false],
    ])
    await mock.clock.advance({ days: 3 })
    expect(received.filter(({ body }) => body.type === 'SUBSCRIPTION')).toHaveLength(6)
  })

  test('one’s own waits are kept, the last one repeats, and a success ends the tries', async () => {
    const { mock, received, answers } = setUp({
      retries: { tries: 9, waits: [{ seconds: 10 }, { seconds: 20 }] },
    })
    answers.push(500, 500, 500)
    mock.payer.authorize('invoice')
    await mock.clock.advance({ hours: 1 })
    const start = Date.parse('2026-12-01T06:00:00Z')
    expect(received.map(({ at }) => (at - start) / 1_000)).toEqual([0, 10, 30, 50])
  })

  test('redeliveries and later events come in time order', async () => {
    const { mock, received, answers } = setUp({ retries: { tries: 2, waits: [{ hours: 8 }] } })
    answers.push(500)
    mock.payer.authorize('invoice')
    await mock.clock.advance({ days: 1 })
    expect(kinds(received)).toEqual([
      'SUBSCRIPTION/SUCCEEDED',
      'SUBSCRIPTION_PAYMENT/SUCCEEDED_PAYMENT',
      'SUBSCRIPTION/SUCCEEDED',
    ])
    expect(received.map(({ at }) => at)).toEqual(received.map(({ at }) => at).toSorted((a, b) => a - b))
  })

  test('without retries a failed delivery is recorded and not repeated', async () => {
    const { mock, received, answers } = setUp()
    answers.push(500)
    mock.payer.authorize('invoice')
    await mock.clock.advance({ hours: 1 })
    expect(received).toHaveLength(1)
    expect(mock.notifications.deliveries()).toMatchObject([{ attempt: 1, delivered: false, status: 500 }])
  })

  test('a receiver that calls the mock, or sleeps on its clock, does not stop the clock', async () => {
    const mock = createMock({
      clock: '2026-12-01T06:00:00Z',
      subscriptions: {
        existing: [{ request: { start: '2026-12-01', end: '2026-12-09', cycle: 'DAILY', amount: '5' } }],
      },
    })
    const done: number[] = []
    mock.notifications.connect(async () => {
      await mock.fetch(`${mock.clientOptions.gateway.baseUrl}/health`)
      await mock.clock.sleep(5_000)
      done.push(mock.clock.now())
      return new Response()
    })
    await mock.clock.advance({ days: 2 })
    await vi.waitFor(() => expect(done).toHaveLength(2))
    expect(done[0]).toBe(Date.parse(NOON) + 5_000)
    expect(mock.notifications.deliveries().every(({ delivered }) => delivered)).toBe(true)
  })

  test('disconnected, nothing more is delivered; a reset forgets what was under way and keeps the receiver', async () => {
    const { mock, received, answers, disconnect } = setUp({ retries: true })
    answers.push(500)
    mock.payer.authorize('invoice')
    await mock.notifications.flush()
    mock.reset()
    expect([mock.notifications.all(), mock.notifications.deliveries()]).toEqual([[], []])
    await mock.clock.advance({ hours: 2 })
    expect(received).toHaveLength(1)
    mock.payer.authorize('invoice')
    await mock.notifications.flush()
    expect(received).toHaveLength(2)
    disconnect()
    await mock.clock.advance({ days: 2 })
    expect(received).toHaveLength(2)
  })

  test('a snapshot holds redeliveries that are planned', async () => {
    const { mock, received, answers } = setUp({ retries: { tries: 2, waits: [{ minutes: 5 }] } })
    answers.push(500, 500)
    mock.payer.authorize('invoice')
    await mock.notifications.flush()
    const snapshot = mock.snapshot()
    await mock.clock.advance({ minutes: 6 })
    mock.restore(snapshot)
    await mock.clock.advance({ minutes: 6 })
    expect(received.map(({ at }) => (at - Date.parse('2026-12-01T06:00:00Z')) / MINUTE)).toEqual([0, 5, 5])
  })
})
