import { expect, onTestFinished, test, vi } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { CHARGES, KEYS, START } from './open.ts'

const open = () => {
  const mock = createMock({ clock: START })
  return { mock, base: mock.clientOptions.gateway.baseUrl }
}

test('mock.fetch responds without a timer when everything but promises is faked', async () => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'setImmediate', 'Date', 'performance'],
    now: new Date('2030-01-01T00:00:00Z'),
  })
  onTestFinished(() => void vi.useRealTimers())
  const mock = createMock()
  const answer = await mock.fetch(`${mock.clientOptions.gateway.baseUrl}${CHARGES}`, {
    method: 'POST',
    headers: KEYS,
    body: '{"msisdn":"+12","amount":1,"currency":"BDT","redirect_uri":"https://a.example"}',
  })
  expect(await answer.json()).toMatchObject({ created_at: '2030-01-01T00:00:00.000Z' })
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(24 * 3_600_000)
  expect(mock.state.charges()[0]?.status).toBe('expired')
})

test('mock.fetch accepts a URL, a Request, and a Request with options, without this', async () => {
  const { fetch, clientOptions } = createMock()
  const url = new URL(`${clientOptions.gateway.baseUrl}/health`)
  const calls = [fetch(url), fetch(new Request(url)), fetch(new Request(url), { method: 'HEAD' })]
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200])
})

test('mock.fetch rejects for an unknown host, and the error names the host without the path', async () => {
  const { mock, base } = open()
  const call = mock.fetch('https://elsewhere.example/path?password=secret')
  await expect(call).rejects.toMatchObject({ name: 'TypeError', cause: { code: 'ENOTFOUND' } })
  for (const host of [base, 'https://elsewhere.example']) await expect(call).rejects.toThrow(host)
  await expect(call).rejects.not.toThrow(/secret/)
})

test('a signal that is aborted before the call rejects it with its reason, and nothing is logged', async () => {
  const { mock, base } = open()
  const reason = new Error('not now')
  await expect(mock.fetch(`${base}/health`, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  expect(mock.requests.all()).toEqual([])
})

test('an abort ends waiting calls even after their request objects are collected', async () => {
  const { mock, base } = open()
  mock.faults.add({ operation: 'gateway.health', kind: 'timeout', times: 'always' })
  const controller = new AbortController()
  const calls = Array.from({ length: 50 }, () => mock.fetch(`${base}/health`, { signal: controller.signal }))
  await vi.waitFor(() => expect(mock.requests.all()).toHaveLength(50))
  // Enough garbage for a collection or two.
  for (let round = 0; round < 200; round += 1) new Array(100_000).fill(round)
  controller.abort(new Error('enough'))
  const settled = await Promise.allSettled(calls)
  expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(['rejected']))
})

test.each(['breaks', 'stalls'] as const)(
  'a body that %s fails the call, and executes nothing',
  async (then) => {
    const { mock, base } = open()
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(new TextEncoder().encode('{"msisdn":')),
      pull: (stream) =>
        then === 'breaks' ? stream.error(new Error('the disk is gone')) : new Promise(() => undefined),
    })
    const controller = new AbortController()
    const init = { method: 'POST', headers: KEYS, body, duplex: 'half', signal: controller.signal } as const
    const call = mock.fetch(`${base}${CHARGES}`, init)
    if (then === 'stalls') controller.abort(new Error('enough'))
    await expect(call).rejects.toThrow(then === 'stalls' ? 'enough' : TypeError)
    expect(mock.state.charges()).toEqual([])
    if (then === 'breaks')
      expect(mock.requests.all()).toMatchObject([{ decision: 'aborted', executed: false }])
  },
)
