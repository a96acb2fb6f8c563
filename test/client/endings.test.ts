import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { FetchFunction } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient, TOKEN } from '../support/clients.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'
import { skippingClock } from '../support/skipping-clock.ts'

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

afterEach(() => vi.restoreAllMocks())

/** Moves the machine's date by some hours once it is called. */
const dateThatMoves = (hours: number) => () => {
  const now = Date.now()
  vi.spyOn(Date, 'now').mockReturnValue(now + hours * 3_600_000)
}

describe('a call ends', () => {
  it('by its timeout when headers came and the body stalls', async () => {
    const server = await startServer([{ status: 202, body: CHARGE, fault: 'stall' }])
    const error = await errorOf(
      gatewayClient(server.url, { retry: false }).charge(CHARGE_REQUEST, { timeout: 400 }),
    )
    expect(error).toMatchObject({ code: 'timeout', phase: 'response', outcome: 'unknown', timeoutMs: 400 })
  })

  it('as the refusal that it was when the body of an error stalls', async () => {
    const server = await startServer([{ status: 404, body: { error: { code: 'x' } }, fault: 'stall' }])
    const error = await errorOf(gatewayClient(server.url).status('ch_1', { timeout: 60 }))
    expect(error).toMatchObject({ code: 'api_error', status: 404, outcome: 'rejected' })
  })

  it('by an abort in the body phase, and is not repeated', async () => {
    const abort = new AbortController()
    const server = await startServer([{ status: 202, body: CHARGE, fault: 'stall' }])
    const fetchAndAbort: FetchFunction = async (url, request) => {
      const answer = await fetch(url, request)
      setImmediate(() => abort.abort())
      return answer
    }
    const gateway = gatewayClient(server.url, { fetch: fetchAndAbort })
    const error = await errorOf(gateway.charge(CHARGE_REQUEST, { signal: abort.signal }))
    expect(error).toMatchObject({ code: 'aborted', phase: 'response', outcome: 'unknown', attempts: 1 })
    expect(server.requests).toHaveLength(1)
  })

  it('before a repeat that the machine slept over, however long its timers have yet to run', async () => {
    const server = await startServer([{ status: 503, headers: { 'retry-after': '0' } }])
    const sleep = dateThatMoves(5)
    const charge = errorOf(gatewayClient(server.url, { hooks: { onRetry: sleep } }).charge(CHARGE_REQUEST))
    const overslept = { code: 'timeout', phase: 'wait', outcome: 'unknown', timeoutMs: 120_000 }
    expect(await charge).toMatchObject(overslept)
    expect(server.requests).toHaveLength(1)
  })

  it('well when the machine slept over a login that was answered', async () => {
    const sleep = dateThatMoves(5)
    const fetch: FetchFunction = async () => {
      sleep()
      return new Response(JSON.stringify({ access_token: TOKEN, expires_in: 60 }))
    }
    const token = await subscriptionsClient('http://api.example', { fetch }).login()
    expect(token).toMatchObject({ access_token: TOKEN })
  })

  it('as ever when the machine’s date is set back by hours', async () => {
    const again = { status: 503, headers: { 'retry-after': '0' } }
    const server = await startServer([again, { status: 202, body: CHARGE }])
    const hooks = { onRetry: dateThatMoves(-5) }
    await expect(gatewayClient(server.url, { hooks }).charge(CHARGE_REQUEST)).resolves.toEqual(CHARGE)
  })

  it('before any I/O when its signal was aborted already', async () => {
    const server = await startServer(withLogin([{ body: DETAILS }]))
    const error = await errorOf(
      subscriptionsClient(server.url).details('sub-1', { signal: AbortSignal.abort() }),
    )
    expect(error).toMatchObject({ code: 'aborted', outcome: 'not-sent', attempts: 0 })
    expect(server.requests).toEqual([])
  })

  it('by an abort while it waits before a repeat, with the outcome so far', async () => {
    const abort = new AbortController()
    const server = await startServer([{ status: 503, headers: { 'retry-after': '20' } }])
    const gateway = gatewayClient(server.url, { hooks: { onRetry: () => abort.abort() } })
    const error = await errorOf(gateway.charge(CHARGE_REQUEST, { signal: abort.signal }))
    expect(error).toMatchObject({ code: 'aborted', phase: 'wait', outcome: 'unknown', attempts: 1 })
  })

  it('by an abort while it waits for a login, which goes on for the others', async () => {
    const abort = new AbortController()
    const answers = withLogin([{ body: DETAILS }])
    const server = await startServer(async (request) => {
      if (request.url === '/oauth/token') {
        abort.abort()
        await new Promise(setImmediate)
      }
      return answers(request)
    })
    const subscriptions = subscriptionsClient(server.url)
    const leaving = errorOf(subscriptions.details('sub-1', { signal: abort.signal }))
    const staying = subscriptions.details('sub-1')
    expect(await leaving).toMatchObject({ code: 'aborted', phase: 'login', outcome: 'not-sent' })
    expect((await staying).id).toBe('sub-1')
    expect(server.requests.filter(({ url }) => url === '/oauth/token')).toHaveLength(1)
  })

  it('within its total time although the given fetch ignores its signal', async () => {
    const deaf: FetchFunction = () => new Promise(() => undefined)
    const gateway = gatewayClient('http://127.0.0.1:1', { fetch: deaf, totalTimeout: 60 })
    expect(await errorOf(gateway.charge(CHARGE_REQUEST))).toMatchObject({
      code: 'timeout',
      outcome: 'unknown',
      timeoutMs: 60,
    })
  })
})

it('no call leaves a timer, or a listener on the caller’s signal, however it ends', async () => {
  const server = await startServer((request) => {
    if (request.url.includes('stall')) return { body: CHARGE, fault: 'stall' }
    if (request.url.includes('close')) return { fault: 'close' }
    return request.url.includes('gone') ? { status: 404 } : { body: CHARGE }
  })
  const gateway = gatewayClient(server.url, { clock: skippingClock(), timeout: 50 })
  const { signal } = new AbortController()
  const before = timers()
  await gateway.status('fine', { signal })
  for (const id of ['stall', 'close', 'gone']) await errorOf(gateway.status(id, { signal }))
  await errorOf(gateway.status('', { signal }))
  expect(listeners(signal)).toBe(0)
  expect(timers()).toBeLessThanOrEqual(before)
})

describe('any fetch will do', () => {
  it('it is called without a this and with plain members only', async () => {
    const seen: { self: unknown; url: unknown; request: unknown }[] = []
    const own = async function (this: unknown, url: string, request: RequestInit) {
      seen.push({ self: this, url, request })
      return new Response(JSON.stringify(CHARGE), { status: 202 })
    }
    await gatewayClient('http://gateway.example/base', { fetch: own as FetchFunction }).charge(
      CHARGE_REQUEST,
      {
        idempotencyKey: 'k',
      },
    )
    expect(seen).toEqual([
      {
        self: undefined,
        url: 'http://gateway.example/base/api/v1/mfs/charges',
        request: {
          method: 'POST',
          headers: {
            accept: 'application/json',
            authorization: 'Bearer api-key-5512ab90',
            'content-type': 'application/json',
            'idempotency-key': 'k',
          },
          body: JSON.stringify(CHARGE_REQUEST),
          signal: expect.any(AbortSignal),
          redirect: 'manual',
        },
      },
    ])
  })

  it('the platform’s fetch is looked up at the time of the call', async () => {
    const gateway = gatewayClient('http://gateway.example')
    const original = globalThis.fetch
    globalThis.fetch = async () => new Response(JSON.stringify(CHARGE), { status: 202 })
    try {
      expect((await gateway.charge(CHARGE_REQUEST)).id).toBe('ch_1')
    } finally {
      globalThis.fetch = original
    }
  })

  it('a failure without a recognized code proves nothing', async () => {
    for (const thrown of [new TypeError('Failed to fetch'), 'text', undefined, { code: 'EXOTIC' }]) {
      const gateway = gatewayClient('http://gateway.example', {
        fetch: () => Promise.reject(thrown),
        retry: false,
      })
      const error = await errorOf(gateway.charge(CHARGE_REQUEST))
      expect(error).toMatchObject({ code: 'connection_failed', outcome: 'unknown' })
    }
  })

  it('a fetch that resolves to something else is a failure of unknown outcome', async () => {
    for (const answer of [undefined, {}, 'ok']) {
      const own = (async () => answer) as unknown as FetchFunction
      const error = await errorOf(
        gatewayClient('http://gateway.example', { fetch: own, retry: false }).reset(),
      )
      expect(error).toMatchObject({ code: 'connection_failed', outcome: 'unknown' })
    }
  })
})
