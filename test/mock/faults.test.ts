import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createMock, type Fault, type FaultEffect, type FaultStep } from '../../mocks/core.ts'
import { MOCK_CHARGE } from '../support/mock-clients.ts'
import { CHARGES, KEYS, open, openThrough } from './open.ts'
import { throughFetch, throughHttp, transports } from './transports.ts'

const ofCharge = (effect: FaultEffect): Fault => ({ operation: 'gateway.charge', ...effect })

describe.each(transports)('through $name', (transport) => {
  test.each<[FaultEffect, charges: number, code: string]>([
    [{ kind: 'reset' }, 0, 'ECONNRESET'],
    [{ kind: 'reset', executed: true }, 1, 'ECONNRESET'],
    [{ kind: 'lost-response' }, 1, 'UND_ERR_SOCKET'],
  ])(
    '%o ends the connection once, and the key then creates or returns the charge',
    async (fault, charges, code) => {
      const { mock, charge } = await openThrough(transport)
      mock.faults.add(ofCharge(fault))
      const error = await charge('k').catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(TypeError)
      if ([throughFetch, throughHttp].includes(transport)) expect(error).toMatchObject({ cause: { code } })
      expect(mock.state.charges()).toHaveLength(charges)
      expect(mock.requests.all()[0]?.objectId).toBe(mock.state.charges()[0]?.id)
      expect((await charge('k')).status).toBe(202)
      expect(mock.state.charges()).toHaveLength(1)
      expect(mock.requests.all().map(({ executed, decision }) => [executed, decision])).toEqual([
        [charges === 1, 'fault'],
        [charges === 0, charges === 0 ? 'accepted' : 'replayed'],
      ])
    },
  )

  test('truncated executes the request and ends the connection in the middle of the body', async () => {
    const { mock, fetch } = await openThrough(transport)
    mock.faults.add(ofCharge({ kind: 'truncated' }))
    const url = `${mock.clientOptions.gateway.baseUrl}${CHARGES}`
    const init = { method: 'POST', headers: KEYS, body: JSON.stringify(MOCK_CHARGE) }
    // Some transports report the end of the connection before the body is read.
    await expect(fetch(url, init).then((response) => response.text())).rejects.toThrow(TypeError)
    expect(mock.requests.all()).toMatchObject([{ status: 202, executed: true }])
    expect(mock.state.charges()).toHaveLength(1)
  })

  test('timeout never responds and executes nothing, and the caller’s signal ends it', async () => {
    const { mock, g } = await openThrough(transport)
    mock.faults.add({ operation: 'gateway.reset', kind: 'timeout' })
    const controller = new AbortController()
    const call = g('/api/v1/reset', { signal: controller.signal })
    await vi.waitFor(() => expect(mock.requests.of('gateway.reset')).toHaveLength(1))
    controller.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    expect(mock.requests.all()).toMatchObject([{ executed: false, fault: 'timeout' }])
  })

  test.each<[FaultEffect, number, RegExp, RegExp]>([
    [{ kind: 'status' }, 500, /json/, /^\{"error":\{"code":"internal_error"/],
    [{ kind: 'status', status: 422, body: { a: 1 } }, 422, /json/, /^\{"a":1\}$/],
    [{ kind: 'html' }, 502, /text\/html/, /^<!doctype html>/],
    [{ kind: 'empty' }, 202, /^$/, /^$/],
    [{ kind: 'malformed' }, 202, /json/, /^\{"status": "ok", $/],
    [{ kind: 'rate-limit' }, 429, /json/, /rate_limited/],
  ])('%o responds instead of executing', async (fault, status, type, body) => {
    const { mock, charge } = await openThrough(transport)
    mock.faults.add(ofCharge(fault))
    const answer = await charge('k')
    expect([answer.status, answer.headers.get('content-type') ?? '', answer.text]).toEqual([
      status,
      expect.stringMatching(type),
      expect.stringMatching(body),
    ])
    expect(mock.state.charges()).toEqual([])
    expect((await charge('k')).status).toBe(202)
  })
})

test('case 124: timeout does not let a plain script end before its AbortSignal.timeout, as a silent socket would not', async () => {
  const script = `
    const { createMock } = await import(${JSON.stringify(new URL('../../mocks/core.ts', import.meta.url).href)})
    const mock = createMock({ faults: [{ operation: '*', kind: 'timeout' }] })
    const url = mock.clientOptions.gateway.baseUrl + '/health'
    const error = await mock.fetch(url, { signal: AbortSignal.timeout(200) }).catch((reason) => reason)
    console.log(error.name)`
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    timeout: 30_000,
  })
  expect((await run).stdout).toBe('TimeoutError\n')
})

test('rate-limit sends the headers of its area, or the retryAfter of the fault', async () => {
  const { mock, login, g } = await open()
  mock.faults.add({ operation: '*', kind: 'rate-limit', times: 2 })
  const ofS = await login()
  expect([ofS.headers.get('x-ratelimit-remaining'), ofS.headers.get('retry-after')]).toEqual(['0', null])
  expect((await g('/health', { method: 'GET' })).headers.get('retry-after')).toBe('1')
  mock.faults.add({ operation: 'gateway.health', kind: 'rate-limit', retryAfter: 'soon' })
  expect((await g('/health', { method: 'GET' })).headers.get('retry-after')).toBe('soon')
})

test('the headers of a fault replace those of the mock, in any letter case', async () => {
  const { mock, login } = await open()
  const headers = { date: 'Thu, 01 Jan 1970 00:00:00 GMT', 'x-ratelimit-remaining': '7' }
  mock.faults.add({ operation: '*', kind: 'rate-limit', headers })
  const { headers: received } = await login()
  expect([received.get('date'), received.get('x-ratelimit-remaining')]).toEqual([headers.date, '7'])
})

test('latency delays the response of an executed request, and comes on top of another fault', async () => {
  const { mock, charge, health } = await open()
  mock.faults.add({ operation: '*', kind: 'latency', latencyMs: 40, times: 'always' })
  mock.faults.add({ operation: 'gateway.health', kind: 'status' })
  for (const [call, status] of [
    [async () => (await charge('k')).status, 202],
    [health, 500],
  ] as const) {
    const begun = performance.now()
    expect(await call()).toBe(status)
    expect(performance.now() - begun).toBeGreaterThanOrEqual(39)
    expect(mock.requests.all().at(-1)?.durationMs).toBeGreaterThanOrEqual(39)
  }
})

test('case 44: a fault acts once by default, as often as it says, or until it is removed, on its operations alone', async () => {
  const { mock, charge, health } = await open()
  mock.faults.add(ofCharge({ kind: 'status' }))
  mock.faults.add({ operation: 'gateway.health', kind: 'status' })
  mock.faults.add({ operation: 'gateway.*', kind: 'status', status: 503, times: 2 })
  const statuses = [await health(), await health(), await health(), await health()]
  expect(statuses).toEqual([500, 503, 503, 200])
  expect((await charge('k')).status).toBe(500)
  const remove = mock.faults.add({ operation: '*', kind: 'status', times: 'always' })
  expect([await health(), await health()]).toEqual([500, 500])
  remove()
  expect(await health()).toBe(200)
})

test('a sequence takes one step a call as often as it says, and later changes to the given fault have no effect', async () => {
  const { mock, health } = await open()
  const sequence: FaultStep[] = ['fail', 'succeed', { kind: 'status', status: 500 }]
  const fault = { operation: 'gateway.health', kind: 'status', status: 503, times: 2, sequence } as const
  mock.faults.add(fault)
  Object.assign(fault, { status: 200, operation: 'gateway.charge' })
  sequence.reverse()
  const statuses: number[] = []
  for (let call = 0; call < 7; call += 1) statuses.push(await health())
  expect(statuses).toEqual([503, 200, 500, 503, 200, 500, 200])
})

test('a probability is drawn from the seed, and is the same again after a reset', async () => {
  const { mock, health } = await open({ seed: 7, gateway: { rateLimit: false } })
  const run = async () => {
    mock.faults.add({ operation: 'gateway.health', kind: 'status', probability: 0.5 })
    const seen: number[] = []
    for (let call = 0; call < 200; call += 1) seen.push(await health())
    mock.reset()
    return seen
  }
  const first = await run()
  const failures = first.filter((status) => status === 500).length
  expect([failures > 70, failures < 130]).toEqual([true, true])
  expect(await run()).toEqual(first)
})

test.each([true, false])(
  'case 44: an abort during a latency leaves no timer; executed: %s',
  async (executed) => {
    const { mock, g } = await open()
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    mock.faults.add(ofCharge({ kind: 'latency', latencyMs: 60_000, executed }))
    const controller = new AbortController()
    const call = g(CHARGES, { key: 'k', body: MOCK_CHARGE, signal: controller.signal })
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1))
    controller.abort(new Error('gone'))
    await expect(call).rejects.toThrow('gone')
    expect(vi.getTimerCount()).toBe(0)
    expect(mock.state.charges()).toHaveLength(executed ? 1 : 0)
    if (!executed) expect(mock.requests.all()).toMatchObject([{ executed, decision: 'aborted' }])
  },
)

test('truncated ends the connection of a HEAD, which has no body', async () => {
  const { mock, g } = await open()
  mock.faults.add({ operation: 'gateway.health', kind: 'truncated' })
  await expect(g('/health', { method: 'HEAD' })).rejects.toMatchObject({ cause: { code: 'UND_ERR_SOCKET' } })
  expect(mock.requests.all()).toMatchObject([{ executed: true, fault: 'truncated' }])
})

test.each<[named: string, fault: unknown]>([
  ['operation', { operation: 'gateway.pay', kind: 'status' }],
  ['latencyMs', { kind: 'latency' }],
  ['times', { kind: 'status', times: 0 }],
  ['executed', { kind: 'lost-response', executed: false }],
  ['headers', { kind: 'status', headers: { 'x-a': 'one\ntwo' } }],
  ['headers', { kind: 'status', headers: { 'content-length': '5' } }],
  ['headers', { kind: 'html', headers: { 'Transfer-Encoding': 'chunked' } }],
  // A detail that the kind does not read.
  ['status', { kind: 'reset', status: 503 }],
  ['status', { sequence: ['succeed', { kind: 'reset', status: 500 }] }],
  ['sequence', { sequence: [] }],
  // Without a kind, no other field is judged.
  ['Missing kind: pass a kind of fault, such as "status"', { status: 503 }],
])('faults.add and createMock refuse an impossible fault and name its %s: %o', (named, fault) => {
  const given = { operation: '*', ...Object(fault) }
  expect(() => createMock().faults.add(given)).toThrow(named)
  expect(() => createMock({ faults: [given] })).toThrow(`faults.0`)
})

test('faults.add accepts a detail that only some steps of a sequence read, and refuses null', () => {
  const { faults } = createMock()
  faults.add({ operation: '*', retryAfter: 7, sequence: ['rate-limit', { kind: 'html', status: 504 }] })
  expect(() => faults.add(null as never)).toThrow(TypeError)
})

test('faults of the options apply from the start and again after a reset, until clear removes them', async () => {
  const faults: readonly Fault[] = [
    { operation: 'gateway.charge', kind: 'status', status: 503, when: { msisdn: '+99900000002' } },
    { operation: 'gateway.health', kind: 'html' },
  ]
  const { mock, charge, health } = await open({ faults })
  const round = async () => [
    (await charge('a', { msisdn: '+99900000001' })).status,
    (await charge('b', { msisdn: '+99900000002' })).status,
    await health(),
    await health(),
  ]
  expect(await round()).toEqual([202, 503, 502, 200])
  mock.reset()
  mock.faults.clear()
  expect(await round()).toEqual([202, 202, 200, 200])
  mock.reset()
  expect(await round()).toEqual([202, 503, 502, 200])
})
