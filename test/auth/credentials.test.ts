import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { ApiKeySource } from '../../src/index.ts'
import { CREDENTIALS, errorOf, gatewayClient } from '../support/clients.ts'
import { refusedBy, textOf } from '../support/refused.ts'
import type { Script, ScriptedServer } from '../support/scripted-server.ts'
import { startServer } from '../support/scripted-server.ts'
import { api, merchant } from '../support/token-set-up.ts'

describe('credentials', () => {
  it('in any alphabet and with quotes reach the server as they are', async () => {
    const credentials = { ...CREDENTIALS, username: 'মার্চেন্ট', password: 'pa"ss\\wörd 🔑 ' }
    await merchant({ credentials }).details()
    expect(api.tokenRequests[0]).toMatchObject({
      username: credentials.username,
      password: credentials.password,
    })
  })

  it('changed after the client was made do not reach it', async () => {
    const credentials = { ...CREDENTIALS }
    const { details } = merchant({ credentials })
    credentials.password = 'other'
    await details()
    expect(api.tokenRequests[0]?.password).toBe(CREDENTIALS.password)
  })

  it('from a function are asked for once a login, not once a call', async () => {
    let asked = 0
    const { details, login } = merchant({
      credentials: async () => {
        asked += 1
        return CREDENTIALS
      },
    })
    await Promise.all(Array.from({ length: 50 }, () => details()))
    await details()
    expect(asked).toBe(1)
    await login()
    expect(asked).toBe(2)
  })

  it('from a function that fails give a typed error without its words, and the next call asks again', async () => {
    let asked = 0
    const { details } = merchant({
      credentials: () => {
        asked += 1
        if (asked > 1) return CREDENTIALS
        throw Object.assign(new Error('could not read hunter2'), { code: 'ECONNREFUSED' })
      },
    })
    const error = await details().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'invalid_request',
      phase: 'login',
      outcome: 'not-sent',
      retryable: true,
    })
    expect((error as Error).message).toContain('ECONNREFUSED')
    expect(textOf(error)).not.toContain('hunter2')
    await details()
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('from a function that gives something else are refused, unquoted', async () => {
    const given = { ...CREDENTIALS, password: 'hunter2\r\n' }
    const error = await merchant({ credentials: async () => given })
      .details()
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'invalid_request', phase: 'login' })
    expect(textOf(error)).not.toContain('hunter2')
    expect(api.tokenRequests).toEqual([])
  })

  it('and tokens are not to be seen in the client', async () => {
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
    const userReturnURL = 'https://shop.example/return'
    const dates = { start: '2026-12-01', end: '2027-01-01' }
    await client.subscribe({ ...dates, requestID: 'r-1', cycle: 'DAILY', amount: '25.00', userReturnURL })
    expect(api.bodies[0]).toMatchObject({ clientID: CREDENTIALS.clientId })
  })
})

describe('an API key', () => {
  const open = async (apiKey: ApiKeySource, script: Script = { body: { status: 'succeeded' } }) => {
    const server = await startServer([script])
    return { server, read: () => gatewayClient(server.url, { apiKey, retry: false }).status('ch_1') }
  }
  const sentBy = ({ requests }: ScriptedServer) => requests.map(({ headers }) => headers.authorization)

  it('stands behind Bearer, and a 401 is final', async () => {
    const { server, read } = await open('key-1', { status: 401 })
    expect(await errorOf(read())).toMatchObject({ code: 'authentication_failed', attempts: 1 })
    expect(sentBy(server)).toEqual(['Bearer key-1'])
  })

  it('from a function is asked for each attempt, so that it can rotate', async () => {
    let asked = 0
    const { server, read } = await open(async () => {
      asked += 1
      return `key-${asked}`
    })
    await read()
    await read()
    expect(sentBy(server)).toEqual(['Bearer key-1', 'Bearer key-2'])
  })

  it.each(['hunter2\n', 'hunter2 ', 'hünter2', ''])(
    'that a function returns as %j is refused, unquoted',
    async (key) => {
      const { server, read } = await open(() => key)
      const error = await refusedBy(read)
      expect(textOf(error)).not.toMatch(/h[uü]nter2/)
      expect(server.requests).toEqual([])
    },
  )

  it('from a function that fails gives a typed error without its words', async () => {
    const { server, read } = await open(() => Promise.reject(new TypeError('hunter2')))
    const error = await errorOf(read())
    expect(error).toMatchObject({ code: 'invalid_request', operation: 'gateway.status', retryable: true })
    expect(error.message).toContain('TypeError')
    expect(textOf(error)).not.toContain('hunter2')
    expect(server.requests).toEqual([])
  })

  it('from a function that never answers is given up when the caller aborts', async () => {
    const controller = new AbortController()
    const client = gatewayClient('http://127.0.0.1:1', { apiKey: () => new Promise<string>(() => undefined) })
    const waiting = errorOf(client.status('ch_1', { signal: controller.signal }))
    controller.abort(new Error('gone'))
    expect(await waiting).toMatchObject({ code: 'aborted', outcome: 'not-sent', attempts: 0 })
  })
})
