import { SubscriptionsClient } from 'mandatekit'
import type { Mock } from 'mandatekit/mocks/core'
import { createMock } from 'mandatekit/mocks/core'
import { describe, expect, test } from 'vitest'
import { startServer } from '../support/mock-server.ts'
import { ask } from './asking.ts'

/** A server, and a client that lives on the machine's time, as one in another process does. */
const withClient = async (clock: 'system' | Date = new Date('2027-01-01T06:00:00Z')) => {
  const mock = createMock({ clock })
  const { url } = await startServer({ mock })
  const client = new SubscriptionsClient({
    baseUrl: url,
    credentials: mock.clientOptions.subscriptions.credentials,
    rateLimit: 'throw',
  })
  const logins = () => mock.requests.of('subscriptions.login').length
  return { mock, url, client, logins }
}

const request = (mock: Mock) => ({
  requestID: 'order-1',
  start: new Date(mock.clock.now()).toISOString().slice(0, 10),
  end: new Date(mock.clock.now() + 400 * 86_400_000).toISOString().slice(0, 10),
  cycle: 'WEEKLY' as const,
  amount: '25.00',
  userReturnURL: 'https://shop.example/return',
})

describe('a token that a client outside of the process holds', () => {
  test.each([
    ['a clock that stands still', new Date('2027-01-01T06:00:00Z')],
    ['a clock that follows the machine', 'system'],
  ] as const)('outlives moves of the panel, on %s', async (_name, clock) => {
    const { mock, url, client, logins } = await withClient(clock)
    const { invoiceID } = await client.subscribe(request(mock))
    for (let count = 0; count < 10; count += 1) {
      expect(await ask(url, 'advance', { days: '3' })).toMatchObject({ ok: true })
      await client.status(invoiceID)
    }
    for (const time of ['2031-01-01T00:00:00Z', '2027-06-01T00:00:00Z']) {
      expect(await ask(url, 'set-clock', { time })).toMatchObject({ ok: true })
      await client.status(invoiceID)
    }
    expect(logins()).toBe(1)
  })

  test('holds while a move is under way, and so does one that is issued then', async () => {
    const { mock, url, client, logins } = await withClient()
    const { invoiceID } = await client.subscribe(request(mock))
    let calls = 0
    mock.notifications.connect(async () => {
      calls += 1
      if (calls === 3) await client.login()
      await client.status(invoiceID)
      return new Response()
    })
    await ask(url, 'authorize', { invoiceId: invoiceID })
    await ask(url, 'advance', { days: '60' })
    expect(calls).toBe(10)
    await client.status(invoiceID)
    expect(logins()).toBe(2)
  })

  test('runs out by the panel’s button, and the client renews it', async () => {
    const { mock, url, client, logins } = await withClient()
    const { invoiceID } = await client.subscribe(request(mock))
    await ask(url, 'advance', { days: '60' })
    await ask(url, 'expire-tokens')
    await client.status(invoiceID)
    expect(logins()).toBe(2)
  })

  test('runs out when the process of the mock moves the clock by itself, which the log says in the mock’s time', async () => {
    const { mock, url, client, logins } = await withClient()
    const { invoiceID } = await client.subscribe(request(mock))
    await ask(url, 'advance', { days: '60' })
    await mock.clock.advance({ minutes: 59 })
    await client.status(invoiceID)
    expect(logins()).toBe(1)
    await mock.clock.advance({ minutes: 1 })
    await client.status(invoiceID)
    expect(logins()).toBe(2)
    expect(mock.requests.of('subscriptions.status').at(-2)?.explanation).toContain('2027-03-02T07:00:00.000Z')
  })

  test('is as old after going back to a snapshot as it was then', async () => {
    const { mock, url, client, logins } = await withClient()
    const { invoiceID } = await client.subscribe(request(mock))
    await ask(url, 'advance', { days: '60' })
    const snapshot = mock.snapshot()
    await ask(url, 'advance', { days: '60' })
    mock.restore(snapshot)
    await client.status(invoiceID)
    expect(logins()).toBe(1)
    await mock.clock.advance({ hours: 1 })
    await client.status(invoiceID)
    expect(logins()).toBe(2)
  })

  test('of the options keeps its end in the mock’s time, wherever the panel has moved the clock before', async () => {
    const { mock, url } = await withClient()
    await ask(url, 'advance', { days: '60' })
    mock.add({
      tokens: [
        { accessToken: 'short-lived-token', expiresAt: new Date(mock.clock.now() + 60_000).toISOString() },
      ],
    })
    const call = async () => {
      const headers = { authorization: 'Bearer short-lived-token' }
      return (await fetch(`${url}/api/v1.0/subscription/none`, { method: 'POST', headers })).status
    }
    expect(await call()).toBe(404)
    await mock.clock.advance({ minutes: 1 })
    expect(await call()).toBe(401)
  })
})

test('the page says of a clock that stands still what waits for it, and of a running one nothing', async () => {
  const still = await withClient()
  expect(await (await fetch(`${still.url}/_mock`)).text()).toMatch(/stands still.*lockouts/s)
  expect(await (await fetch(`${still.url}/_mock/state`)).json()).toMatchObject({ clockStandsStill: true })
  const running = await withClient('system')
  expect(await (await fetch(`${running.url}/_mock`)).text()).not.toContain('stands still')
  expect(await (await fetch(`${running.url}/_mock/state`)).json()).toMatchObject({ clockStandsStill: false })
})
