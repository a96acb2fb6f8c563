import { describe, expect, it } from 'vitest'
import type { FetchFunction } from '../../src/index.ts'
import { CHARGE_REQUEST } from '../support/bodies.ts'
import { CREDENTIALS, errorOf, gatewayClient, subscriptionsClient, TOKEN } from '../support/clients.ts'
import {
  type Call,
  type Clients,
  calls,
  failureOf,
  once,
  openClients,
  recording,
} from '../support/open-clients.ts'
import { textOf } from '../support/refused.ts'
import { type Received, type Script, startServer, withLogin } from '../support/scripted-server.ts'
import { closedPort } from '../support/serve.ts'
import { skippingClock } from '../support/skipping-clock.ts'

// Each has characters that JSON or a URL writes differently.
const apiKey = `k'e"y&<1>/+=\\.*`
const credentials = { ...CREDENTIALS, clientSecret: 'cl/ent+sec"ret%41', password: `p'w&"<ord>+/ä=1` }
const OTP = `73"9154 x`
const HEADER = 'partner/header+value'
const SECRETS = [TOKEN, 'refresh-03', apiKey, OTP, HEADER, credentials.clientSecret, credentials.password]
const confirm: Call = ({ gateway }) => gateway.confirm('conf_1', { otp: OTP })

const expectNoSecret = (value: unknown, write: (secret: string) => string = encodeURIComponent): void => {
  const text = textOf(value)
  for (const secret of SECRETS)
    for (const form of [secret, write(secret), JSON.stringify(write(secret)).slice(1, -1)])
      expect(text).not.toContain(form)
}

/** The secrets that a request has. */
const secretsOf = ({ url }: Received): string[] => {
  if (url === '/oauth/token') return [credentials.clientSecret, credentials.password, HEADER]
  if (!url.includes('/mfs/')) return [TOKEN, HEADER]
  return [apiKey, HEADER, ...(url.includes('confirm') ? [OTP] : [])]
}

/** A response that repeats every secret of its request, in body and headers. */
const echo = (status: number, request: Received, write: (secret: string) => string = String): Script => {
  const words = secretsOf(request).map(write).join(' and ')
  const header = encodeURIComponent(words)
  return {
    status,
    headers: { 'x-echo': header, 'set-cookie': `a=${TOKEN}`, 'x-api-key': TOKEN, 'x-request-id': header },
    body: {
      errorCode: words,
      errorMessage: `received ${JSON.stringify(request.headers)} ${request.body} ${words}`,
      error: { code: words, message: request.body },
      access_token: TOKEN,
      nested: [{ client_secret: 'x', otp: OTP, password: credentials.password, kept: 'kept' }],
      [words]: words,
    },
  }
}

/** Clients of a server that grants logins. With a format of token requests, the script is for logins, too. */
const open = async (
  script: (request: Received) => Script,
  options: object = {},
  format?: 'json' | 'form',
) => {
  const { url } = await startServer(format ? script : withLogin(script))
  const settings = { ...once, headers: { 'x-partner-secret': HEADER }, ...options }
  return {
    gateway: gatewayClient(url, { apiKey, ...settings }),
    subscriptions: subscriptionsClient(url, { credentials, tokenRequestFormat: format, ...settings }),
  } as Clients
}

describe.each<[string, (secret: string) => string]>([
  ['unchanged', String],
  ['as JSON text', (secret) => JSON.stringify(secret).slice(1, -1)],
  ['as part of a URL', encodeURIComponent],
])(
  'case 50: no secret that the server repeats %s is in an error, a hook, a report or a client',
  (_, write) => {
    it.each([200, 400, 401, 403, 404, 422, 429, 500])(
      'with HTTP %i, for a call or a login',
      async (status) => {
        const { hooks, seen } = recording()
        const onUnexpected = (report: object) => void seen.push(['report', { ...report }])
        const options = { hooks, onUnexpected }
        const repeat = (request: Received) => echo(status, request, write)
        const clients = await open(repeat, options)
        const made =
          status === 200 ? [calls.subscribe, calls.charge] : [calls.subscribe, calls.charge, confirm]
        for (const call of made) expectNoSecret(await errorOf(call(clients)), write)
        for (const format of ['json', 'form'] as const) {
          const refused = await open(repeat, options, format)
          for (const call of [calls.details, calls.login]) {
            const error = await errorOf(call(refused))
            expectNoSecret(error, write)
            expect(error).toMatchObject({ body: undefined })
          }
        }
        expectNoSecret([seen, clients.subscriptions, clients.gateway], write)
        expect(seen.length).toBeGreaterThan(4)
      },
    )
  },
)

describe('case 50: no secret is in an error', () => {
  it('when there is no response, or one that is text', async () => {
    const gone = await closedPort()
    expectNoSecret(await errorOf(gatewayClient(gone, { ...once, apiKey }).charge(CHARGE_REQUEST)))
    expectNoSecret(await errorOf(subscriptionsClient(gone, { ...once, credentials }).details('sub-1')))
    for (const padding of [0, 1990]) {
      const body = `${'x'.repeat(padding)}${apiKey}${'x'.repeat(1900)}`
      const error = await errorOf(calls.charge(await open(() => ({ status: 500, body }))))
      expect(textOf(error)).not.toContain(apiKey.slice(0, 4))
    }
  })

  it('when the given fetch throws an error that quotes the request', async () => {
    const fetch: FetchFunction = (_, request) =>
      Promise.reject(Object.assign(new Error(JSON.stringify(request)), { request }))
    const error = await errorOf(confirm(await open(() => ({}), { fetch })))
    expectNoSecret(error)
    expect(error.cause).toBeUndefined()
  })

  it('when waitForCharge keeps its last failure as the cause', async () => {
    const { gateway } = await open((request) => echo(503, request), { clock: skippingClock() })
    const error = await errorOf(gateway.waitForCharge('ch_1'))
    expect(error).toMatchObject({ lastState: undefined, cause: { code: 'api_error', status: 503 } })
    expectNoSecret(error)
  })

  it('and the rest of the response is kept', async () => {
    const error = await errorOf(confirm(await open((request) => echo(422, request))))
    expect(error).toMatchObject({ body: { nested: [{ kept: 'kept' }] }, status: 422 })
    expect(textOf(error)).not.toContain('set-cookie')
    expect(textOf(error)).toContain('x-echo')
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

it('what request() sends in the query under a secret name is in no error, whatever the server repeats', async () => {
  const pairs = ['msisdn=%2B8801711111111', 'otp=987654', 'otp=456789', 'page=77777777']
  const query = new URLSearchParams(pairs.join('&'))
  const message = 'no charge of 01711 111111 with 987654 or 456789 on page 77777777'
  const { url } = await startServer([
    { status: 400, body: { error: { code: 'bad', message }, note: message } },
  ])
  const raw = { method: 'GET', path: '/api/v1/mfs/lookup', query } as const
  const text = textOf(await errorOf(gatewayClient(url, once).request(raw)))
  expect(text).toContain('no charge of [redacted] with [redacted] or [redacted] on page 77777777')
  for (const secret of ['1711', '987654', '456789']) expect(text).not.toContain(secret)
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
