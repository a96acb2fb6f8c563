import { afterEach, expect, test, vi } from 'vitest'
import { createMock, type Mock } from '../../mocks/core.ts'
import { errorOf } from '../support/clients.ts'
import { MOCK_CHARGE as CHARGE, clientsOf } from '../support/mock-clients.ts'
import { startServer } from '../support/mock-server.ts'
import { CHARGES, open, openThrough, statusesOf } from './open.ts'
import { transports } from './transports.ts'

afterEach(() => vi.useRealTimers())

const tight = { rateLimit: { limit: 1, windowMs: 60_000 } }

test.each<
  [string, options: object, fields: object, decide: 'authorize' | 'decline' | 'none', status: string]
>([
  ['expired', {}, {}, 'none', 'EXPIRED'],
  ['declined', {}, {}, 'decline', 'FAILED'],
  ['ended', {}, { end: '2026-12-02' }, 'authorize', 'SUCCEEDED'],
  ['expired, under a cancelDelay,', { cancelDelay: { days: 1 } }, {}, 'none', 'EXPIRED'],
])(
  'case 83: canceling a subscription that has %s gives the record and causes no event',
  async (_, subscriptions, fields, decide, status) => {
    const { mock, subscribe, subscriptions: client } = await open({ subscriptions })
    const { invoiceID } = (await subscribe(fields)).json
    if (decide !== 'none') mock.payer[decide](invoiceID)
    await mock.clock.advance({ days: 3 })
    const before = [mock.state.subscriptions(), mock.notifications.all()]
    const { subscriptionId = '' } = mock.state.subscriptions()[0] ?? {}
    const record = await client.cancel(subscriptionId)
    expect(record).toMatchObject({ subscriptionID: subscriptionId, status: 'PROCESSED', errorCode: '00' })
    expect(await client.cancellation(subscriptionId)).toEqual(record)
    await mock.clock.advance({ days: 3 })
    expect([mock.state.subscriptions(), mock.notifications.all()]).toEqual(before)
    expect((await client.status(invoiceID)).status).toBe(status)
  },
)

test('case 83: a subscription that ends before its cancellation is processed causes no event', async () => {
  const { mock, subscription, subscriptions } = await open({ subscriptions: { cancelDelay: { days: 5 } } })
  const { subscriptionId } = await subscription({ end: '2026-12-02' })
  expect((await subscriptions.cancel(subscriptionId)).status).toBe('PROCESSING')
  await mock.clock.advance({ days: 9 })
  expect((await subscriptions.cancellation(subscriptionId)).status).toBe('PROCESSED')
  expect(mock.state.subscriptions()[0]?.cancelledAt).toBeUndefined()
  expect(mock.notifications.all().map(({ status }) => status)).not.toContain('CANCELLED')
})

test('case 87: every response of area S has the three headers with rateLimit: false', async () => {
  const { s, subscribe, login } = await open({ subscriptions: { rateLimit: false } })
  const answers = [
    await subscribe(),
    await login({ password: 'x' }),
    await s('/nowhere'),
    await s('/api/v1.0/subscribe', { method: 'GET' }),
    await s('/api/v1.0/subscribe', { body: '{' }),
  ]
  expect(statusesOf(answers)).toEqual([200, 401, 404, 405, 400])
  for (const { headers } of answers) {
    expect(headers.get('x-ratelimit-limit')).toBe('1000000000')
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(999_999_000)
    expect(headers.get('x-ratelimit-reset')).toMatch(/^\d{10}$/)
  }
})

test('case 87: past the limit, unknown paths, wrong methods and large bodies are 429', async () => {
  const mock = createMock({ subscriptions: tight, gateway: tight })
  const { url } = await startServer({ mock, maxBodyBytes: 1_000 })
  const ask = (path: string, init: RequestInit = {}) => fetch(url + path, { method: 'POST', ...init })
  const body = 'x'.repeat(2_000)
  const answers = [
    await ask('/api/v1/mfs/nowhere'),
    await ask('/api/v1/mfs/nowhere'),
    await ask(CHARGES, { method: 'PUT' }),
    await ask(CHARGES, { body }),
    await ask('/api/v1.0/subscription'),
    await ask('/api/v1.0/subscription'),
    await ask('/api/v1.0/subscribe', { method: 'DELETE' }),
    await ask('/oauth/token', { body }),
  ]
  expect(statusesOf(answers)).toEqual([404, 429, 429, 429, 404, 429, 429, 429])
  expect(answers.slice(1, 4).map(({ headers }) => headers.get('retry-after'))).toEqual(['60', '60', '60'])
})

test('case 87: failures of one merchant’s admin do not lock another merchant’s admin, also after a restore', async () => {
  const users = [{ username: 'admin', password: 'right' }]
  const merchants = ['a', 'b', 'c'].map((name) => ({ name, clientId: name, clientSecret: 's', users }))
  const { login, mock } = await open({ subscriptions: { merchants, tokens: [] } })
  const admin = (client_id: string, password: string) =>
    login({ client_id, client_secret: 's', username: 'admin', password })
  const statuses = async () =>
    statusesOf(await Promise.all(['a', 'b', 'c'].map((name) => admin(name, 'right'))))
  for (let count = 0; count < 5; count += 1) expect((await admin('a', 'wrong')).status).toBe(401)
  expect(await statuses()).toEqual([403, 200, 200])
  mock.restore(structuredClone(mock.snapshot()))
  expect(await statuses()).toEqual([403, 200, 200])
})

test.each<[address: string, isRefused: boolean]>([
  ['javascript:alert(1)', true],
  ['JaVaScRiPt://%0aalert(1)', true],
  ['java\nscript://x', true],
  ['data:text/html,<script>1</script>', true],
  ['file:///etc/passwd', true],
  ['/paid', true],
  ['myapp:return', false],
  ['https://shop.example/paid', false],
])('case 87: a return address %j is refused: %j', async (address, isRefused) => {
  const { charge, subscribe, mock } = await open()
  expect((await charge('k', { redirect_uri: address })).status).toBe(isRefused ? 400 : 202)
  expect((await subscribe({ userReturnURL: address })).status).toBe(isRefused ? 422 : 200)
  expect([mock.state.charges().length, mock.state.subscriptions().length]).toEqual(
    isRefused ? [0, 0] : [1, 1],
  )
})

test.each(transports)(
  'case 87: an OPTIONS request is 204 only as a preflight, which is not logged, through $name',
  async (transport) => {
    const { g, s, mock } = await openThrough(transport)
    const options = { method: 'OPTIONS', anonymous: true }
    const Origin = 'https://shop.example'
    const asked = { 'Access-Control-Request-Headers': 'authorization,idempotency-key' }
    const preflight = { Origin, 'Access-Control-Request-Method': 'POST', ...asked }
    for (const [ask, path] of [
      [g, CHARGES],
      [s, '/api/v1.0/subscribe'],
    ] as const) {
      const plain = await ask(path, options)
      expect([plain.status, plain.headers.get('allow')]).toEqual([405, 'POST'])
      expect((await ask(path, { ...options, headers: { Origin } })).status).toBe(405)
      mock.requests.clear()
      const { 'Access-Control-Request-Headers': _, ...unspecific } = preflight
      const { headers: usual } = await ask(path, { ...options, headers: unspecific })
      expect(usual.get('access-control-allow-headers')).toContain('Idempotency-Key')
      const { status, headers } = await ask(path, { ...options, headers: preflight })
      const allowed = ['origin', 'headers'].map((name) => headers.get(`access-control-allow-${name}`))
      expect([status, ...allowed]).toEqual([204, Origin, 'authorization,idempotency-key'])
      expect(mock.requests.all()).toEqual([])
    }
    const response = await g('/health', { method: 'GET', headers: { Origin } })
    expect(response.headers.get('access-control-allow-origin')).toBe(Origin)
  },
)

const held = { operation: 'gateway.*', kind: 'latency', latencyMs: 1_000 } as const
const opened = (keyInFlight: 'wait' | 'conflict') => {
  vi.useFakeTimers()
  const mock = createMock({ gateway: { keyInFlight } })
  return { mock, ...clientsOf(mock, { retry: { limit: 5 } }) }
}

test('case 51: two renewals with one key are one renewal, and another key does not wait', async () => {
  const { mock, gateway } = opened('conflict')
  const charge = await gateway.charge(CHARGE)
  mock.payer.confirm(charge.confirmation_id)
  mock.faults.add(held)
  const renew = (idempotencyKey: string) => gateway.renew(charge.id, { idempotencyKey })
  const [first, twin] = [renew('k'), renew('k')]
  expect((await renew('other')).status).toBe('succeeded')
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await twin).toEqual(await first)
  expect(mock.state.charges()).toHaveLength(3)
})

test.each([
  ['reset', (mock: Mock) => mock.reset()],
  ['restore', (mock: Mock) => mock.restore(mock.snapshot())],
])(
  'case 51: after a %s, a key does not wait for the delayed request of an earlier test',
  async (_how, clear) => {
    const { mock, gateway } = opened('wait')
    mock.faults.add(held)
    const abandoned = gateway.charge(CHARGE, { idempotencyKey: 'k' })
    await vi.waitFor(() => expect(mock.requests.all()).toHaveLength(1))
    clear(mock)
    await gateway.charge(CHARGE, { idempotencyKey: 'k' })
    expect(mock.state.charges()).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(30_000)
    await abandoned
  },
)

test('case 51: a call executes itself if the first sender leaves before its execution', async () => {
  const { mock, gateway } = opened('wait')
  mock.faults.add({ ...held, executed: false })
  const controller = new AbortController()
  const first = errorOf(gateway.charge(CHARGE, { idempotencyKey: 'k', signal: controller.signal }))
  const second = gateway.charge(CHARGE, { idempotencyKey: 'k' })
  await vi.advanceTimersByTimeAsync(10)
  controller.abort()
  expect(await first).toMatchObject({ outcome: 'unknown' })
  expect((await second).status).toBe('pending_confirmation')
  expect(mock.state.charges()).toHaveLength(1)
})
