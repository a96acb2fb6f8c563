import { describe, expect, test, vi } from 'vitest'
import type { Fault, FaultStep } from '../../mocks/core.ts'
import { createMock } from '../../mocks/core.ts'
import type { MockOptions } from '../../mocks/options.ts'
import type { OpenMerchant } from './merchant.ts'
import { openMerchant } from './merchant.ts'
import { throughFetch, throughHttp, throughMsw2, throughMsw3, transports } from './transports.ts'

/** A reset that is never answered, and that its sender gives up. */
const expectGivenUp = async ({ mock, g, key }: OpenMerchant) => {
  mock.faults.add({ operation: 'gateway.reset', kind: 'timeout' })
  const controller = new AbortController()
  const call = g('/api/v1/reset', { headers: key(), signal: controller.signal })
  await vi.waitFor(() => expect(mock.requests.of('gateway.reset')).toHaveLength(1))
  controller.abort(new Error('enough'))
  await expect(call).rejects.toThrow('enough')
}

/** The code that a failed call carries in its cause. */
const codeOf = async (call: Promise<unknown>): Promise<unknown> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(TypeError)
  return ((error as TypeError).cause as { code?: string } | undefined)?.code
}

describe.each([throughFetch, throughHttp])('faults are exact through $name', (transport) => {
  test('reset loses the request: ECONNRESET, nothing executed, used up after once', async () => {
    const { mock, charge } = await openMerchant(transport)
    mock.faults.add({ operation: 'gateway.charge', kind: 'reset' })
    expect(await codeOf(charge('k'))).toBe('ECONNRESET')
    expect(mock.state.charges()).toEqual([])
    expect((await charge('k')).status).toBe(202)
    expect(
      mock.requests.of('gateway.charge').map(({ executed, fault, decision }) => [executed, fault, decision]),
    ).toEqual([
      [false, 'reset', 'fault'],
      [true, undefined, 'accepted'],
    ])
  })

  test('lost-response loses the answer: executed, and the key then gives the charge', async () => {
    const { mock, charge } = await openMerchant(transport)
    mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })
    expect(await codeOf(charge('k'))).toBe('UND_ERR_SOCKET')
    expect(mock.state.charges()).toHaveLength(1)
    expect((await charge('k')).status).toBe(202)
    expect(mock.state.charges()).toHaveLength(1)
  })

  test('truncated executes, and breaks off in the middle of the body', async () => {
    const { mock, fetch, key } = await openMerchant(transport)
    mock.faults.add({ operation: 'gateway.charge', kind: 'truncated' })
    const answer = await fetch(`${mock.clientOptions.gateway.baseUrl}/api/v1/mfs/charges`, {
      method: 'POST',
      headers: key('k'),
      body: JSON.stringify({ msisdn: '+1', amount: 1, currency: 'BDT', redirect_uri: 'https://a.example' }),
    })
    expect([answer.status, Number(answer.headers.get('content-length'))]).toEqual([202, expect.any(Number)])
    expect(await codeOf(answer.text())).toBe('UND_ERR_SOCKET')
    expect(mock.state.charges()).toHaveLength(1)
  })

  test('timeout never answers and executes nothing; the caller’s signal ends it', async () => {
    const merchant = await openMerchant(transport)
    await expectGivenUp(merchant)
    expect(merchant.mock.requests.of('gateway.reset')[0]).toMatchObject({ executed: false, fault: 'timeout' })
  })

  test('executed turns a reset into a lost answer', async () => {
    const { mock, charge } = await openMerchant(transport)
    mock.faults.add({ operation: 'gateway.charge', kind: 'reset', executed: true })
    expect(await codeOf(charge('k'))).toBe('ECONNRESET')
    expect(mock.state.charges()).toHaveLength(1)
  })
})

describe.each([throughMsw3, throughMsw2])('faults through $name', (transport) => {
  test.each(['reset', 'lost-response'] as const)('%s is a network error', async (kind) => {
    const { mock, charge } = await openMerchant(transport)
    mock.faults.add({ operation: 'gateway.charge', kind })
    await expect(charge('k')).rejects.toThrow(TypeError)
    expect(mock.state.charges()).toHaveLength(kind === 'reset' ? 0 : 1)
    expect((await charge('k')).status).toBe(202)
  })

  test('timeout ends with the caller’s signal', async () => {
    const merchant = await openMerchant(transport)
    await expectGivenUp(merchant)
    expect((await merchant.charge('k')).status).toBe(202)
  })
})

describe.each(transports)('faults that answer, through $name', (transport) => {
  test.each<[Fault, number, RegExp, RegExp]>([
    [{ operation: 'gateway.charge', kind: 'status' }, 500, /json/, /^\{"error":\{"code":"internal_error"/],
    [
      { operation: 'gateway.charge', kind: 'status', status: 422, body: { a: 1 } },
      422,
      /json/,
      /^\{"a":1\}$/,
    ],
    [{ operation: 'gateway.charge', kind: 'html' }, 502, /text\/html/, /^<!doctype html>/],
    [{ operation: 'gateway.charge', kind: 'empty' }, 202, /^$/, /^$/],
    [{ operation: 'gateway.charge', kind: 'malformed' }, 202, /json/, /^\{"status": "ok", $/],
  ])('%o answers instead of executing', async (fault, status, type, body) => {
    const { mock, g, key, charge } = await openMerchant(transport)
    mock.faults.add(fault)
    const answer = await g('/api/v1/mfs/charges', { headers: key('k'), body: '' })
    expect([answer.status, answer.headers.get('content-type') ?? '', answer.text]).toEqual([
      status,
      expect.stringMatching(type),
      expect.stringMatching(body),
    ])
    expect(mock.state.charges()).toEqual([])
    expect((await charge('k')).status).toBe(202)
  })

  test('rate-limit answers 429 in each area’s way', async () => {
    const { mock, login, g } = await openMerchant(transport)
    mock.faults.add({ operation: '*', kind: 'rate-limit', times: 2 })
    const ofS = await login()
    expect([ofS.status, ofS.headers.get('x-ratelimit-remaining'), ofS.headers.get('retry-after')]).toEqual([
      429,
      '0',
      null,
    ])
    const ofG = await g('/health', { method: 'GET' })
    expect([ofG.status, ofG.headers.get('retry-after')]).toEqual([429, '1'])
    mock.faults.add({ operation: 'gateway.health', kind: 'rate-limit', retryAfter: 'soon' })
    expect((await g('/health', { method: 'GET' })).headers.get('retry-after')).toBe('soon')
  })

  test('latency delays the answer of an executed request', async () => {
    const { mock, charge } = await openMerchant(transport)
    mock.faults.add({ operation: 'gateway.charge', kind: 'latency', latencyMs: 40 })
    const begun = performance.now()
    expect((await charge('k')).status).toBe(202)
    expect(performance.now() - begun).toBeGreaterThanOrEqual(39)
  })
})

describe('how often faults act', () => {
  const open = async (options?: MockOptions) => {
    const { mock, g, charge } = await openMerchant(throughFetch, options)
    const statuses = async (count: number) => {
      const seen: number[] = []
      for (let call = 0; call < count; call += 1) seen.push((await g('/health', { method: 'GET' })).status)
      return seen
    }
    return { mock, charge, statuses }
  }

  test('once by default, counted, or always until it is removed', async () => {
    const { mock, statuses } = await open()
    mock.faults.add({ operation: 'gateway.health', kind: 'status' })
    mock.faults.add({ operation: 'gateway.*', kind: 'status', status: 503, times: 2 })
    expect(await statuses(4)).toEqual([500, 503, 503, 200])
    const remove = mock.faults.add({ operation: '*', kind: 'status', times: 'always' })
    expect(await statuses(3)).toEqual([500, 500, 500])
    remove()
    expect(await statuses(1)).toEqual([200])
  })

  test('a fault of one operation leaves others alone', async () => {
    const { mock, charge, statuses } = await open()
    mock.faults.add({ operation: 'gateway.charge', kind: 'status' })
    expect(await statuses(1)).toEqual([200])
    expect((await charge('k')).status).toBe(500)
  })

  test('a sequence takes a step a call, and goes round as often as it is told', async () => {
    const { mock, statuses } = await open()
    mock.faults.add({
      operation: 'gateway.health',
      kind: 'status',
      status: 503,
      times: 2,
      sequence: ['fail', 'succeed', { kind: 'status', status: 500 }],
    })
    expect(await statuses(7)).toEqual([503, 200, 500, 503, 200, 500, 200])
  })

  test('a probability is drawn from the seed: the same again after a reset', async () => {
    const { mock, statuses } = await open({ seed: 7, gateway: { rateLimit: false } })
    const run = async () => {
      mock.faults.add({ operation: 'gateway.health', kind: 'status', probability: 0.5 })
      const seen = await statuses(200)
      mock.reset()
      return seen
    }
    const first = await run()
    expect(first.filter((status) => status === 500).length).toBeGreaterThan(70)
    expect(first.filter((status) => status === 500).length).toBeLessThan(130)
    expect(await run()).toEqual(first)
  })

  test('latency comes on top of another fault', async () => {
    const { mock, statuses } = await open()
    mock.faults.add({ operation: '*', kind: 'latency', latencyMs: 30, times: 'always' })
    mock.faults.add({ operation: 'gateway.health', kind: 'status' })
    const begun = performance.now()
    expect(await statuses(1)).toEqual([500])
    expect(performance.now() - begun).toBeGreaterThanOrEqual(29)
  })

  test('a forced 500, then the same key: the charge is made', async () => {
    const { mock, charge } = await openMerchant(throughFetch)
    mock.faults.add({ operation: 'gateway.charge', kind: 'status' })
    expect((await charge('k')).status).toBe(500)
    expect((await charge('k')).status).toBe(202)
    expect(mock.state.charges()).toHaveLength(1)
  })

  test('a request aborted while its answer is late was executed, and leaves no timer', async () => {
    const { mock, g, key } = await openMerchant(throughFetch)
    vi.useFakeTimers()
    try {
      mock.faults.add({ operation: 'gateway.charge', kind: 'latency', latencyMs: 60_000, times: 2 })
      const controller = new AbortController()
      const body = { msisdn: '+1', amount: 1, currency: 'BDT', redirect_uri: 'https://a.example' }
      const call = g('/api/v1/mfs/charges', { headers: key('k'), body, signal: controller.signal })
      await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1))
      controller.abort(new Error('gone'))
      await expect(call).rejects.toThrow('gone')
      expect(vi.getTimerCount()).toBe(0)
      expect(mock.state.charges()).toHaveLength(1)
    } finally {
      vi.useRealTimers()
    }
  })

  test('a request aborted before a latency that comes first is not executed', async () => {
    const { mock, g, key } = await openMerchant(throughFetch)
    mock.faults.add({ operation: 'gateway.charge', kind: 'latency', latencyMs: 60_000, executed: false })
    const controller = new AbortController()
    const body = { msisdn: '+1', amount: 1, currency: 'BDT', redirect_uri: 'https://a.example' }
    const call = g('/api/v1/mfs/charges', { headers: key('k'), body, signal: controller.signal })
    setTimeout(() => controller.abort(new Error('gone')), 5)
    await expect(call).rejects.toThrow('gone')
    expect(mock.state.charges()).toEqual([])
    expect(mock.requests.of('gateway.charge')[0]).toMatchObject({ executed: false, decision: 'aborted' })
  })

  test.each<[unknown, RegExp]>([
    [{ operation: 'gateway.pay', kind: 'status' }, /no operation "gateway.pay".*gateway\.charge/],
    [{ operation: 'gateway.charge', kind: 'explode' }, /no kind "explode".*lost-response/],
    [{ operation: 'gateway.charge' }, /kind is needed/],
    [{ operation: 'gateway.charge', kind: 'latency' }, /latencyMs/],
    [{ operation: 'gateway.charge', kind: 'status', status: 42 }, /status/],
    [{ operation: 'gateway.charge', kind: 'status', times: 0 }, /times/],
    [{ operation: 'gateway.charge', kind: 'status', probability: 2 }, /probability/],
    [{ operation: 'gateway.charge', sequence: [] }, /sequence/],
    [{ operation: 'gateway.charge', sequence: ['fail'] }, /"fail" needs kind/],
    [{ operation: 'gateway.charge', kind: 'lost-response', executed: false }, /take "reset"/],
    [{ operation: 'gateway.charge', kind: 'rate-limit', executed: true }, /take "status"/],
    [{ operation: 'gateway.charge', kind: 'status', latency: 5 }, /no field latency/],
    [null, /a fault is an object/],
    [{ operation: '*', kind: 'status', times: Number.NaN }, /times/],
    [{ operation: '*', kind: 'status', times: '2' }, /times/],
    [{ operation: '*', kind: 'status', probability: Number.NaN }, /probability/],
    [{ operation: '*', kind: 'status', executed: 'yes' }, /executed/],
    [{ operation: '*', kind: 'status', headers: { 'x-a': 'one\ntwo' } }, /headers/],
    [{ operation: '*', kind: 'status', headers: 'x-a: 1' }, /headers/],
    [{ operation: '*', kind: 'rate-limit', retryAfter: 'one\r\ntwo' }, /retryAfter/],
    [{ operation: '*', kind: 'rate-limit', retryAfter: 'soon 中' }, /retryAfter/],
    [{ operation: '*', kind: 'rate-limit', retryAfter: true }, /retryAfter/],
    [{ operation: '*', kind: 'status', body: 1n }, /body/],
    [{ operation: '*', kind: 'reset', code: 5 }, /code/],
    [{ operation: '*', kind: 'latency', latencyMs: -1 }, /latencyMs/],
    [{ operation: '*', kind: 'reset', status: 503 }, /status is for status, html.*"reset"/],
    [{ operation: '*', kind: 'empty', body: 'x' }, /body is for/],
    [{ operation: '*', kind: 'timeout', code: 'ECONNRESET' }, /code is for reset, lost-response/],
    [{ operation: '*', kind: 'html', retryAfter: 1 }, /retryAfter is for/],
    [{ operation: '*', sequence: 'fail' }, /sequence must be a list/],
    [{ operation: '*', sequence: [{ status: 500 }] }, /step of a sequence must have a kind/],
    [{ operation: '*', sequence: [null] }, /step of a sequence/],
    [{ operation: '*', sequence: ['succeed', { kind: 'reset', status: 500 }] }, /status is for/],
    [{ operation: '*', kind: 'reset', status: 503, sequence: ['fail', 'timeout'] }, /status is for/],
  ])('a fault that cannot be is refused: %o', async (fault, words) => {
    await openMerchant(throughFetch)
    expect(() => createMock().faults.add(fault as Fault)).toThrow(words)
  })

  test('truncated has nothing to cut short of a HEAD: executed, and the connection ends', async () => {
    const { mock, g } = await openMerchant(throughFetch)
    mock.faults.add({ operation: 'gateway.health', kind: 'truncated' })
    await expect(g('/health', { method: 'HEAD' })).rejects.toMatchObject({
      cause: { code: 'UND_ERR_SOCKET' },
    })
    expect(mock.requests.all()).toMatchObject([{ executed: true, fault: 'truncated' }])
  })

  test('a detail that only some steps of a sequence read is fine', () => {
    const { faults } = createMock()
    const add = (fault: Fault) => () => faults.add(fault)
    expect(add({ operation: '*', kind: 'status', status: 503, sequence: ['fail', 'reset'] })).not.toThrow()
    expect(
      add({ operation: '*', retryAfter: 7, sequence: ['rate-limit', { kind: 'html', status: 504 }] }),
    ).not.toThrow()
  })

  test('what is done to a fault after it was added changes nothing', async () => {
    const { mock, g } = await openMerchant(throughFetch)
    const steps: FaultStep[] = ['fail', 'succeed']
    const fault = { operation: 'gateway.health', kind: 'status', status: 503, sequence: steps } as const
    mock.faults.add(fault)
    Object.assign(fault, { status: 200, operation: 'gateway.charge' })
    steps.reverse()
    const health = async () => (await g('/health', { method: 'GET' })).status
    expect([await health(), await health()]).toEqual([503, 200])
  })
})
