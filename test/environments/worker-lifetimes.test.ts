import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHARGE } from '../support/bodies.ts'
import { payment } from '../support/messages.ts'
import { type Script, startServer } from '../support/scripted-server.ts'
import { full } from '../support/sizes.ts'
import { api, useTokenServer } from '../support/token-set-up.ts'
import { startWorker } from '../support/worker.ts'

// workerd ends what a request started when the request ends: its timers never fire, and its promises never settle, or
// reject with a foreign error for a later request. Clients outside the handler must get over that.

useTokenServer()

const configOf = (date: string) => `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "worker", worker = .worker), (name = "internet", network = (allow = ["private"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "${date}",
);
`

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Grants every login, the first after a delay. */
const delayFirstLogin = (delay: number) => {
  api.onToken = async (_request, index) => {
    if (index === 1) await sleep(delay)
    return { body: api.tokenBody(index) }
  }
}

/** A gateway that reports so many remaining requests, or does not respond at all. */
const openGateway = (responses: readonly (number | 'silence')[], resetIn = 60) =>
  startServer((_, index): Script => {
    const remaining = responses[index] ?? 60
    if (remaining === 'silence') return { fault: 'silent' }
    const reset = Math.ceil(Date.now() / 1000) + resetIn
    const headers = { 'x-ratelimit-remaining': `${remaining}`, 'x-ratelimit-reset': `${reset}` }
    return { body: CHARGE, headers: { 'x-ratelimit-limit': '60', ...headers } }
  })

const NEW = '2026-11-01'
// The first date at which what a request resolves goes on in the request that waits for it.
const OLD = '2024-10-14'
const DONE = '200 done'
const ENDED = '200 ended'

describe.each(full ? [NEW, OLD] : [NEW])('in a worker of %s', (date) => {
  let worker: Awaited<ReturnType<typeof startWorker>>
  beforeAll(async () => {
    worker = await startWorker('test/environments/lifetimes-worker.ts', configOf(date))
  })
  afterAll(() => worker.stop())

  /** Makes a request to the worker, whose clients call the API at `url`. Returns the status and the body. */
  const ask = async (path: string, url = api.url, init: RequestInit = {}) => {
    const address = `${worker.url}${path}${path.includes('?') ? '&' : '?'}api=${url}`
    const response = await fetch(address, { signal: AbortSignal.timeout(15_000), ...init })
    return `${response.status} ${await response.text()}`.trim()
  }

  test('requests that come together share one login', async () => {
    delayFirstLogin(500)
    expect(await Promise.all([ask('/details'), ask('/details'), ask('/login')])).toEqual([DONE, DONE, DONE])
    expect(api.tokenRequests).toHaveLength(1)
  })

  test('case 57: a login whose call has timed out is made again by the next request', async () => {
    delayFirstLogin(1_500)
    expect(await ask('/details?total=500')).toBe('200 timeout not-sent')
    await sleep(2_000)
    expect(await Promise.all([ask('/details'), ask('/details')])).toEqual([DONE, DONE])
    expect(api.tokenRequests).toHaveLength(2)
  })

  test.each([
    ['a call', '/details', '/details'],
    ['login()', '/login', '/login'],
    ['login(), for a later call', '/login', '/details'],
    ['a call, for a later login()', '/details', '/login'],
    ['a client with the same store', '/details/one', '/details/other'],
  ])('a login of %s blocks no later request after its own has ended', async (_, first, later) => {
    delayFirstLogin(1_500)
    expect(await ask(`${first}?end=500`)).toBe(ENDED)
    expect(await Promise.all([ask(later), ask(later)])).toEqual([DONE, DONE])
  })

  test('a call that waits for the login of another request goes on when that request ends', async () => {
    delayFirstLogin(2_000)
    const first = ask('/details?end=800')
    await sleep(300)
    expect(await Promise.all([first, ask('/details'), ask('/login')])).toEqual([ENDED, DONE, DONE])
  })

  test.each([0, 5, 20])(
    'a login that is rejected when its request ends (+ %i ms) blocks no later one',
    async (more) => {
      api.onToken = () => sleep(300 - more).then(() => ({ status: 401, body: {} }))
      await ask('/details?end=300')
      expect(await ask('/details')).toMatch(/^200 authentication_failed/)
      api.grant()
      expect(await Promise.all([ask('/login'), ask('/login')])).toEqual([DONE, DONE])
    },
  )

  test('case 58: calls whose requests have ended leave their places at the rate limit', async () => {
    const { url } = await openGateway([6, ...Array(6).fill('silence')])
    expect(await ask('/charge', url)).toBe(DONE)
    const ended = await Promise.all(Array.from({ length: 6 }, () => ask('/charge?end=500', url)))
    expect(ended).toEqual(Array(6).fill(ENDED))
    expect(await Promise.all([ask('/charge', url), ask('/charge', url)])).toEqual([DONE, DONE])
  })

  test.each([
    ['in flight', [1, 'silence'] as const, ['/charge/patient?total=1500&end=500']],
    [
      'that waited before',
      [1, 'silence'] as const,
      ['/charge?end=500', '/charge/patient?total=3000&end=300'],
    ],
  ])(
    'case 137: the place of a call %s ends with its totalTimeout, which is shorter than its timeout',
    async (_, script, paths) => {
      const { url } = await openGateway(script)
      expect(await ask('/charge', url)).toBe(DONE)
      const ended = []
      for (const path of paths) {
        ended.push(ask(path, url))
        await sleep(100)
      }
      expect(await Promise.all(ended)).toEqual(paths.map(() => ENDED))
      expect(await ask('/charge/patient?total=10000', url)).toBe(DONE)
    },
  )

  test('a waiter at the rate limit is passed over after its request has ended', async () => {
    const { url } = await openGateway([1, 'silence'])
    expect(await ask('/charge', url)).toBe(DONE)
    const first = ask('/charge?end=500', url)
    await sleep(200)
    const second = ask('/charge?end=500', url)
    await sleep(200)
    const later = ask('/charge?total=7000', url)
    expect(await Promise.all([first, second, later])).toEqual([ENDED, ENDED, DONE])
  })

  test('a waiter at the rate limit wakes, although the waiter before it has ended', async () => {
    const { url } = await openGateway([0], 3)
    expect(await ask('/charge', url)).toBe(DONE)
    const first = ask('/charge?end=600', url)
    await sleep(300)
    const later = [ask('/charge?total=7000', url), ask('/charge?total=7000', url)]
    expect(await Promise.all([first, ...later])).toEqual([ENDED, DONE, DONE])
  })

  test('a notification whose request has ended is processed when it is delivered again', async () => {
    const message = { method: 'POST', body: JSON.stringify(payment()) }
    expect(await ask('/notifications?end=500', api.url, message)).toBe(ENDED)
    expect(await ask('/notifications', api.url, message)).toBe('503')
    await sleep(2_000)
    expect(await ask('/notifications', api.url, message)).toBe('200')
  })
})
