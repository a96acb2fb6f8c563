import { expect, test } from 'vitest'
import type { AskerParts } from '../../mocks/probe/asker.ts'
import { openSession, type SessionLine } from '../../mocks/probe/session.ts'
import { openSandbox, SANDBOX } from './set-up.ts'

const LEVELS = ['read', 'write', 'reset', 'rate-limit'] as const
const budget = { requests: 300, seconds: 900, timeoutSeconds: 0.05 }

const cut = (): never => {
  throw new TypeError('fetch failed', {
    cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
  })
}
const html = (status: number) =>
  new Response('<html>Sorry</html>', { status, headers: { 'content-type': 'text/html' } })
const limited = (headers: Record<string, string>) =>
  new Response('{"errorCode":"429","error":{"code":"rate_limited","message":""}}', { status: 429, headers })

const hostile: Readonly<Record<string, AskerParts['fetch']>> = {
  'never answers': () => new Promise(() => undefined),
  'cuts every connection': cut,
  'answers HTML': async () => html(200),
  'answers HTML as an error': async () => html(404),
  'answers 503': async () => html(503),
  'answers another JSON': async () => Response.json({ message: 'Not found' }, { status: 404 }),
  'limits for an hour': async () => limited({ 'retry-after': '3600' }),
  'limits for ever': async () => limited({ 'retry-after': '1' }),
  'limits without a word': async () => limited({}),
  'has locked the user': async () =>
    Response.json({ errorCode: '403', errorMessage: '', error: {} }, { status: 403 }),
}

test.each(Object.entries(hostile))(
  'a server that %s ends the run within its budget',
  async (_name, fetch) => {
    const { run, mock } = openSandbox()
    let sent = 0
    const startedAt = mock.clock.now()
    const counted: AskerParts['fetch'] = (...request) => {
      sent += 1
      return fetch(...request)
    }
    const { stopped } = await run({ fetch: counted, budget }, LEVELS)
    expect(stopped.subscriptions).toMatch(/no usable response|wait of|budget|and no token/)
    expect(sent).toBeLessThanOrEqual(budget.requests)
    expect(mock.clock.now() - startedAt).toBeLessThanOrEqual(budget.seconds * 1_000)
  },
)

test('a server that cuts every tenth connection is asked to the end', async () => {
  const { run, mock } = openSandbox()
  let sent = 0
  const { stopped, asked } = await run(
    {
      fetch: async (...request) => {
        sent += 1
        return sent % 10 === 0 ? cut() : mock.fetch(...request)
      },
    },
    ['read', 'write'],
  )
  expect(stopped).toEqual({})
  expect(asked.filter(({ answer }) => answer !== undefined && 'found' in answer).length).toBeGreaterThan(20)
})

test('wrong credentials are sent once', async () => {
  const { run, mock } = openSandbox()
  const { subscriptions, gateway } = SANDBOX
  const credentials = { ...subscriptions.credentials, password: 'not-the-password' }
  const config = { gateway, subscriptions: { ...subscriptions, credentials } }
  const { stopped } = await run({}, LEVELS, config)
  expect(stopped).toEqual({ subscriptions: 'the login with the configured credentials got 401 and no token' })
  expect(mock.requests.of('subscriptions.login')).toHaveLength(1)
})

test('no more wrong logins are sent than the flag allows', async () => {
  const { run, mock } = openSandbox()
  await run({ wrongLogins: 3 }, ['read', 'lockout'])
  const logins = mock.requests.of('subscriptions.login')
  expect(logins.filter(({ status }) => status === 401)).toHaveLength(3)
  expect(logins.at(-1)?.status).toBe(200)
})

test.each([1, 2, 3])(
  'a run that ends at wrong login %i sends no more wrong logins when it resumes',
  async (last) => {
    const { run, mock } = openSandbox({
      subscriptions: { lockout: { attempts: 4, windowSeconds: 600, durationSeconds: 600 } },
    })
    const lines: SessionLine[] = []
    let wrong = 0
    const fetch: AskerParts['fetch'] = async (url, init) => {
      const response = await mock.fetch(url, init)
      if (String(init.body).includes('wrong-password')) wrong += 1
      if (wrong === last) throw new TypeError('the response is lost')
      return response
    }
    const resume = (more: Partial<AskerParts>) =>
      run(
        {
          wrongLogins: 3,
          session: openSession([...lines], 'session', 'a sandbox', (line) => void lines.push(line)),
          ...more,
        },
        ['read', 'lockout'],
      )
    await resume({ fetch })
    const { options } = await resume({})
    expect(mock.requests.of('subscriptions.login').filter(({ status }) => status === 401)).toHaveLength(last)
    expect(options.subscriptions).not.toHaveProperty('lockout')
  },
)

test('the budget of requests ends the run with what it learned', async () => {
  const { run } = openSandbox()
  const { stopped, options } = await run({ budget: { requests: 20, seconds: 900, timeoutSeconds: 1 } })
  expect(stopped.subscriptions).toBe('the budget of 20 requests is used up')
  expect(options.subscriptions).toHaveProperty('tokenTtl', { seconds: 3_600 })
})
