import { describe, expect, it } from 'vitest'
import { CHARGE_REQUEST } from '../support/bodies.ts'
import {
  API_KEY,
  CREDENTIALS,
  errorOf,
  gatewayClient,
  subscriptionsClient,
  TOKEN,
} from '../support/clients.ts'
import { type Call, calls, failureOf, once, openClients, recording } from '../support/open-clients.ts'
import { textOf } from '../support/refused.ts'
import { type Received, type Script, startServer } from '../support/scripted-server.ts'
import { closedPort } from '../support/serve.ts'

const OTP = '918273'
const REFRESH = 'refresh-03'
const SECRETS = [TOKEN, REFRESH, API_KEY, OTP, CREDENTIALS.clientSecret, CREDENTIALS.password]
const confirm: Call = ({ gateway }) => gateway.confirm('conf_1', { otp: OTP })

const expectNoSecret = (value: unknown): void => {
  const text = textOf(value)
  for (const secret of SECRETS) {
    expect(text).not.toContain(secret)
    expect(text).not.toContain(encodeURIComponent(secret))
  }
}

/** A response that repeats everything that the server received, in body and headers. */
const echo = (status: number, request: Received): Script => ({
  status,
  headers: {
    'x-echo': String(request.headers.authorization),
    'set-cookie': `session=${API_KEY}`,
    'x-api-key': API_KEY,
    'x-request-id': `id-${request.headers.authorization?.slice(7) ?? ''}`,
  },
  body: {
    errorCode: request.headers.authorization ?? '07',
    errorMessage: `received ${JSON.stringify(request.headers)} ${request.body}`,
    error: { code: 'echo', message: request.body },
    access_token: TOKEN,
    nested: [{ client_secret: 'x', otp: OTP, password: CREDENTIALS.password, kept: 'kept' }],
    [`name-${request.headers.authorization}`]: encodeURIComponent(String(request.headers.authorization)),
  },
})

const watching = () => {
  const { hooks, seen } = recording()
  const onUnexpected = (report: object) => void seen.push(['report', { ...report }])
  return { options: { ...once, hooks, onUnexpected }, seen }
}

describe('case 50: no secret is in an error, a hook, a report or a client', () => {
  it.each([200, 400, 401, 403, 404, 422, 429, 500])(
    'when the server repeats everything with HTTP %i',
    async (status) => {
      const { options, seen } = watching()
      const clients = await openClients((request) => echo(status, request), options)
      for (const call of [calls.subscribe, calls.charge]) expectNoSecret(await errorOf(call(clients)))
      if (status !== 200) expectNoSecret(await errorOf(confirm(clients)))
      const login = subscriptionsClient((await startServer((request) => echo(status, request))).url, options)
      for (const call of [login.details('sub-1'), login.login()]) {
        const error = await errorOf(call)
        expectNoSecret(error)
        expect(error).toMatchObject({ body: undefined })
      }
      expectNoSecret(seen)
      expectNoSecret([clients.subscriptions, clients.gateway])
      expect(seen.length).toBeGreaterThan(4)
    },
  )

  it('when there is no response, or one that is text', async () => {
    const gone = await closedPort()
    expectNoSecret(await errorOf(gatewayClient(gone, once).charge(CHARGE_REQUEST)))
    expectNoSecret(await errorOf(subscriptionsClient(gone, once).details('sub-1')))
    for (const padding of [0, 1990]) {
      const body = ({ headers }: Received) =>
        `${'x'.repeat(padding)}${headers.authorization}${'x'.repeat(1900)}`
      const error = await failureOf((request) => ({ status: 500, body: body(request) }), calls.charge, once)
      expect(textOf(error)).not.toContain('api-key')
    }
  })

  it('when the given fetch throws an error that quotes the request', async () => {
    const error = await failureOf({}, confirm, {
      ...once,
      fetch: (_, request) => Promise.reject(Object.assign(new Error(JSON.stringify(request)), { request })),
    })
    expectNoSecret(error)
    expect(error.cause).toBeUndefined()
  })

  it('when waitForCharge keeps its last failure as the cause', async () => {
    const wait: Call = ({ gateway }) => gateway.waitForCharge('ch_1')
    const error = await failureOf((request) => echo(503, request), wait, once)
    expect(error).toMatchObject({ lastState: undefined, cause: { code: 'api_error', status: 503 } })
    expectNoSecret(error)
  })

  it('and the rest of the response is kept', async () => {
    const error = await failureOf((request) => echo(422, request), confirm)
    expect(error).toMatchObject({ body: { nested: [{ kept: 'kept' }] }, status: 422 })
    expect(textOf(error)).not.toContain('set-cookie')
    expect(textOf(error)).toContain('x-echo')
  })
})

describe.each<[string, (secret: string) => string]>([
  ['as it is', (secret) => secret],
  ['as JSON text', (secret) => JSON.stringify(secret).slice(1, -1)],
  ['as part of a URL', encodeURIComponent],
])('a secret that the server repeats %s', (_, write) => {
  // Each has characters that JSON or a URL writes differently.
  const apiKey = `k'e"y&<1>/+=\\.*`
  const credentials = { ...CREDENTIALS, clientSecret: 'cl/ent+sec"ret%41', password: `p'w&"<ord>+/ä=1` }
  const otp = `73"9154 x`
  const header = 'partner/header+value'

  /** A server that repeats secrets in everything, and a check that an error has none of them. */
  const repeating = async (...secrets: string[]) => {
    const words = secrets.map(write).join(' and ')
    const server = await startServer(({ body }) => ({
      status: 400,
      headers: { 'x-trace': encodeURIComponent(words), 'x-request-id': encodeURIComponent(words) },
      body: {
        errorCode: words,
        errorMessage: `${words} ${body}`,
        error: { code: words },
        nested: [{ [words]: words }],
      },
    }))
    const expectNone = async (call: Promise<unknown>, hidden = secrets) => {
      const text = textOf(await errorOf(call))
      for (const secret of hidden.flatMap((one) => [
        one,
        write(one),
        JSON.stringify(write(one)).slice(1, -1),
      ]))
        expect(text).not.toContain(secret)
    }
    return { url: server.url, expectNone }
  }

  it('is in no error of a call', async () => {
    const { url, expectNone } = await repeating(apiKey, otp, header)
    const client = gatewayClient(url, { apiKey, headers: { 'x-partner-secret': header } })
    await expectNone(client.charge(CHARGE_REQUEST), [apiKey, header])
    await expectNone(client.confirm('conf_1', { otp }))
  })

  it.each(['json', 'form'] as const)('is in no error of a login by %s', async (tokenRequestFormat) => {
    const { url, expectNone } = await repeating(credentials.clientSecret, credentials.password)
    const client = subscriptionsClient(url, { credentials, tokenRequestFormat })
    await expectNone(client.login())
    await expectNone(client.status('inv-1'))
  })
})

describe('case 80: an error keeps no text of a body that is not JSON', () => {
  const kept = 'of another payer: 8801799999999, "access_token":"at-7719"'
  const html = { 'content-type': 'text/html' }

  it.each([
    ['a page', { status: 502, headers: html, body: `<title>Bad Gateway</title>${kept}` }],
    ['a page as a success', { status: 200, headers: html, body: `<h1>${kept}</h1>` }],
    ['text', { status: 400, headers: { 'content-type': 'text/plain' }, body: kept }],
    ['JSON that is cut off', { status: 200, body: `{"id":"ch_1","note":${JSON.stringify(kept)},"st` }],
  ])('%s', async (_, script) => {
    const error = await failureOf(script, calls.charge, once)
    expect(error).toMatchObject({ status: script.status, body: undefined })
    expect(textOf(error)).not.toMatch(/8801799999999|at-7719/)
  })

  it('nor, after a login, its title, which may repeat the password', async () => {
    const credentials = { ...CREDENTIALS, password: 'pa"ss&word 9' }
    const body = '<title>Bad login pa&quot;ss&amp;word 9</title>'
    const server = await startServer([{ status: 500, headers: html, body }])
    const error = await errorOf(subscriptionsClient(server.url, { ...once, credentials }).login())
    expect(error.message).not.toContain('Bad login')
  })
})

it.each<[string, Script | undefined]>([
  ['no connection', undefined],
  ['a 404', { status: 404 }],
  ['a connection that closes', { fault: 'close' }],
  ['silence', { fault: 'silent' }],
  ['a redirect', { status: 302, headers: { location: '/tenant-path-9f2c' } }],
  ['a page', { body: '<p>tenant-path-9f2c</p>' }],
])(
  'after %s, a message has no identifier, no query and no path before the path of the API',
  async (_, script) => {
    const url = `${script ? (await openClients(script)).url : await closedPort()}/tenant-path-9f2c`
    const options = {
      ...once,
      apiPrefix: '/version-path-41d7',
      timeout: script?.fault === 'silent' ? 40 : 30_000,
    }
    const errors = [await errorOf(gatewayClient(url, options).status('charge-id-77b0'))]
    const page = { page: 5150 }
    if (script && !script.fault)
      errors.push(await errorOf(subscriptionsClient(url, options).payments('charge-id-77b0', page)))
    for (const { message, stack } of errors)
      expect(message + stack).not.toMatch(/tenant-path-9f2c|version-path-41d7|charge-id-77b0|page=5150/)
  },
)

it('a network failure has the code of the runtime as its cause, and nothing else of it', async () => {
  const error = await errorOf(gatewayClient(await closedPort(), once).reset())
  expect(error.cause).toMatchObject({ message: 'ECONNREFUSED', code: 'ECONNREFUSED' })
  expect(Object.keys(error.cause as object)).toEqual(['code'])
})

const masked = async (status: number, body: object, payer = '') => {
  const headers = { 'x-payer': encodeURI(payer) }
  return failureOf({ status, body, headers }, calls.charge, once)
}

it.each([202, 302, 400, 409, 500])(
  'the number of the payer is in no error of a charge (HTTP %i)',
  async (status) => {
    const { msisdn } = CHARGE_REQUEST
    const body = { error: { code: 'no', message: `+${msisdn} has no wallet` }, msisdn, payer: [msisdn] }
    expect(textOf(await masked(status, body, msisdn))).not.toContain(msisdn)
  },
)

describe('case 136: the number of the payer is in no error, in whatever form the server writes it', () => {
  it.each([
    '+8801700000001',
    '008801700000001',
    '01700000001',
    '1700000001',
    '+880 1700-000001',
    '880-17-0000-0001',
    '(0)17 00 00 00 01',
    '%2B8801700000001',
    '880 1700 000 001',
  ])('%s', async (form) => {
    const body = { error: { code: 'no', message: `The wallet ${form} is closed` }, payer: [form] }
    const error = await masked(422, body, form)
    expect(textOf(error).replace(/\D/g, '')).not.toContain('0000001')
    expect(error.message).toContain('The wallet [redacted] is closed')
  })

  it('and as a JSON number; other numbers stay', async () => {
    const body = { payer: 8_801_700_000_001, amount: 250, order: '20261128-0017', ref: 'A-1700000002' }
    expect(await masked(422, body)).toMatchObject({ body: { ...body, payer: '[redacted]' } })
  })
})

it('all that request() sends under a secret name is in no error, at any depth and in lists', async () => {
  const sent = {
    payer: { msisdn: '01812345678', auth: { pin: 918273, otp: ['first-otp', 'other-otp'] } },
    payers: [{ msisdn: '+880 1912-345678' }, { credentials: { user: 'deep-user', note: 'deep-note' } }],
  }
  const { url } = await startServer(({ body }) => ({
    status: 422,
    body: { error: { code: 'no', message: body }, echo: [JSON.parse(body)], again: body },
  }))
  const raw = { method: 'POST', path: '/api/v1/payouts', body: sent } as const
  const text = textOf(await errorOf(gatewayClient(url, once).request(raw)))
  expect(text).not.toMatch(/01812345678|918273|first-otp|other-otp|1912-345678|deep-user|deep-note/)
})

it("a line break in a server's code or text makes no more log lines", async () => {
  const lines: string[] = []
  const write = (line: string) => lines.push(line)
  const logger = { debug: write, info: write, warn: write, error: write }
  const code = 'no\r\nmandatekit gateway.charge: paid\u2028\u001b[2J'
  await failureOf({ status: 422, body: { error: { code, message: code } } }, calls.charge, {
    ...once,
    logger,
    logLevel: 'debug',
  })
  expect(lines).toHaveLength(3)
  for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
  expect(lines.join()).toContain('\\u000d\\u000a')
})
