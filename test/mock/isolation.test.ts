import { expect, test, vi } from 'vitest'
import { createMock, MockRefusedError } from '../../mocks/core.ts'
import { errorOf } from '../support/clients.ts'
import { MOCK_CHARGE, openMock } from '../support/mock-clients.ts'
import { type OpenMock, open, openThrough } from './open.ts'
import { throughFetch, throughHttp, transports } from './transports.ts'

/** Everything that a mock shows. */
const shown = ({ mock }: Pick<OpenMock, 'mock'>) => ({
  charges: mock.state.charges(),
  events: mock.state.events(),
  subscriptions: mock.state.subscriptions(),
  payments: mock.state.payments(),
  notifications: mock.notifications.all(),
  // Each transport has its own duration, and headers of its own such as Host.
  requests: mock.requests
    .all()
    .map(({ durationMs: _durationMs, headers: _sent, responseHeaders: _received, ...request }) => request),
  now: mock.clock.now(),
})

const historyOf = (opened: OpenMock) => {
  const { subscriptions, gateway } = opened.mock.clientOptions
  return JSON.stringify(shown(opened))
    .replaceAll(subscriptions.baseUrl, 'https://base.example')
    .replaceAll(gateway.baseUrl, 'https://base.example')
}

/** What a merchant does with a mock. */
const live = async (opened: OpenMock) => {
  const { gateway, mock } = opened
  const subscriptions = opened.clientWith()
  await opened.subscription({ cycle: 'DAILY' }, ['succeed', 'fail'])
  const { subscriptionId } = await opened.subscription({ requestID: 'order-2' })
  await subscriptions.cancel(subscriptionId)
  const { id } = await opened.paid()
  await opened.charge('key-0', { amount: 1 })
  await gateway.renew(id, { dueDate: '2026-12-02' })
  await mock.clock.advance({ days: 3 })
  return historyOf(opened)
}

test('the same seed and the same calls give the same bytes through every transport, and again after a reset', async () => {
  const histories = new Set<string>()
  for (const transport of transports) {
    const through = await openThrough(transport, { seed: 'a' })
    histories.add(await live(through))
    await through.close()
  }
  const opened = await open({ seed: 'a' })
  histories.add(await live(opened))
  opened.mock.faults.add({ operation: '*', kind: 'reset', times: 'always' })
  opened.mock.outage.start()
  opened.mock.reset()
  expect(shown(opened)).toMatchObject({ charges: [], subscriptions: [], requests: [], notifications: [] })
  histories.add(await live(opened))
  expect(histories.size).toBe(1)
  expect(await live(await open({ seed: 'b' }))).not.toBe([...histories][0])
})

test.each([throughFetch, throughHttp])(
  'case 41: two mocks and four clients used in parallel share nothing (through $name)',
  async (transport) => {
    const one = await openThrough(transport, { seed: 1 })
    const other = await openThrough(transport, { seed: 2, clock: '2027-05-01T00:00:00Z' })
    const untouched = shown(other)
    other.mock.faults.add({ operation: '*', kind: 'reset', times: 'always' })
    const refused = other.charge('k').catch(() => 'refused')
    const [history] = await Promise.all([live(one), refused])
    expect(await refused).toBe('refused')
    other.mock.requests.clear()
    expect(shown(other)).toEqual(untouched)
    other.mock.faults.clear()
    const { access_token: token } = (await one.login()).json
    expect((await other.s('/api/v1.0/subscription/x', { token })).status).toBe(401)

    const first = await openThrough(transport, { seed: 1 })
    const second = await openThrough(transport, { seed: 3 })
    const [again, different] = await Promise.all([live(first), live(second)])
    expect(again).toBe(history)
    const ids = ({ mock }: OpenMock) => [
      ...mock.state.charges().map(({ id }) => id),
      ...mock.state.subscriptions().flatMap(({ invoiceId, subscriptionId }) => [invoiceId, subscriptionId]),
    ]
    expect(ids(first)).toHaveLength(6)
    for (const id of ids(first)) expect(different).not.toContain(id)
  },
)

test('restore returns to a snapshot, also in another mock and through a structured clone', async () => {
  const opened = await open()
  await live(opened)
  const { requests: _requests, ...before } = shown(opened)
  const snapshot = structuredClone(opened.mock.snapshot())
  const later = await opened.charge('later')
  await opened.mock.clock.advance({ days: 30 })
  const { payments } = shown(opened)
  expect(payments.length).toBeGreaterThan(before.payments.length)

  const other = await open()
  for (const { mock, charge } of [opened, other]) {
    mock.restore(snapshot)
    expect(shown({ mock })).toMatchObject(before)
    expect((await charge('later')).text).toBe(later.text)
    await mock.clock.advance({ days: 30 })
    expect(mock.state.payments()).toEqual(payments)
  }
  expect((await other.charge('key-0')).json.id).toBe(before.charges[0]?.id)
  const untouched = shown(opened)
  const taken = opened.mock.snapshot()
  const copied = JSON.parse(JSON.stringify(taken))
  const incomplete = { ...taken, state: { ...Object(taken.state), gateway: {} } }
  for (const broken of [null, {}, { format: 1 }, copied, incomplete])
    expect(() => opened.mock.restore(broken as never)).toThrow(TypeError)
  expect(() => opened.mock.restore({ ...taken, format: 2 } as never)).toThrow(
    /format 2, and this version of mandatekit reads format 4/,
  )
  expect(() => createMock({ gateway: { rateLimit: false } }).restore(taken)).toThrow(TypeError)
  expect(shown(opened)).toEqual(untouched)
})

test('restore returns to what limiters and lockouts had counted, and a reset clears them', async () => {
  const limits = { rateLimit: { limit: 3, windowMs: 60_000 } }
  const lockout = { attempts: 1, windowSeconds: 60, durationSeconds: 60 }
  const { mock, health, login } = await open({ subscriptions: { ...limits, lockout }, gateway: limits })
  const next = async () => [await health(), (await login({ password: 'x' })).status]
  expect(await next()).toEqual([200, 401])
  const snapshot = structuredClone(mock.snapshot())
  const rest = [await next(), await next(), await next()]
  expect(rest.flat()).toEqual([200, 403, 200, 403, 429, 429])
  mock.restore(snapshot)
  expect([await next(), await next(), await next()]).toEqual(rest)
  mock.reset()
  expect(await next()).toEqual([200, 401])
})

test('a client call that waits at a reset is never sent, and does not move the clock', async () => {
  const { mock, gateway } = openMock({ sleep: 'wait' })
  await mock.clock.advance({ days: 30 })
  mock.faults.add({ operation: '*', kind: 'rate-limit', retryAfter: 20, times: 'always' })
  const sent = [errorOf(gateway.charge(MOCK_CHARGE)), errorOf(gateway.charge(MOCK_CHARGE))]
  await vi.waitFor(() => expect(mock.requests.all()).toHaveLength(2))
  mock.reset()
  for (const call of sent) expect(await call).toMatchObject({ code: 'rate_limited', outcome: 'rejected' })
  await mock.clock.advance({ days: 1 })
  expect([mock.state.charges(), mock.requests.all()]).toEqual([[], []])
  expect(mock.clock.now()).toBe(Date.parse('2026-12-02T06:00:00Z'))
})

test('state.payments returns the payments of all subscriptions in the order of their times', () => {
  const { mock } = openMock()
  const seed = (start: string) =>
    ({
      request: { start, end: '2027-12-01', cycle: 'WEEKLY', amount: '1' },
      createdAt: '2026-10-01',
    }) as const
  mock.add({ subscriptions: [seed('2026-11-02'), seed('2026-11-03')] })
  const dates = mock.state.payments().map(({ transactionDate }) => transactionDate)
  expect([dates.length, dates]).toEqual([9, dates.toSorted()])
})

test('a mock starts with the subscriptions, tokens and charges of its options, and again after a reset', async () => {
  const request = { start: '2026-11-01', end: '2027-11-01', cycle: 'DAILY', amount: '9.50' } as const
  const given = { request, subscriptionId: 'given', createdAt: '2026-11-01T00:00:00Z' }
  const charge = { msisdn: '+1', amount: 5, currency: 'BDT' }
  const waiting = { status: 'pending_confirmation', created_at: '2026-11-30T12:00:00Z' } as const
  const charges = [
    { id: 'ch_given', ...charge },
    { id: 'ch_open', ...charge, ...waiting },
  ]
  const existing = [
    { ...given, payments: ['fail' as const] },
    { request, authorizedAt: false as const },
  ]
  const tokens = [{ accessToken: 'given-token' }]
  const { mock, s, renew } = await open({ subscriptions: { existing, tokens }, gateway: { charges } })
  for (let round = 0; round < 2; round += 1) {
    const details = await s('/api/v1.0/subscription/given', { token: 'given-token' })
    expect([details.status, details.json.amount, details.json.enabled]).toEqual([200, 9.5, 1])
    expect((await renew('ch_given', 'r')).status).toBe(201)
    // Payments before the mock's start are not notified.
    expect(mock.state.payments('given')).toHaveLength(30)
    expect(mock.state.payments('given')[0]).toMatchObject({ dueDate: '2026-11-01', status: 'FAILED_PAYMENT' })
    expect(mock.notifications.all()).toEqual([])
    expect(mock.state.subscriptions()[1]).toMatchObject({ requestStatus: 'INITIALIZED', active: false })
    await mock.clock.advance({ hours: 6 })
    expect(mock.state.charges()[1]?.status).toBe('expired')
    expect(mock.notifications.all()).toHaveLength(1)
    mock.reset()
  }
})

test('a payer’s impossible action throws a MockRefusedError, and what state returns is a copy', async () => {
  const { mock, charge } = await open()
  expect(() => mock.payer.setBehavior('+1', 'explodes' as 'succeeds')).toThrow(MockRefusedError)
  const { json } = await charge('k')
  expect(() => mock.payer.confirm(json.confirmation_id, '000000')).toThrow(MockRefusedError)
  Object.assign(mock.state.charges()[0] ?? {}, { status: 'failed' })
  expect(mock.payer.confirm(json.confirmation_id)).toMatchObject({ status: 'succeeded' })
})
