import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { DeliveryOptions } from '../../mocks/core.ts'
import { createMock } from '../../mocks/core.ts'
import { cancel, MINUTE, setUp } from './receiver.ts'

describe('how notifications are delivered', () => {
  test('duplicates: always, or as likely as is said', async () => {
    const always = setUp({ duplicate: true })
    always.mock.payer.authorize('invoice')
    await always.mock.notifications.flush()
    expect(always.received.map(({ body }) => body.notificationId)).toEqual([
      always.received[0]?.body.notificationId,
      always.received[0]?.body.notificationId,
    ])
    const sometimes = setUp({ duplicate: 0.2 })
    sometimes.mock.payer.authorize('invoice')
    await sometimes.mock.clock.advance({ days: 300 })
    expect(sometimes.mock.notifications.all()).toHaveLength(301)
    expect(sometimes.received.length - 301).toBeGreaterThan(30)
    expect(sometimes.received.length - 301).toBeLessThan(95)
  })

  test('shuffle holds messages until flush or the end of a move, then delivers in another order, same under the seed', async () => {
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
  ] as const)('a cancellation spelled %s', async (spelling, form) => {
    const { mock, received } = setUp({ spelling })
    mock.payer.authorize('invoice')
    await cancel(mock)
    await mock.notifications.flush()
    expect(received.at(-1)?.body.status).toMatch(form)
    expect(mock.notifications.all().at(-1)?.status).toBe('CANCELLED')
  })

  test('a delay runs on the mock’s clock', async () => {
    const { mock, received } = setUp({ delay: [{ minutes: 10 }, { minutes: 20 }] })
    mock.payer.authorize('invoice')
    await mock.clock.advance({ minutes: 9, seconds: 59 })
    expect(received).toEqual([])
    await mock.clock.advance({ minutes: 11 })
    expect(received).toHaveLength(1)
    const lateness = (received[0]?.at ?? 0) - Date.parse('2026-12-01T06:00:00Z')
    expect(lateness).toBeGreaterThanOrEqual(10 * MINUTE)
    expect(lateness).toBeLessThanOrEqual(20 * MINUTE)
  })

  test('a signature is the HMAC-SHA256 of the raw body', async () => {
    const { mock, received } = setUp({ signing: { secret: 'whsec', header: 'X-Sign', prefix: 'sha256=' } })
    mock.payer.authorize('invoice')
    await mock.notifications.flush()
    const expected = createHmac('sha256', 'whsec')
      .update(received[0]?.text ?? '')
      .digest('hex')
    expect(received[0]?.request.headers.get('x-sign')).toBe(`sha256=${expected}`)
  })

  test('goes to an address over the network, as a form by PUT too', async () => {
    const seen: string[] = []
    const receiver = createServer((incoming, outgoing) => {
      let text = ''
      incoming.on('data', (data) => {
        text += data
      })
      incoming.on('end', () => {
        seen.push(`${incoming.method} ${incoming.headers['content-type']} ${text}`)
        outgoing.writeHead(204).end()
      })
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => receiver.once('listening', resolve))
    const address = receiver.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const mock = createMock({
      clock: '2026-12-01T06:00:00Z',
      subscriptions: {
        existing: [{ request: { start: '2026-12-01', end: '2026-12-09', cycle: 'DAILY', amount: '5' } }],
        notify: [{ to: `http://127.0.0.1:${port}/hook`, method: 'PUT', format: 'form' }],
      },
    })
    await mock.clock.advance({ days: 1 })
    expect(seen).toEqual([
      expect.stringMatching(
        /^PUT application\/x-www-form-urlencoded notificationId=\w+&type=SUBSCRIPTION_PAYMENT&/,
      ),
    ])
    expect(mock.notifications.deliveries()).toMatchObject([{ delivered: true, status: 204 }])
    await new Promise((resolve) => receiver.close(resolve))
    await mock.clock.advance({ days: 1 })
    expect(mock.notifications.deliveries().at(-1)).toMatchObject({
      delivered: false,
      error: expect.any(String),
    })
  })

  test('deliveries run one after the other, or as many at once as is said', async () => {
    const most = async (concurrency: number) => {
      const mock = createMock({ clock: '2026-12-01T06:00:00Z' })
      let [now, top] = [0, 0]
      mock.notifications.connect(
        async () => {
          now += 1
          top = Math.max(top, now)
          for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
          now -= 1
          return new Response()
        },
        { concurrency, shuffle: true },
      )
      mock.add({
        subscriptions: [{ request: { start: '2026-12-01', end: '2027-12-01', cycle: 'DAILY', amount: '5' } }],
      })
      await mock.clock.advance({ days: 20 })
      expect(mock.notifications.deliveries()).toHaveLength(20)
      return top
    }
    expect([await most(1), await most(4)]).toEqual([1, 4])
  })

  test.each<[unknown, RegExp]>([
    [{ shufle: true }, /options\.shufle does not exist; there are duplicate, shuffle/],
    [null, /options must be an object/],
    [{ duplicate: 2 }, /duplicate/],
    [{ duplicate: 'yes' }, /duplicate/],
    [{ shuffle: 'no' }, /shuffle/],
    [{ spelling: 'CANCELLD' }, /spelling/],
    [{ retries: 0 }, /retries/],
    [{ retries: 'always' }, /retries/],
    [{ retries: { tries: 2, waits: [] } }, /waits/],
    [{ retries: { tries: 2, waits: [-1] } }, /waits\[0\]/],
    [{ retries: { tries: 2, wait: [1] } }, /retries\.wait does not exist/],
    [{ delay: [1, 2, 3] }, /delay/],
    [{ delay: [{ minutes: 2 }, { minutes: 1 }] }, /delay/],
    [{ delay: { minuets: 2 } }, /minuets/],
    [{ concurrency: 0 }, /concurrency/],
    [{ signing: { secret: '' } }, /secret/],
    [{ signing: { secret: 's', algorithm: 'sha512' } }, /signing\.algorithm/],
    [{ signing: { secret: 's', encoding: 'utf8' } }, /signing\.encoding/],
    [{ format: 'xml' }, /format/],
    [{ method: 'GET' }, /method/],
    [{ headers: { 'x bad': '1' } }, /headers/],
    [{ headers: { 'x-good': 1 } }, /headers/],
  ])('options that cannot be are refused: %o', (options, words) => {
    expect(() =>
      createMock().notifications.connect(() => new Response(), options as DeliveryOptions),
    ).toThrow(words)
    expect(() => createMock().notifications.connect('ftp://a')).toThrow(/handler or an http/)
  })
})
