import { describe, expect, test, vi } from 'vitest'
import { internalsOf } from '../../mocks/assemble.ts'
import { startServer } from '../support/scripted-server.ts'
import { daily, MINUTE, setUp } from './receiver.ts'

describe('notifications', () => {
  test('are delivered in time order, each at its own time, before advance resolves', async () => {
    const { mock, received, kinds, cancel } = setUp({ headers: { 'X-Shop': '1' } })
    mock.payer.authorize('invoice', { payments: ['succeed', 'fail'] })
    await mock.clock.advance({ days: 2 })
    await cancel()
    await mock.clock.advance({ days: 10 })
    const [text, payment] = [expect.any(String), 'SUBSCRIPTION_PAYMENT']
    expect(kinds()).toEqual([
      'SUBSCRIPTION/SUCCEEDED',
      ...[`${payment}/SUCCEEDED_PAYMENT`, `${payment}/FAILED_PAYMENT`],
      'SUBSCRIPTION/CANCELLED',
    ])
    for (const { body, at, request } of received) {
      const paymentId = body.type === payment ? expect.stringMatching(/./) : ''
      const known = { subscriptionId: 'sub', paymentId, timestamp: String(at / 1_000) }
      expect(body).toEqual({ notificationId: text, type: text, status: text, ...known })
      expect(request.headers.get('x-shop')).toBe('1')
    }
    expect(received[1]?.at).toBe(Date.parse('2026-12-01T12:00:00Z'))
    expect(mock.notifications.all()).toEqual(received.map(({ body }) => body))
    expect(new Set(received.map(({ body }) => body.notificationId)).size).toBe(4)
  })

  test.each(['advance', 'set'] as const)(
    'case 121: reach a receiver before the next payment, so that it can cancel in time (%s)',
    async (move) => {
      const { mock, received, cancel } = setUp()
      mock.payer.authorize('invoice', { payments: ['fail'] })
      mock.notifications.connect(async (request) => {
        if ((await request.json()).status === 'FAILED_PAYMENT') void cancel()
        return new Response()
      })
      if (move === 'advance') await mock.clock.advance({ days: 31 })
      else await mock.clock.set(mock.clock.now() + 31 * 24 * 60 * MINUTE)
      expect(mock.state.payments().map(({ status }) => status)).toEqual(['FAILED_PAYMENT'])
      expect(received.map(({ at, body }) => at - Number(body.timestamp) * 1_000)).toEqual([0, 0, 0])
    },
  )

  test('stay in the outbox, which keeps the newest', async () => {
    const small = daily({ logSize: 2 })
    await small.clock.advance({ days: 5 })
    const ids = small.state.payments().map(({ paymentId }) => String(paymentId))
    expect(small.notifications.all().map(({ paymentId }) => paymentId)).toEqual(ids.slice(-2))
    expect(small.notifications.dropped).toBe(3)
  })

  test('are retried on the mock’s clock after each response but 2xx, in time order with later ones', async () => {
    const { mock, received, answers, minutes } = setUp({ retries: true })
    // The sixth response is for the payment of noon.
    answers.push(500, new Error('down'), 302, 404, 503, 200, 500)
    mock.payer.authorize('invoice')
    await mock.clock.advance({ days: 4 })
    expect(minutes().slice(0, 7)).toEqual([0, 1, 6, 36, 156, 360, 516])
    const attempts = mock.notifications
      .deliveries()
      .filter(({ notificationId }) => notificationId === received[0]?.body.notificationId)
    const failed = attempts.map(({ attempt, status, error, delivered }) => [
      attempt,
      ...(delivered ? [] : [status ?? error]),
    ])
    expect(failed.flat()).toEqual([1, 500, 2, 'down', 3, 302, 4, 404, 5, 503, 6, 500])

    const own = setUp({ retries: { attempts: 9, delays: [{ seconds: 30 }, { minutes: 1 }] } })
    own.answers.push(500, 500, 500)
    await own.authorize()
    await own.mock.clock.advance({ hours: 1 })
    expect(own.minutes()).toEqual([0, 0.5, 1.5, 2.5])
  })

  test('a receiver that calls the mock, or sleeps on its clock, does not stop the clock', async () => {
    const mock = daily()
    const done: number[] = []
    mock.notifications.connect(async () => {
      await mock.fetch(`${mock.clientOptions.gateway.baseUrl}/health`)
      await mock.clock.sleep(5_000)
      done.push(mock.clock.now())
      return new Response()
    })
    await mock.clock.advance({ days: 2 })
    await vi.waitFor(() => expect(done).toHaveLength(2))
    expect(done[0]).toBe(Date.parse('2026-12-01T12:00:05Z'))
    expect(mock.notifications.deliveries().every(({ delivered }) => delivered)).toBe(true)
  })

  test('a reset drops retries and the receiver, and an old disconnect leaves a new receiver alone', async () => {
    const { mock, received, answers, disconnect, authorize } = setUp({ retries: true })
    answers.push(500)
    await authorize()
    mock.reset()
    expect([mock.notifications.all(), mock.notifications.deliveries()]).toEqual([[], []])
    const calls: Request[] = []
    const disconnectNew = mock.notifications.connect((request) => {
      calls.push(request)
      return new Response()
    })
    disconnect()
    await mock.clock.advance({ hours: 2 })
    expect([received.length, calls.length]).toEqual([1, 0])
    await authorize()
    expect([received.length, calls.length]).toEqual([1, 1])
    disconnectNew()
    await mock.clock.advance({ days: 2 })
    expect([received.length, calls.length]).toEqual([1, 1])
  })

  test('a restore after a reset brings no retry to a new receiver, and a disconnected receiver leaves no retry', async () => {
    const { mock, answers, authorize, disconnect } = setUp({ retries: true })
    const { clock } = internalsOf(mock)
    answers.push(500)
    const before = clock.untilNext()
    await authorize()
    const snapshot = mock.snapshot()
    expect(clock.untilNext()).toBe(MINUTE)
    disconnect()
    expect(clock.untilNext()).not.toBe(MINUTE)
    mock.reset()
    const receive = vi.fn(() => new Response())
    mock.notifications.connect(receive)
    mock.restore(snapshot)
    await mock.clock.advance({ minutes: 5 })
    expect([before, receive.mock.calls]).toEqual([undefined, []])
  })

  test('a snapshot holds the retries that are planned', async () => {
    const { mock, answers, authorize, minutes } = setUp({
      retries: { attempts: 2, delays: [{ minutes: 5 }] },
    })
    answers.push(500, 500)
    await authorize()
    const snapshot = mock.snapshot()
    await mock.clock.advance({ minutes: 6 })
    mock.restore(snapshot)
    await mock.clock.advance({ minutes: 6 })
    expect(minutes()).toEqual([0, 5, 5])
  })
})

describe('the options of a delivery', () => {
  test('duplicate delivers twice, always or with a probability', async () => {
    const always = setUp({ duplicate: true })
    await always.authorize()
    expect(always.received.map(({ text }) => text)).toEqual(Array(2).fill(always.received[0]?.text))
    const sometimes = setUp({ duplicate: 0.2 })
    sometimes.mock.payer.authorize('invoice')
    await sometimes.mock.clock.advance({ days: 300 })
    const duplicates = sometimes.received.length - sometimes.mock.notifications.all().length
    expect([duplicates > 30, duplicates < 95]).toEqual([true, true])
  })

  test('shuffle delivers at the end of a move in another order, which the seed decides', async () => {
    const run = async (seed: string) => {
      const { mock, received } = setUp({ shuffle: true }, seed)
      mock.payer.authorize('invoice')
      await Promise.resolve()
      expect(received).toEqual([])
      await mock.clock.advance({ days: 20 })
      return received.map(({ body }) => body.timestamp)
    }
    const first = await run('a')
    expect(first).toHaveLength(21)
    expect(first).not.toEqual(first.toSorted())
    expect(await run('a')).toEqual(first)
    expect(await run('b')).not.toEqual(first)
  })

  test.each([
    ['CANCELLED', /^CANCELLED$/],
    ['CANCELED', /^CANCELED$/],
    ['both', /^CANCELL?ED$/],
  ] as const)('spelling writes a cancellation as %s, and the outbox as CANCELLED', async (spelling, form) => {
    const { mock, received, authorize, cancel } = setUp({ spelling })
    await authorize()
    await cancel()
    expect(received.at(-1)?.body.status).toMatch(form)
    expect(mock.notifications.all().at(-1)?.status).toBe('CANCELLED')
  })

  test('headers replace the Content-Type in any letter case, and the signature replaces them', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8', 'X-SIGNATURE': 'mine' }
    const { received, authorize } = setUp({ headers, signing: { secret: 'key', prefix: 'sha256= ' } })
    await authorize()
    const sent = received[0]?.request.headers
    expect(sent?.get('content-type')).toBe(headers['content-type'])
    expect(sent?.get('x-signature')).toMatch(/^sha256= [0-9a-f]{64}$/)
  })

  test('delay delivers later on the mock’s clock', async () => {
    const { mock, received, minutes } = setUp({ delay: [{ minutes: 10 }, { minutes: 20 }] })
    mock.payer.authorize('invoice')
    await mock.clock.advance(10 * MINUTE - 1)
    expect(received).toEqual([])
    await mock.clock.advance(10 * MINUTE + 1)
    expect(minutes().map((minute) => minute >= 10 && minute <= 20)).toEqual([true])
  })

  test('a URL receives over the network, also a form by PUT, and a refused connection is recorded', async () => {
    const { url, requests } = await startServer([{ status: 204 }, { fault: 'close' }])
    const mock = daily()
    mock.notifications.connect(`${url}/hook`, { method: 'PUT', format: 'form' })
    await mock.clock.advance({ days: 2 })
    expect(requests[0]).toMatchObject({
      method: 'PUT',
      url: '/hook',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: expect.stringMatching(/^notificationId=\w+&type=SUBSCRIPTION_PAYMENT&/),
    })
    expect(mock.notifications.deliveries()).toMatchObject([
      { delivered: true, status: 204 },
      { delivered: false, error: expect.any(String) },
    ])
  })

  test.each([1, 4])('concurrency allows %i deliveries at once', async (concurrency) => {
    const mock = daily()
    let [now, most] = [0, 0]
    const receive = async () => {
      now += 1
      most = Math.max(most, now)
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
      now -= 1
      return new Response()
    }
    mock.notifications.connect(receive, { concurrency, shuffle: true })
    await mock.clock.advance({ days: 20 })
    expect([mock.notifications.deliveries().length, most]).toEqual([20, concurrency])
  })
})
