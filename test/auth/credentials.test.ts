import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { type ApiKeySource, nextStep } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, SUBSCRIPTION } from '../support/bodies.ts'
import { API_KEY, CREDENTIALS, errorOf, gatewayClient } from '../support/clients.ts'
import { refusedBy, textOf } from '../support/refused.ts'
import { type Script, startServer } from '../support/scripted-server.ts'
import { sized } from '../support/sizes.ts'
import { skippingClock } from '../support/skipping-clock.ts'
import { api, merchant, useTokenServer } from '../support/token-set-up.ts'

useTokenServer()

describe('credentials', () => {
  it('in any alphabet and with quotes are sent unchanged', async () => {
    const given = { username: 'মার্চেন্ট', password: 'pa"ss\\wörd 🔑 ' }
    await merchant({ credentials: { ...CREDENTIALS, ...given } }).details()
    expect(api.tokenRequests[0]).toMatchObject(given)
  })

  it('that change after the client was created do not change it', async () => {
    const credentials = { ...CREDENTIALS }
    const { details } = merchant({ credentials })
    credentials.password = 'other'
    await details()
    expect(api.tokenRequests[0]?.password).toBe(CREDENTIALS.password)
  })

  it('from a function are requested once for each login', async () => {
    const credentials = vi.fn(async () => CREDENTIALS)
    const { details, login } = merchant({ credentials })
    await Promise.all(Array.from({ length: sized(1000, 300) }, () => details()))
    await details()
    expect(credentials).toHaveBeenCalledTimes(1)
    await login()
    expect(credentials).toHaveBeenCalledTimes(2)
  })

  it('from a function that fails give an error without its text, and the next call tries again', async () => {
    const failure = Object.assign(new Error('could not read hunter2'), { code: 'ECONNREFUSED' })
    const credentials = vi.fn(() => CREDENTIALS).mockThrowOnce(failure)
    const { details } = merchant({ credentials })
    const error = await errorOf(details())
    const facts = { code: 'invalid_request', phase: 'login', outcome: 'not-sent', retryable: true }
    expect(error).toMatchObject(facts)
    expect(error.message).toMatch(/credentials.*ECONNREFUSED/)
    expect(textOf(error)).not.toContain('hunter2')
    await details()
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('from a function that returns unusable values are refused without a quote', async () => {
    const given = { ...CREDENTIALS, password: 'hunter2\r\n' }
    const error = await errorOf(merchant({ credentials: async () => given }).details())
    expect(error).toMatchObject({ code: 'invalid_request', phase: 'login' })
    expect(textOf(error)).not.toContain('hunter2')
    expect(api.tokenRequests).toEqual([])
  })

  it('and tokens are not visible in the client', async () => {
    const { client, details } = merchant({ refresh: 'refresh_token' })
    await details()
    const words = inspect(client, { depth: 20, showHidden: true })
    for (const secret of [CREDENTIALS.password, CREDENTIALS.clientSecret, 'access-1', 'refresh-1'])
      expect(words).not.toContain(secret)
  })

  it.each([
    ['fixed', CREDENTIALS],
    ['from a function', async () => CREDENTIALS],
  ])('that are %s give subscribe its clientID', async (_name, credentials) => {
    const { client } = merchant({ credentials })
    await client.subscribe(SUBSCRIPTION)
    expect(api.bodies[0]).toMatchObject({ clientID: CREDENTIALS.clientId })
  })
})

describe('an API key', () => {
  const open = async (apiKey: ApiKeySource, ...answers: Script[]) => {
    const server = await startServer(answers.length > 0 ? answers : [{ body: { status: 'succeeded' } }])
    const client = gatewayClient(server.url, { apiKey, clock: skippingClock() })
    const sent = () => server.requests.map(({ headers }) => headers.authorization)
    return { client, sent, charge: () => client.charge(CHARGE_REQUEST), read: () => client.status('ch_1') }
  }

  it('from a function is requested for each call, so that it can rotate', async () => {
    const apiKey = vi.fn<() => string>().mockReturnValueOnce('key-1').mockReturnValueOnce('key-2')
    const { sent, read } = await open(apiKey)
    await read()
    await read()
    expect(sent()).toEqual(['Bearer key-1', 'Bearer key-2'])
  })

  const lost = { status: 503 }
  const charged = { status: 202, body: CHARGE }
  const onceThenClosed = () =>
    vi
      .fn(() => API_KEY)
      .mockReturnValueOnce(API_KEY)
      .mockThrow(new Error('The vault is closed.'))

  it('case 139: that changes during a call is not used for a retry, but for the next call', async () => {
    const { sent, charge } = await open(onceThenClosed(), lost, charged)
    await charge()
    expect(sent()).toEqual([`Bearer ${API_KEY}`, `Bearer ${API_KEY}`])
    expect(await errorOf(charge())).toMatchObject({ outcome: 'not-sent', attempts: 0 })
    expect(sent()).toHaveLength(2)
  })

  it('case 139: that is rejected after a lost response ends the call with an unknown outcome', async () => {
    const { sent, charge } = await open(onceThenClosed(), lost, { status: 401, body: {} })
    const error = await errorOf(charge())
    expect(error).toMatchObject({ status: 401, outcome: 'unknown', attempts: 2 })
    expect(error.message).toContain('a retry would fail, or act twice')
    expect(nextStep(error)).toEqual({ step: 'find-out', how: 'find-charge' })
    expect(sent()).toHaveLength(2)
  })

  it.each(['hunter2\n', 'hünter2', ''])('%j from a function is refused without a quote', async (key) => {
    const { sent, read } = await open(() => key)
    expect(textOf(await refusedBy(read))).not.toMatch(/h[uü]nter2/)
    expect(sent()).toEqual([])
  })

  it('from a function that fails gives an error without its text', async () => {
    const { sent, read } = await open(() => Promise.reject(new TypeError('hunter2')))
    const error = await errorOf(read())
    expect(error).toMatchObject({ code: 'invalid_request', operation: 'gateway.status', retryable: true })
    expect(error.message).toMatch(/apiKey.*TypeError/)
    expect(textOf(error)).not.toContain('hunter2')
    expect(sent()).toEqual([])
  })

  it('from a function that never returns does not delay an abort', async () => {
    const controller = new AbortController()
    const { client } = await open(() => new Promise<string>(() => undefined))
    const waiting = errorOf(client.status('ch_1', { signal: controller.signal }))
    controller.abort(new Error('gone'))
    expect(await waiting).toMatchObject({ code: 'aborted', outcome: 'not-sent', attempts: 0 })
  })
})
