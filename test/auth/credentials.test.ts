import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import type { ApiKeySource } from '../../src/index.ts'
import { SUBSCRIPTION } from '../support/bodies.ts'
import { CREDENTIALS, errorOf, gatewayClient } from '../support/clients.ts'
import { refusedBy, textOf } from '../support/refused.ts'
import { startServer } from '../support/scripted-server.ts'
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
    await Promise.all(Array.from({ length: 50 }, () => details()))
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
    for (const secret of [CREDENTIALS.password, CREDENTIALS.clientSecret, 'access-1', 'refresh-1']) {
      expect(words).not.toContain(secret)
    }
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
  const open = async (apiKey: ApiKeySource) => {
    const server = await startServer([{ body: { status: 'succeeded' } }])
    return { server, read: () => gatewayClient(server.url, { apiKey, retry: false }).status('ch_1') }
  }

  it('from a function is requested for each call, so that it can rotate', async () => {
    const apiKey = vi.fn<() => string>().mockReturnValueOnce('key-1').mockReturnValueOnce('key-2')
    const { server, read } = await open(apiKey)
    await read()
    await read()
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer key-1',
      'Bearer key-2',
    ])
  })

  it.each(['hunter2\n', 'hünter2', ''])('%j from a function is refused without a quote', async (key) => {
    const { server, read } = await open(() => key)
    const error = await refusedBy(read)
    expect(textOf(error)).not.toMatch(/h[uü]nter2/)
    expect(server.requests).toEqual([])
  })

  it('from a function that fails gives an error without its text', async () => {
    const { server, read } = await open(() => Promise.reject(new TypeError('hunter2')))
    const error = await errorOf(read())
    expect(error).toMatchObject({ code: 'invalid_request', operation: 'gateway.status', retryable: true })
    expect(error.message).toMatch(/apiKey.*TypeError/)
    expect(textOf(error)).not.toContain('hunter2')
    expect(server.requests).toEqual([])
  })

  it('from a function that never returns does not delay an abort', async () => {
    const controller = new AbortController()
    const client = gatewayClient('http://127.0.0.1:1', { apiKey: () => new Promise<string>(() => undefined) })
    const waiting = errorOf(client.status('ch_1', { signal: controller.signal }))
    controller.abort(new Error('gone'))
    expect(await waiting).toMatchObject({ code: 'aborted', outcome: 'not-sent', attempts: 0 })
  })
})
