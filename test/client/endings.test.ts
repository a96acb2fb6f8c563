import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import type { FetchFunction } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient, TOKEN } from '../support/clients.ts'
import { calls, failureOf, once, openClients } from '../support/open-clients.ts'
import { startServer } from '../support/scripted-server.ts'

/** Moves the date of the machine by some hours when it is called. */
const dateThatMoves = (hours: number) => () => {
  const now = Date.now()
  vi.spyOn(Date, 'now').mockReturnValue(now + hours * 3_600_000)
}

describe('case 18: a response whose body stalls', () => {
  const script = { status: 202, body: CHARGE, fault: 'stall' } as const

  it('ends the call at its timeout, and with an error status is that error', async () => {
    const stalled = { code: 'timeout', phase: 'response', outcome: 'unknown', timeoutMs: 1000 }
    const options = { ...once, timeout: 1000 }
    const refusal = { ...script, status: 404, body: { error: { code: 'x' } } }
    const refused = { code: 'api_error', status: 404, outcome: 'rejected' }
    const errors = [failureOf(script, calls.charge, options), failureOf(refusal, calls.status, options)]
    expect(await Promise.all(errors)).toMatchObject([stalled, refused])
  })

  it('ends the call when its signal is aborted, and the client does not retry', async () => {
    const abort = new AbortController()
    const fetchAndAbort: FetchFunction = async (url, request) => {
      const received = await fetch(url, request)
      setImmediate(() => abort.abort())
      return received
    }
    const { gateway, requests } = await openClients(script, { fetch: fetchAndAbort })
    const error = await errorOf(gateway.charge(CHARGE_REQUEST, { signal: abort.signal }))
    expect(error).toMatchObject({ code: 'aborted', phase: 'response', outcome: 'unknown', attempts: 1 })
    expect(getEventListeners(abort.signal, 'abort')).toEqual([])
    expect(requests).toHaveLength(1)
  })
})

describe('a machine that sleeps for hours', () => {
  const busy = { status: 503, headers: { 'retry-after': '0' } }

  it('before a retry ends the call, however long its timers have yet to run', async () => {
    const server = await startServer([busy])
    const charge = gatewayClient(server.url, { hooks: { onRetry: dateThatMoves(5) } }).charge(CHARGE_REQUEST)
    const overslept = { code: 'timeout', phase: 'wait', outcome: 'unknown', timeoutMs: 120_000 }
    expect(await errorOf(charge)).toMatchObject(overslept)
    expect(server.requests).toHaveLength(1)
  })

  it('during a login keeps the token that the login received', async () => {
    const sleep = dateThatMoves(5)
    const fetch: FetchFunction = async () => {
      sleep()
      return Response.json({ access_token: TOKEN, expires_in: 60 })
    }
    const login = subscriptionsClient('http://api.example', { fetch }).login()
    expect(await login).toMatchObject({ access_token: TOKEN })
  })

  it('or whose date is set back by hours does not end the call', async () => {
    const server = await startServer([busy, { status: 202, body: CHARGE }])
    const hooks = { onRetry: dateThatMoves(-5) }
    await expect(gatewayClient(server.url, { hooks }).charge(CHARGE_REQUEST)).resolves.toEqual(CHARGE)
  })
})

describe('an aborted signal', () => {
  const signal = AbortSignal.abort()

  it('ends a call, a wait and a login before anything is sent', async () => {
    const { subscriptions, gateway, requests } = await openClients({ body: DETAILS })
    for (const call of [
      subscriptions.details('sub-1', { signal }),
      subscriptions.login({ signal }),
      gateway.waitForCharge('ch_1', { signal }),
    ]) {
      const expected = { code: 'aborted', outcome: 'not-sent', attempts: 0, retryable: true }
      expect(await errorOf(call)).toMatchObject(expected)
    }
    expect(requests).toEqual([])
  })

  it('ends the wait before a retry, with the outcome so far', async () => {
    const abort = new AbortController()
    const server = await startServer([{ status: 503, headers: { 'retry-after': '20' } }])
    const gateway = gatewayClient(server.url, { hooks: { onRetry: () => abort.abort() } })
    const error = await errorOf(gateway.charge(CHARGE_REQUEST, { signal: abort.signal }))
    expect(error).toMatchObject({ code: 'aborted', phase: 'wait', outcome: 'unknown', attempts: 1 })
  })
})

it('a call ends within its total time although the given fetch ignores its signal', async () => {
  const fetch: FetchFunction = () => new Promise(() => undefined)
  const error = await failureOf({}, calls.charge, { fetch, totalTimeout: 60 })
  expect(error).toMatchObject({ code: 'timeout', outcome: 'unknown', timeoutMs: 60 })
})

it('the fetch of the runtime is looked up when the method is called', async () => {
  const gateway = gatewayClient('http://gateway.example')
  vi.stubGlobal('fetch', async () => Response.json(CHARGE))
  expect((await gateway.charge(CHARGE_REQUEST)).id).toBe('ch_1')
})
