import { SubscriptionsClient, systemClock } from 'mandatekit'
import { createMock, type Mock } from 'mandatekit/mocks/core'
import { describe, expect, test } from 'vitest'
import { SUBSCRIPTION } from '../support/bodies.ts'
import { startServer } from '../support/mock-server.ts'
import { ask, stateOf } from './asking.ts'

const FROZEN = new Date('2027-01-01T06:00:00Z')

/** Starts a server and a client on the machine's time, as in another process. The client has a token. */
const subscribed = async (clock: 'system' | Date = FROZEN) => {
  const mock = createMock({ clock })
  const { url } = await startServer({ mock })
  const client = new SubscriptionsClient({
    baseUrl: url,
    credentials: mock.clientOptions.subscriptions.credentials,
    rateLimit: 'throw',
    refresh: 'refresh_token',
    // A client waits for a second before it believes that its new token is rejected.
    clock: { ...systemClock, sleep: async () => undefined },
  })
  const dateIn = (days: number) => new Date(mock.clock.now() + days * 86_400_000).toISOString().slice(0, 10)
  const { invoiceID } = await client.subscribe({ ...SUBSCRIPTION, start: dateIn(1), end: dateIn(400) })
  return {
    mock,
    client,
    invoiceID,
    url,
    call: () => client.status(invoiceID),
    logins: () => mock.requests.of('subscriptions.login').length,
  }
}
type Shop = Awaited<ReturnType<typeof subscribed>>
type Step = (shop: Shop) => Promise<unknown> | unknown

const act =
  (action: string, fields?: Record<string, string>): Step =>
  async ({ url }) =>
    expect(await ask(url, action, fields)).toMatchObject({ ok: true })
const pass =
  (hours: number): Step =>
  ({ mock }) =>
    mock.clock.advance({ hours })
const call: Step = (shop) => shop.call()
/** Does steps, and then restores the state before them. */
const undone =
  (...steps: Step[]): Step =>
  async (shop) => {
    const snapshot = shop.mock.snapshot()
    for (const step of steps) await step(shop)
    shop.mock.restore(snapshot)
  }
const expires = act('expire-tokens')
const days = (count: number) => act('advance', { days: String(count) })

describe('a token of a client in another process', () => {
  test.each([
    ['a frozen clock, which the panel explains', FROZEN, true],
    ['a clock that follows the machine', 'system', false],
  ] as const)('does not expire by a move in the panel, on %s', async (_name, clock, isFrozen) => {
    const shop = await subscribed(clock)
    expect(/frozen.*lockouts/s.test(await (await fetch(`${shop.url}/_mock`)).text())).toBe(isFrozen)
    expect(await stateOf(shop.url)).toMatchObject({ isFrozen })
    const moves = ['2031-01-01T00:00:00Z', '2027-06-01T00:00:00Z'].map((time) => act('set-clock', { time }))
    for (const move of [...Array.from({ length: 10 }, () => days(3)), ...moves]) {
      await move(shop)
      await shop.call()
    }
    expect(shop.logins()).toBe(1)
  })

  const setBack = act('set-clock', { time: '2026-12-31T06:00:00Z' })
  const login: Step = ({ client }) => client.login()
  const reset: Step = ({ mock }) => mock.clock.set(FROZEN)
  test.each<[string, steps: readonly Step[], calls: string, logins: string]>([
    ['expires by a button of the panel, and is renewed', [days(60), expires, call], '401 401 200', '200 200'],
    [
      'is revoked by a button, and the client logs in',
      [act('revoke-tokens'), call],
      '401 401 200',
      '200 401 200',
    ],
    ['stays valid for an hour of the mock’s own moves', [days(60), pass(59 / 60), call], '200', '200'],
    ['expires by a move of the mock’s own process', [days(60), pass(1), call], '401 401 200', '200 200'],
    [
      'keeps its age when a snapshot is restored',
      [days(60), undone(days(60)), pass(0.9), call],
      '200',
      '200',
    ],
    ['expires after a snapshot is restored', [undone(days(60)), pass(1), call], '401 401 200', '200 200'],
    ['stays expired when the panel sets the clock back', [expires, setBack, call], '401 401 200', '200 200'],
    ['stays expired after time and a step back', [pass(2), setBack, call], '401 401 200', '200 200'],
    [
      'has its usual lifetime after a move',
      [days(10), reset, login, pass(1), call],
      '401 401 200',
      '200 200 200',
    ],
  ])('%s', async (_, steps, calls, logins) => {
    const shop = await subscribed()
    for (const step of steps) await step(shop)
    const statusesOf = (operation: 'subscriptions.status' | 'subscriptions.login') =>
      shop.mock.requests.of(operation).map(({ status }) => status)
    expect(statusesOf('subscriptions.status').join(' ')).toBe(calls)
    expect(statusesOf('subscriptions.login').join(' ')).toBe(logins)
  })

  test('has its end in the log, in the mock’s time', async () => {
    const shop = await subscribed()
    for (const step of [days(60), pass(1), call]) await step(shop)
    const [refused] = shop.mock.requests.of('subscriptions.status')
    expect(refused?.explanation).toContain('2027-03-02T07:00:00.000Z')
  })

  test('stays valid during a move, and so does one that is issued then', async () => {
    const { url, mock, client, invoiceID, call, logins } = await subscribed()
    let calls = 0
    mock.notifications.connect(async () => {
      calls += 1
      if (calls === 3) await client.login()
      await call()
      return new Response()
    })
    await ask(url, 'authorize', { invoiceId: invoiceID })
    await ask(url, 'advance', { days: '60' })
    expect(calls).toBe(10)
    await call()
    expect(logins()).toBe(2)
  })

  const silent = ({ notifications }: Mock) => {
    notifications.connect(() => new Promise<never>(() => undefined))
    notifications.send({ type: 'SUBSCRIPTION', status: 'CANCELLED' })
  }
  test.each<[string, Date, RegExp?, prepare?: (mock: Mock) => void]>([
    ['a move in the panel', FROZEN],
    [
      'a move that fails, because it would pass the last Date',
      new Date(8.64e15 - 40 * 86_400_000),
      /last Date/,
    ],
    ['a move that fails, because a receiver does not respond', FROZEN, /not moved/, silent],
  ])('that a test adds has its usual lifetime after %s', async (_, clock, reason, prepare) => {
    const mock = createMock({ clock })
    const { url } = await startServer({ mock })
    const status = async () => {
      const headers = { authorization: 'Bearer short-lived-token' }
      return (await fetch(`${url}/api/v1.0/subscription/none`, { method: 'POST', headers })).status
    }
    const add = () => {
      const expiresAt = mock.clock.now() + 60_000
      mock.add({ tokens: [{ accessToken: 'short-lived-token', expiresAt }] })
    }
    if (reason !== undefined) add()
    prepare?.(mock)
    const { ok, message } = await ask(url, 'advance', { days: '60' })
    expect([ok, message]).toEqual([reason === undefined, expect.stringMatching(reason ?? /moved/)])
    if (reason === undefined) add()
    expect(await status()).toBe(404)
    await mock.clock.advance({ minutes: 1 })
    expect(await status()).toBe(401)
  })
})
