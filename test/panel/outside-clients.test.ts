import { SubscriptionsClient } from 'mandatekit'
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
  })
  const dateIn = (days: number) => new Date(mock.clock.now() + days * 86_400_000).toISOString().slice(0, 10)
  const { invoiceID } = await client.subscribe({ ...SUBSCRIPTION, start: dateIn(1), end: dateIn(400) })
  return {
    mock,
    client,
    invoiceID,
    url,
    call: () => client.status(invoiceID),
    act: (action: string, fields?: Record<string, string>) => ask(url, action, fields),
    logins: () => mock.requests.of('subscriptions.login').length,
  }
}

describe('a token of a client in another process', () => {
  test.each([
    ['a frozen clock, which the panel explains', FROZEN, true],
    ['a clock that follows the machine', 'system', false],
  ] as const)('does not expire by a move in the panel, on %s', async (_name, clock, isFrozen) => {
    const { url, call, act, logins } = await subscribed(clock)
    expect(/frozen.*lockouts/s.test(await (await fetch(`${url}/_mock`)).text())).toBe(isFrozen)
    expect(await stateOf(url)).toMatchObject({ isFrozen: isFrozen })
    for (let count = 0; count < 10; count += 1) {
      expect(await act('advance', { days: '3' })).toMatchObject({ ok: true })
      await call()
    }
    for (const time of ['2031-01-01T00:00:00Z', '2027-06-01T00:00:00Z']) {
      expect(await act('set-clock', { time })).toMatchObject({ ok: true })
      await call()
    }
    expect(logins()).toBe(1)
  })

  test('stays valid during a move, and so does one that is issued then', async () => {
    const { mock, client, invoiceID, call, act, logins } = await subscribed()
    let calls = 0
    mock.notifications.connect(async () => {
      calls += 1
      if (calls === 3) await client.login()
      await call()
      return new Response()
    })
    await act('authorize', { invoiceId: invoiceID })
    await act('advance', { days: '60' })
    expect(calls).toBe(10)
    await call()
    expect(logins()).toBe(2)
  })

  test('expires by the panel’s buttons, and the client renews it or logs in', async () => {
    const { mock, call, act } = await subscribed()
    await act('advance', { days: '60' })
    await act('expire-tokens')
    await call()
    await act('revoke-tokens')
    await call()
    const logins = mock.requests.of('subscriptions.login')
    expect(logins.map(({ body, status }) => [Object(body).grant_type, status])).toEqual([
      ['password', 200],
      ['refresh_token', 200],
      ['refresh_token', 401],
      ['password', 200],
    ])
  })

  test('expires by a move of the mock’s own process, and the log has the mock’s time', async () => {
    const { mock, call, act, logins } = await subscribed()
    await act('advance', { days: '60' })
    await mock.clock.advance({ minutes: 59 })
    await call()
    expect(logins()).toBe(1)
    await mock.clock.advance({ minutes: 1 })
    await call()
    expect(logins()).toBe(2)
    expect(mock.requests.of('subscriptions.status').at(-2)?.explanation).toContain('2027-03-02T07:00:00.000Z')
  })

  test('has the age of the snapshot after restoring it', async () => {
    const { mock, call, act, logins } = await subscribed()
    await act('advance', { days: '60' })
    const snapshot = mock.snapshot()
    await act('advance', { days: '60' })
    mock.restore(snapshot)
    await call()
    expect(logins()).toBe(1)
    await mock.clock.advance({ hours: 1 })
    await call()
    expect(logins()).toBe(2)
  })

  test('stays expired when the panel sets the clock back', async () => {
    const { mock, call, act, logins } = await subscribed()
    await act('expire-tokens')
    await act('set-clock', { time: '2026-12-31T06:00:00Z' })
    await call()
    expect(mock.requests.of('subscriptions.status').map(({ status }) => status)).toEqual([401, 401, 200])
    await mock.clock.advance({ hours: 2 })
    await act('set-clock', { time: '2026-12-31T06:30:00Z' })
    await call()
    expect(logins()).toBe(3)
  })

  test('that is issued after a move in the panel has its usual lifetime', async () => {
    const { mock, client, call, act, logins } = await subscribed()
    await act('advance', { days: '10' })
    await mock.clock.set(FROZEN)
    await client.login()
    await mock.clock.advance({ hours: 1 })
    await call()
    expect(logins()).toBe(3)
  })

  test.each<[string, Date, RegExp, (mock: Mock) => void]>([
    [
      'would pass the last Date',
      new Date(8.64e15 - 40 * 86_400_000),
      /beyond the last Date/,
      () => undefined,
    ],
    [
      'waits for a receiver that does not respond',
      FROZEN,
      /not moved/,
      ({ notifications }) => {
        notifications.connect(() => new Promise<never>(() => undefined))
        notifications.send({ type: 'SUBSCRIPTION', status: 'CANCELLED' })
      },
    ],
  ])('has its usual lifetime after a move that fails, because it %s', async (_, clock, reason, prepare) => {
    const mock = createMock({ clock })
    const { url } = await startServer({ mock })
    const expiresAt = mock.clock.now() + 60_000
    mock.add({ tokens: [{ accessToken: 'short-lived-token', expiresAt }] })
    prepare(mock)
    const failed = { ok: false, message: expect.stringMatching(reason) }
    expect(await ask(url, 'advance', { days: '60' })).toEqual(failed)
    await mock.clock.advance({ minutes: 1 })
    const headers = { authorization: 'Bearer short-lived-token' }
    expect((await fetch(`${url}/api/v1.0/subscription/none`, { method: 'POST', headers })).status).toBe(401)
  })

  test('that a test adds expires at its time, even after a move in the panel', async () => {
    const { mock, url, act } = await subscribed()
    await act('advance', { days: '60' })
    const expiresAt = new Date(mock.clock.now() + 60_000).toISOString()
    mock.add({ tokens: [{ accessToken: 'short-lived-token', expiresAt }] })
    const headers = { authorization: 'Bearer short-lived-token' }
    const status = async () =>
      (await fetch(`${url}/api/v1.0/subscription/none`, { method: 'POST', headers })).status
    expect(await status()).toBe(404)
    await mock.clock.advance({ minutes: 1 })
    expect(await status()).toBe(401)
  })
})
