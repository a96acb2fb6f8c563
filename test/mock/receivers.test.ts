import { describe, expect, test, vi } from 'vitest'
import { internalsOf } from '../../mocks/assemble.ts'
import type { NotifyOptions } from '../../mocks/core.ts'
import { daily, MINUTE, setUp } from './receiver.ts'

describe('a receiver of notifications', () => {
  test.concurrent.each<[string, (mock: ReturnType<typeof daily>) => Promise<void>]>([
    ['clock.advance', (mock) => mock.clock.advance({ hours: 1 })],
    ['clock.set', (mock) => mock.clock.set('2026-12-01T23:00:00Z')],
    ['notifications.flush', (mock) => mock.notifications.flush()],
  ])(
    'that waits for %s, which waits for its response, is recorded with what to do',
    async (_action, call) => {
      const mock = daily()
      mock.notifications.connect(async () => {
        await Promise.resolve()
        await call(mock)
        return new Response()
      })
      await mock.clock.advance({ days: 1 })
      expect(mock.notifications.deliveries()).toMatchObject([
        {
          delivered: false,
          error: expect.stringMatching(/within 4 s.*clock, or flushes, must respond first/),
        },
      ])
      await mock.clock.advance({ hours: 1 })
      expect(mock.clock.now()).toBe(Date.parse('2026-12-02T07:00:00Z'))
    },
  )

  test.concurrent('that exceeded the time limit twice while the clock stood still is called again', async () => {
    const mock = daily()
    let calls = 0
    const receive = () => {
      calls += 1
      return calls <= 2 ? new Promise<never>(() => undefined) : new Response()
    }
    mock.notifications.connect(receive, { concurrency: 2 })
    const send = () => mock.notifications.send({ type: 'SUBSCRIPTION', status: 'CANCELLED' })
    send()
    const { notificationId } = send()
    await mock.notifications.flush()
    mock.notifications.resend(notificationId)
    await mock.notifications.flush()
    const delivered = mock.notifications.deliveries().map((delivery) => delivery.delivered)
    expect([calls, delivered]).toEqual([3, [false, false, true]])
  })

  test.concurrent('that does not respond stops a move that waits for it, and not the next one', async () => {
    const mock = daily()
    mock.notifications.connect(() => new Promise<never>(() => undefined))
    const move = mock.clock.advance({ days: 1 })
    await expect(mock.clock.advance({ days: 1 })).rejects.toThrow(/not moved.*did not respond in time.*flush/)
    await move
    await mock.clock.advance({ hours: 1 })
    expect(mock.clock.now()).toBe(Date.parse('2026-12-02T07:00:00Z'))
  })

  test.concurrent('case 125: that never responds costs a move of a month two waits, and each delivery says why it failed', async () => {
    const mock = daily()
    let calls = 0
    mock.notifications.connect(() => {
      calls += 1
      return new Promise<never>(() => undefined)
    })
    await mock.clock.advance({ days: 31 })
    const errors = mock.notifications.deliveries().map(({ error }) => error)
    expect(calls).toBe(2)
    expect(errors).toEqual([
      ...Array(2).fill(expect.stringMatching(/did not respond within 4 s/)),
      ...Array(29).fill(expect.stringMatching(/^Not sent: .*did not respond in time to 2/)),
    ])
    const next = mock.clock.advance({ days: 1 })
    await vi.waitFor(() => expect(calls).toBe(3))
    mock.reset()
    await next
  })

  test.concurrent('may sleep on the mock’s clock longer than it may take otherwise', async () => {
    const mock = daily({ sleep: 'wait' })
    mock.notifications.connect(async () => {
      await mock.clock.sleep(60 * MINUTE)
      return new Response()
    })
    await mock.clock.advance({ days: 1 })
    await new Promise((resolve) => setTimeout(resolve, 4_200))
    await mock.clock.advance({ hours: 2 })
    expect(mock.notifications.deliveries().map(({ delivered }) => delivered)).toEqual([true])
  })

  test('may move another mock’s clock, and its own mock’s once it has answered', async () => {
    const mock = daily()
    const other = daily()
    let later: Promise<void> | undefined
    mock.notifications.connect(async () => {
      await other.clock.advance({ hours: 1 })
      const answered = mock.notifications.deliveries().length + 1
      later ??= vi
        .waitFor(() => expect(mock.notifications.deliveries()).toHaveLength(answered))
        .then(() => mock.clock.advance({ hours: 1 }))
      return new Response()
    })
    await mock.clock.advance({ hours: 12 })
    await later
    expect(mock.notifications.deliveries().map(({ delivered }) => delivered)).toEqual([true])
    expect(mock.clock.now()).toBe(Date.parse('2026-12-01T19:00:00Z'))
    expect(other.clock.now()).toBe(Date.parse('2026-12-01T07:00:00Z'))
  })

  test.each<[string, () => unknown, RegExp]>([
    ['returns nothing', () => undefined, /returned no Response/],
    ['returns what is no Response', () => ({ ok: true }), /returned no Response/],
    [
      'cannot reach a server of its own',
      () => Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })),
      /^fetch failed: connect ECONNREFUSED$/,
    ],
  ])('that %s is recorded with the reason', async (_case, receive, reason) => {
    const mock = daily()
    mock.notifications.connect(receive as () => Promise<Response>)
    await mock.clock.advance({ days: 1 })
    expect(mock.notifications.deliveries()).toMatchObject([
      { delivered: false, error: expect.stringMatching(reason) },
    ])
  })

  test.each([
    'http://user:pa55@127.0.0.1:9/hook',
    'https://pa55@shop.example',
    new URL('http://:pa55@localhost/hook'),
  ])('at %s is refused, and the error names headers, but no credentials', (to) => {
    for (const connect of [() => daily().notifications.connect(to), () => daily({}, [{ to }])]) {
      expect(connect).toThrow(TypeError)
      expect(connect).toThrow(/^(?!.*pa55).*pass credentials as headers/)
    }
  })

  test.each<[NotifyOptions['signing'], RegExp]>([
    [{ secret: 's', header: 'X Signature' }, /signing must be an object with valid header names/],
    [{ secret: 's', header: 'Content-Length' }, /signing must be an object with valid header names/],
    [{ secret: 's', prefix: 'é' }, /signing\.x-signature must be text that a header can carry/],
  ])('with a signature that no request can carry is refused: %j', (signing, message) => {
    const to = () => new Response()
    expect(() => daily().notifications.connect(to, { signing })).toThrow(message)
    expect(() => daily({}, [{ to, signing }])).toThrow(message)
  })

  const quoting = 'Failed to parse "http://a.example/?key=pa55": see HTTPS://b.example?pa55'
  test.each<[string, NotifyOptions['to'], RegExp]>([
    ['is a URL that fetch refuses', 'http://127.0.0.1:9/hook?key=pa55', /./],
    ['is a URL that nobody serves', 'http://127.0.0.1:1/?key=pa55', /./],
    ['quotes URLs', () => Promise.reject(new TypeError(quoting)), /^Failed to parse "\[URL\]": see \[URL\]$/],
  ])('that %s is recorded without a query', async (_case, to, error) => {
    const mock = daily({}, [{ to }])
    await mock.clock.advance({ days: 1 })
    expect(mock.notifications.deliveries()).toMatchObject([{ error: expect.stringMatching(error) }])
    expect(JSON.stringify(mock.notifications.deliveries())).not.toContain('pa55')
  })

  test('that never answers holds nothing up after a reset, and what becomes of it is not recorded', async () => {
    const waiting: ((answer: Response) => void)[] = []
    const to = () => new Promise<Response>((resolve) => waiting.push(resolve))
    const mock = daily({}, [{ to, retries: true }])
    void mock.clock.advance({ days: 1 })
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    mock.reset()
    waiting[0]?.(new Response(null, { status: 500 }))
    await mock.clock.advance({ hours: 5 })
    expect([mock.notifications.deliveries(), waiting.length]).toEqual([[], 1])
    const moved = mock.clock.advance({ hours: 2 })
    await vi.waitFor(() => expect(waiting).toHaveLength(2))
    waiting[1]?.(new Response())
    await moved
    expect(mock.notifications.deliveries().map(({ attempt, delivered }) => [attempt, delivered])).toEqual([
      [1, true],
    ])
  })

  test('hears after a restore what it had still to hear at the snapshot, held or under way', async () => {
    for (const shuffle of [true, false]) {
      const { mock, received } = setUp({ shuffle })
      mock.payer.authorize('invoice')
      const snapshot = structuredClone(mock.snapshot())
      await mock.notifications.flush()
      expect(received).toHaveLength(1)
      mock.restore(snapshot)
      await mock.notifications.flush()
      expect(received).toHaveLength(2)
      expect(received[1]?.text).toBe(received[0]?.text)
      expect(mock.notifications.deliveries()).toHaveLength(1)
    }
  })

  test('gets a delivery again that a stop aborted, and only the second attempt is recorded', async () => {
    const mock = daily()
    const waiting: ((response: Response) => void)[] = []
    mock.notifications.connect(() => new Promise((resolve) => waiting.push(resolve)))
    mock.notifications.send({ type: 'SUBSCRIPTION', status: 'CANCELLED' })
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    const { outbox } = internalsOf(mock)
    outbox.stop()
    outbox.resume()
    await vi.waitFor(() => expect(waiting).toHaveLength(2))
    waiting[1]?.(new Response())
    await mock.notifications.flush()
    expect(mock.notifications.deliveries()).toMatchObject([{ attempt: 1, delivered: true, status: 200 }])
  })
})
