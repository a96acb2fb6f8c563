import { request as send } from 'undici'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createMock, type MockOptions, type NotifyOptions } from '../../mocks/core.ts'
import type { MockServerOptions } from '../../mocks/server.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { MOCK_CHARGE } from '../support/mock-clients.ts'
import { startServer } from '../support/mock-server.ts'
import { CHARGES, KEYS, ORDER } from './open.ts'

const START = '2026-12-01T06:00:00Z'
const HOUR = 3_600_000
const request = { start: '2026-12-01', end: '2027-12-01', cycle: 'DAILY', amount: '5' } as const
const subscribed = {
  existing: [{ request, subscriptionId: 'sub' }],
  tokens: [{ accessToken: 'known-token', expiresAt: '2099-01-01T00:00:00Z' }],
}
const bearer = { authorization: 'Bearer known-token' }

/** Fakes the machine's time and timers, for a mock on the system clock. */
const useMachineTime = () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: Date.parse(START) })
  onTestFinished(() => void vi.useRealTimers())
  return { pass: (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds) }
}

/** A receiver that responds with the given statuses, then with 200, and what it gets at which time. */
const createReceiver = (...statuses: number[]) => {
  const received: string[] = []
  const to = async (call: Request) => {
    const { status } = (await call.json()) as { status: string }
    received.push(`${new Date().toISOString().slice(11, 16)} ${status}`)
    return new Response(null, { status: statuses.shift() ?? 200 })
  }
  return { received, to }
}

test('case 81: a server on the system clock cancels, debits and retries on time without a request', async () => {
  const { pass } = useMachineTime()
  const { received, to } = createReceiver(500)
  const notify = [{ to, retries: true }]
  const mock = createMock({ subscriptions: { ...subscribed, cancelDelay: { hours: 8 }, notify } })
  const { url, close } = await startServer({ mock })
  await send(`${url}/api/v1.0/subscription/sub/cancel`, { method: 'POST', headers: bearer })
  await pass(9 * HOUR)
  expect(received).toEqual(['12:00 SUCCEEDED_PAYMENT', '12:01 SUCCEEDED_PAYMENT', '14:00 CANCELLED'])
  await close()
})

test('one timer waits for the next planned event, and none if nothing is planned or the server is closed', async () => {
  const { pass } = useMachineTime()
  const mock = createMock()
  const [one, other] = [await startServer({ mock }), await startServer({ mock })]
  expect(vi.getTimerCount()).toBe(0)
  mock.add({ subscriptions: [{ request }, { request }] })
  expect(vi.getTimerCount()).toBe(1)
  await one.close()
  await pass(30 * HOUR)
  expect([mock.notifications.all().length, vi.getTimerCount()]).toEqual([4, 1])
  mock.reset()
  await pass(30 * HOUR)
  expect([mock.notifications.all().length, vi.getTimerCount()]).toEqual([0, 0])
  mock.add({ subscriptions: [{ request }] })
  await other.close()
  await startServer({ mock: createMock({ clock: START, subscriptions: subscribed }) })
  expect(vi.getTimerCount()).toBe(0)
})

test('a forward jump of the machine’s time delays nothing: a new event rings at its time, a due one in half a minute', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  vi.resetModules()
  const { createAlarm } = await import('../../mocks/time/machine.ts')
  const rings = vi.fn()
  const alarm = createAlarm(rings)
  alarm.turn(true)
  alarm.within(10 * HOUR)
  vi.setSystemTime(Date.now() + 48 * HOUR)
  alarm.within(1_000)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(rings).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(29_000)
  expect(rings).toHaveBeenCalledTimes(2)
  alarm.turn(false)
  expect(vi.getTimerCount()).toBe(0)
})

test.each<[string, NotifyOptions['delay'], (mock: ReturnType<typeof createMock>) => unknown, string]>([
  ['a move of the clock', 0, (mock) => mock.clock.advance({ hours: 5 }), '07:00'],
  ['a new clock time', 0, (mock) => mock.clock.set('2026-12-01T11:30:00Z'), '06:30'],
  ['a restored snapshot', 0, (mock) => mock.restore(mock.snapshot()), '12:00'],
  ['a delayed delivery', { minutes: 3 }, () => undefined, '12:03'],
])('the timer follows %s', async (_change, delay, change, time) => {
  const { pass } = useMachineTime()
  const { received, to } = createReceiver()
  const mock = createMock({ subscriptions: { ...subscribed, notify: [{ to, delay }] } })
  await startServer({ mock })
  await change(mock)
  await pass(7 * HOUR)
  expect(received).toEqual([`${time} SUCCEEDED_PAYMENT`])
})

test('a server on the system clock delivers shuffled notifications within a second', async () => {
  const { pass } = useMachineTime()
  const { received, to } = createReceiver()
  const mock = createMock({ subscriptions: { notify: [{ to, shuffle: true }] } })
  const { close } = await startServer({ mock })
  const authorize = () => {
    const [added] = mock.add({ subscriptions: [{ request, authorizedAt: false }] })
    mock.payer.authorize(added?.invoiceId ?? '')
  }
  const counts: number[] = []
  for (const milliseconds of [600, 399, 1]) {
    authorize()
    await pass(milliseconds)
    counts.push(received.length)
  }
  authorize()
  await close()
  await pass(HOUR)
  expect([...counts, received.length]).toEqual([0, 0, 3, 3])
})

/** Returns the base URLs of `url` and of `confirmation_url` for a client that addresses a host. */
const basesFor = async (url: string, host?: string) => {
  const post = async (path: string, headers: Record<string, string>, body: object, field: string) => {
    const sent = { ...KEYS, 'idempotency-key': `${host}`, ...headers, ...(host && { host }) }
    const response = await send(`${url}${path}`, {
      method: 'POST',
      headers: sent,
      body: JSON.stringify(body),
    })
    return String(Object(await response.body.json())[field]).replace(/\/(authorize|confirm)\/.*/, '')
  }
  return [
    await post('/api/v1.0/subscribe', { Authorization: bearer.authorization }, ORDER, 'url'),
    await post(CHARGES, {}, MOCK_CHARGE, 'confirmation_url'),
  ]
}

const addressed = '10.0.0.5:4010'
const publicUrl = 'https://pay.example/mock'
const gateway = { baseUrl: 'https://own.example/g' }

test.each<[string, MockServerOptions, MockOptions, string, string[]]>([
  ['the public URL', { publicUrl: `${publicUrl}/` }, { gateway }, addressed, [publicUrl, publicUrl]],
  ['the configured base URL', {}, { gateway }, addressed, [`http://${addressed}`, gateway.baseUrl]],
  ['the IP address that the client used', {}, {}, addressed, []],
  ['the IPv6 address that the client used', {}, {}, '[fd00::5]:4010', []],
  ['localhost', {}, {}, 'localhost:4010', []],
  ['an allowed name', { allowedHosts: ['mock'] }, {}, 'mock:4010', []],
  ['the server’s address for an unknown name', {}, {}, 'evil.example', ['', '']],
])(
  'case 82: on 0.0.0.0, url and confirmation_url begin with %s',
  async (_name, options, given, host, [ofS, ofG] = []) => {
    const mock = createMock({ clock: START, subscriptions: subscribed, ...given })
    const { url } = await startServer({ host: '0.0.0.0', mock, ...options })
    const own = `http://${host}`
    expect(await basesFor(url, host)).toEqual([ofS ?? own, ofG ?? own].map((base) => base || url))
  },
)

test('a repeated charge keeps its URL, and a request in this process gets the address of the latest server', async () => {
  const mock = createMock({ clock: START, subscriptions: subscribed })
  const first = await startServer({ mock, tls: localhostCertificate, allowedHosts: ['mock'] })
  const second = await startServer({ mock, publicUrl })
  const charge = async (key: string) => {
    const init = {
      method: 'POST',
      headers: { ...KEYS, 'Idempotency-Key': key },
      body: JSON.stringify(MOCK_CHARGE),
    }
    const response = await mock.fetch(`${first.url}${CHARGES}`, init)
    return String(Object(await response.json()).confirmation_url)
  }
  const shown = await charge('one')
  expect(shown.startsWith(`${publicUrl}/confirm/`)).toBe(true)
  expect((await mock.fetch(shown)).status).toBe(200)
  await second.close()
  expect(await charge('one')).toBe(shown)
  expect((await charge('two')).startsWith(`${first.url}/confirm/`)).toBe(true)
})

test('the payer’s page works at the public URL, although the proxy sends another Host', async () => {
  const mock = createMock({ clock: START, subscriptions: subscribed })
  const { url } = await startServer({ mock, publicUrl })
  await basesFor(url)
  const [{ confirmation_url = '' } = {}] = mock.state.charges()
  const post = async (origin: string) => {
    const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' }
    const page = confirmation_url.replace(publicUrl, url)
    return (await send(page, { method: 'POST', headers, body: 'otp=123456' })).statusCode
  }
  expect([await post('https://pay.example.evil.example'), await post('https://pay.example')]).toEqual([
    403, 303,
  ])
})

const health = async (url: string, calls: number) => {
  const statuses: number[] = []
  for (let count = 0; count < calls; count += 1) {
    const { statusCode, body } = await send(`${url}/health`)
    await body.dump()
    statuses.push(statusCode)
  }
  return statuses
}

test('case 88: a server with a fixed clock accepts the 121st call, and area S keeps its rate-limit headers', async () => {
  const mock = createMock({ clock: START })
  const { url, close } = await startServer({ mock })
  expect(new Set(await health(url, 125))).toEqual(new Set([200]))
  await send(`${url}/oauth/token`, { method: 'POST' })
  const { headers } = await send(`${url}/oauth/token`, { method: 'POST' })
  expect(headers).toMatchObject({ 'x-ratelimit-limit': '600', 'x-ratelimit-remaining': '600' })
  await close()
  const own = mock.clientOptions.gateway.baseUrl
  for (let count = 0; count < 120; count += 1) await mock.fetch(`${own}/health`)
  expect((await mock.fetch(`${own}/health`)).status).toBe(429)
})

test('case 89: on 0.0.0.0, a page of another name that points at the server cannot reset the mock', async () => {
  const { url, mock } = await startServer({ host: '0.0.0.0' })
  const host = 'rebound.example:4010'
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const headers = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin', ...form }
  mock.outage.start()
  const { statusCode, body } = await send(`${url}/_mock`, { method: 'POST', headers, body: 'action=reset' })
  expect([statusCode, await body.text()]).toEqual([403, expect.stringContaining('allowedHosts')])
  expect((await send(`${url}/_mock/state`, { headers: { host } })).statusCode).toBe(403)
  expect(await health(url, 1)).toEqual([503])
})

test('case 90: reset disconnects the receivers that were connected since, and keeps those of the options', async () => {
  const [configured, connected] = [createReceiver(), createReceiver()]
  const notify = [{ to: configured.to }]
  const mock = createMock({ clock: START, subscriptions: { ...subscribed, notify } })
  for (let round = 1; round <= 3; round += 1) {
    mock.notifications.connect(connected.to)
    await mock.clock.advance({ days: 1 })
    expect([configured.received.length, connected.received.length]).toEqual([round, round])
    mock.reset()
  }
})
