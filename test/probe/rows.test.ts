import { expect, test } from 'vitest'
import { compareWithMock, type MockOptions } from '../../mocks/core.ts'
import type { AskerParts } from '../../mocks/probe/asker.ts'
import { openSandbox } from './set-up.ts'

const LEVELS = ['read', 'write', 'reset'] as const

/** Asks a sandbox, and returns its answers to the questions of a row. */
const answersTo = async (
  row: string,
  options: MockOptions = {},
  fetchOf?: (sandbox: AskerParts['fetch']) => AskerParts['fetch'],
) => {
  const { run, mock } = openSandbox(options)
  const { asked, stopped } = await run({ ...(fetchOf && { fetch: fetchOf(mock.fetch) }) }, LEVELS)
  expect(stopped).toEqual({})
  const answers = asked.flatMap(({ question, answer }) => (question.row === row ? [answer] : []))
  return { answers, mock }
}

/** A server that answers some requests itself. */
const answering =
  (respond: (path: string) => Response | undefined) =>
  (sandbox: AskerParts['fetch']): AskerParts['fetch'] =>
  async (url, init) =>
    respond(new URL(url).pathname) ?? sandbox(url, init)

test('row 36: the fields of /auth/login are reported, its token is not recorded, and a page there is no failure', async () => {
  const token = 'a-token-that-nobody-knows'
  const { run, mock, lines } = openSandbox()
  const login = (response: () => Response) =>
    answering((path) => (path === '/auth/login' ? response() : undefined))
  const { asked } = await run({ fetch: login(() => Response.json({ jwt: token }))(mock.fetch) }, LEVELS)
  const own = asked.flatMap(({ question, answer }) => (question.row === '36' ? [answer] : []))
  expect(JSON.stringify(lines)).not.toContain(token)
  const { answers } = await answersTo('36')
  const page = await answersTo(
    '36',
    {},
    login(() => new Response('<html>Not found</html>', { status: 404 })),
  )
  expect([...own, ...answers, ...page.answers]).toEqual([
    { found: {}, seen: '200 with jwt' },
    { found: {}, seen: '404 with errorCode, errorMessage' },
    { found: {}, seen: '404 with no JSON' },
  ])
})

test('row 49: the header that names a request is reported', async () => {
  const named =
    (sandbox: AskerParts['fetch']): AskerParts['fetch'] =>
    async (url, init) => {
      const response = await sandbox(url, init)
      response.headers.set('x-request-id', 'r-1')
      return response
    }
  const reported = { found: {}, seen: 'x-request-id' }
  expect((await answersTo('49', {}, named)).answers).toEqual([reported, reported])
  expect((await answersTo('49')).answers[0]).toEqual({ found: {}, seen: 'no header names the request' })
})

test('row 65: other methods are reported', async () => {
  const { answers } = await answersTo('65')
  expect(answers).toEqual([
    { found: {}, seen: expect.stringMatching(/^405.*, Allow: GET/) },
    { found: {}, seen: '200' },
  ])
})

test('row 73a: two charges with one key overlap, and create one charge', async () => {
  const faults = [{ operation: 'gateway.charge', kind: 'latency', latencyMs: 50, times: 9 }] as const
  const { answers } = await answersTo('73a', { faults, gateway: { keyInFlight: 'conflict' } })
  expect(answers).toEqual([{ found: { keyInFlight: 'conflict' }, seen: expect.stringContaining('409') }])
  const waiting = await answersTo('73a', { faults })
  expect(waiting.answers).toEqual([{ unknown: expect.stringMatching(/^one charge: the second call waited/) }])
})

test('row 73a: a server that charges twice is reported', async () => {
  let count = 0
  const twice =
    (sandbox: AskerParts['fetch']): AskerParts['fetch'] =>
    async (url, init) => {
      const response = await sandbox(url, init)
      if (!new Headers(init.headers).get('idempotency-key')?.endsWith('at-once')) return response
      const body = await response.json()
      count += 1
      return Response.json({ ...body, id: `ch_${count}` }, { status: 202 })
    }
  const { answers } = await answersTo('73a', {}, twice)
  expect(answers).toEqual([{ unknown: expect.stringContaining('TWO CHARGES WERE CREATED WITH ONE KEY') }])
})

test('row 76: a renewal that fails is reported with its status', async () => {
  const { answers } = await answersTo('76')
  expect(answers).toEqual([{ found: {}, seen: '201 with status failed' }])
  const testNumbers = { '+99900000001': 'succeeds' as const }
  const without = await answersTo('76', { gateway: { testNumbers } })
  expect(without.answers).toEqual([{ unknown: 'no test number has a renewal that fails' }])
})

test('row 12: a payer who has not authorized leaves the answer open, and is not waited for', async () => {
  const { run } = openSandbox({ subscriptions: { pendingSubscriptionId: 'NA' } })
  const { asked } = await run({ payer: async () => undefined }, LEVELS)
  const answers = asked.flatMap(({ question, answer }) => (question.row === '12' ? [answer] : []))
  expect(answers).toEqual([{ unknown: 'the payer has not authorized the subscription' }])
})

test('row 61: a number in the reference without a behavior, such as that of a hotline, is not charged', async () => {
  const hotline = '+8801811111111'
  const table = { numbers: [{ number: '+8801700000001', behavior: 'succeeds' }], support: { phone: hotline } }
  const referring = answering((path) =>
    path === '/api/v1/reference' ? Response.json({ otp: '123456', ...table }) : undefined,
  )
  const { run, mock } = openSandbox()
  const { asked } = await run({ fetch: referring(mock.fetch) }, ['read', 'write'])
  const numbers = new Set(mock.state.charges().map(({ msisdn }) => msisdn))
  expect(numbers).toEqual(new Set(['+8801700000001', '+99988877766']))
  expect(JSON.stringify(asked)).toContain('1 that are not charged')
})

test('with the options that a probe found, its own recordings show no difference', async () => {
  const { run, lines } = openSandbox({ gateway: { keyReuse: 'reject', statusResponse: 'status' } })
  const { options } = await run({}, ['read', 'write'])
  const recordings = lines.flatMap((line) => ('recording' in line ? [line.recording] : []))
  expect(JSON.stringify(recordings)).not.toMatch(/\dredacted|redacted-otp-\d{3}/)
  const { differences, skipped, compared } = await compareWithMock(recordings, options)
  expect(differences).toEqual([])
  expect(compared + skipped.length).toBe(recordings.length)
  // A new mock does not have the subscription that the sandbox had before.
  const paths = skipped.map(({ recording }) => recordings[recording - 1]?.request.path)
  expect(paths.filter((path) => !path?.includes('old-subscription'))).toEqual([])
})

test('what a lost connection left unknown is asked again in a later run', async () => {
  const { run, mock, lines } = openSandbox()
  let isDown = true
  const fetch: AskerParts['fetch'] = async (url, init) => {
    if (isDown && url.endsWith('/api/v1/reference')) throw new TypeError('fetch failed')
    return mock.fetch(url, init)
  }
  const answer = async () =>
    (await run({ fetch }, ['read'])).asked.find(({ question }) => question.option.includes('otp'))?.answer
  expect(await answer()).toEqual({ unknown: expect.stringContaining('the connection failed') })
  isDown = false
  expect(await answer()).toMatchObject({ found: { otp: '123456' } })
  expect(lines.length).toBeGreaterThan(0)
})
