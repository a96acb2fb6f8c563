import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createApiKeyAuthorizer } from '../../src/auth/api-key.ts'
import { CREDENTIALS } from './merchant.ts'
import { api, merchant } from './platform.ts'

const everyWord = (value: unknown): string =>
  [
    inspect(value, { depth: 20, showHidden: true }),
    JSON.stringify(value),
    String((value as Error).stack),
  ].join('\n')

describe('credentials', () => {
  it.each([
    ['a line break at its end', 'from-a-file\n'],
    ['no text', ''],
    ['blanks', '   '],
    ['half a surrogate pair', 'half-\ud800-pair'],
    ['a number', 42],
    ['null', null],
  ])('with a password of %s are refused at once, unquoted', (_name, password) => {
    const make = () => merchant({ credentials: { ...CREDENTIALS, password: password as string } })
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_request', outcome: 'not-sent' }))
    try {
      make()
    } catch (error) {
      expect((error as Error).message).toContain('credentials.password')
      for (const secret of ['from-a-file', 'half-', CREDENTIALS.clientSecret]) {
        expect(everyWord(error)).not.toContain(secret)
      }
    }
  })

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
    expect(everyWord(error)).not.toContain('hunter2')
    await details()
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('from a function that gives something else are refused, unquoted', async () => {
    const given = { ...CREDENTIALS, password: 'hunter2\r\n' }
    const error = await merchant({ credentials: async () => given })
      .details()
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'invalid_request', phase: 'login' })
    expect(everyWord(error)).not.toContain('hunter2')
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
  const context = { operation: 'gateway.charge', signal: undefined, remaining: 1000 }

  it('stands behind Bearer, and a 401 is final', async () => {
    const authorizer = createApiKeyAuthorizer('key-1')
    const authorization = await authorizer.authorize(context)
    expect(authorization.header).toBe('Bearer key-1')
    expect(await authorizer.refused(authorization, context)).toBe(false)
  })

  it('from a function is asked for each attempt, so that it can rotate', async () => {
    let asked = 0
    const authorizer = createApiKeyAuthorizer(async () => {
      asked += 1
      return `key-${asked}`
    })
    expect((await authorizer.authorize(context)).header).toBe('Bearer key-1')
    expect((await authorizer.authorize(context)).header).toBe('Bearer key-2')
  })

  it.each(['hunter2\n', 'hunter2 ', 'hünter2', ''])('that reads %j is refused, unquoted', async (key) => {
    const errors = [
      await Promise.resolve()
        .then(() => createApiKeyAuthorizer(key))
        .catch((reason: unknown) => reason),
      await createApiKeyAuthorizer(() => key)
        .authorize(context)
        .catch((reason: unknown) => reason),
    ]
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'invalid_request', outcome: 'not-sent' })
      expect(everyWord(error)).not.toMatch(/h[uü]nter2/)
    }
  })

  it('from a function that fails gives a typed error without its words', async () => {
    const authorizer = createApiKeyAuthorizer(() => Promise.reject(new TypeError('hunter2')))
    const error = await authorizer.authorize(context).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'invalid_request', operation: 'gateway.charge', retryable: true })
    expect((error as Error).message).toContain('TypeError')
    expect(everyWord(error)).not.toContain('hunter2')
  })

  it('from a function that never answers is given up when the caller aborts', async () => {
    const authorizer = createApiKeyAuthorizer(() => new Promise<string>(() => undefined))
    const controller = new AbortController()
    const waiting = authorizer.authorize({ ...context, signal: controller.signal })
    controller.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
  })
})
