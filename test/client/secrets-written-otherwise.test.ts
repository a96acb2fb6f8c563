import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { isMandateKitError } from '../../src/index.ts'
import { CHARGE_REQUEST, errorOf, gatewayClient, subscriptionsClient } from './clients.ts'
import type { Received } from './scripted-server.ts'
import { startServer } from './scripted-server.ts'

const HEADER = 'partner-header-value'
const SECRETS = {
  apiKey: `k'e"y&<1>/+=\\.*`,
  clientSecret: 'cl/ent+sec ret%41',
  password: `p'w&"<ord>+/ä=1`,
  otp: `73'9154`,
} as const

const html = (text: string, quote: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", quote)

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** The ways in which a server, a proxy or a debug page may write a text that it received. */
const WAYS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'as a JSON text': (text) => JSON.stringify(text).slice(1, -1),
  'as a JSON text with slashes escaped': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'as a JSON text in ASCII': (text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replace(/[^\w ]/g, (character) =>
        character === '\\' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
  'percent-encoded': encodeURIComponent,
  'percent-encoded in lower case': (text) =>
    encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  'percent-encoded twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'as a form': (text) => new URLSearchParams({ t: text }).toString().slice(2),
  'in HTML': (text) => html(text, '&#39;'),
  'in HTML with a hexadecimal quote': (text) => html(text, '&#x27;'),
  'in HTML with a named quote': (text) => html(text, '&apos;'),
  'as a JSON text in HTML': (text) => html(JSON.stringify(text).slice(1, -1), '&#39;'),
  'in base64': base64,
  'in base64 without its end': (text) => base64(text).replace(/=+$/, ''),
  'in base64 for URLs': (text) => Buffer.from(text).toString('base64url'),
  'in UTF-8 that was taken for Latin-1': (text) => Buffer.from(text).toString('latin1'),
  'in hexadecimal': (text) => Buffer.from(text).toString('hex'),
  'in hexadecimal in capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'percent-encoded in every character': (text) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  'as a JSON text with every character escaped': (text) =>
    text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'in HTML with every character as a number': (text) =>
    text.replace(/./gs, (unit) => `&#${unit.charCodeAt(0)};`),
}

const seenIn = (value: unknown) =>
  `${inspect(value, { depth: 20, showHidden: true })}\n${JSON.stringify(value)}`

describe.each(Object.entries(WAYS))('a secret that the server repeats %s', (_, write) => {
  const echo = (status: number) => (request: Received) => {
    const received = [...Object.values(SECRETS), HEADER]
      .filter((secret) =>
        `${JSON.stringify(request.headers)}${request.body}`.includes(JSON.stringify(secret).slice(1, -1)),
      )
      .map(write)
    return {
      status,
      headers: { 'x-trace': encodeURIComponent(received.join(' ')) },
      body: `<p>${received}</p>`,
    }
  }

  const expectClean = (error: unknown) => {
    const text = seenIn(error)
    for (const secret of [...Object.values(SECRETS), HEADER]) expect(text).not.toContain(write(secret))
  }

  it('stands in no error of a call', async () => {
    const server = await startServer(echo(400))
    const headers = { 'x-partner-secret': HEADER }
    const client = gatewayClient(server.url, { apiKey: SECRETS.apiKey, headers })
    expectClean(await errorOf(client.charge(CHARGE_REQUEST)))
    expectClean(await errorOf(client.confirm('conf_1', { otp: SECRETS.otp })))
  })

  it.each(['json', 'form'] as const)(
    'stands in no error of a login sent as %s',
    async (tokenRequestFormat) => {
      const server = await startServer(({ body, headers }) => {
        const text = write(`${SECRETS.clientSecret} ${SECRETS.password}`)
        const authorization = String(headers.authorization ?? '')
        return {
          status: 400,
          headers: { 'x-request-id': encodeURIComponent(text) },
          body: { errorCode: text, errorMessage: `${text} ${body} ${authorization}` },
        }
      })
      const { clientSecret, password } = SECRETS
      const credentials = { clientId: 'merchant-1', clientSecret, username: 'merchant', password }
      const client = subscriptionsClient(server.url, { credentials, tokenRequestFormat })
      expectClean(await errorOf(client.login()))
      expectClean(await errorOf(client.status('inv-1')))
    },
  )
})

it('isMandateKitError knows an error of another realm by its brand', () => {
  const make = `Object.defineProperty(new Error('x'), Symbol.for('mandatekit.error'), { value: true })`
  const foreign: unknown = runInNewContext(make)
  expect(foreign).not.toBeInstanceOf(Error)
  expect(isMandateKitError(foreign)).toBe(true)
})

describe('a secret that the server repeats inside something else', () => {
  it.each([1, 2, 3])('stands in no error, with %i characters before it in base64', async (before) => {
    const key = 'live-key-77/aa+bb'
    const message = base64(`${'u'.repeat(before)}${key}:`)
    const server = await startServer([{ status: 400, body: { error: { code: 'no', message } } }])
    const error = await errorOf(gatewayClient(server.url, { apiKey: key }).status('ch_1'))
    expect(seenIn(error)).not.toContain(message.slice(6, -6))
  })

  it.each([
    ['spaces', (text: string) => [...text].join(' ')],
    ['a line break', (text: string) => `${text.slice(0, 9)}\r\n  ${text.slice(9)}`],
    ['a line break of mails', (text: string) => `${text.slice(0, 9)}=\n${text.slice(9)}`],
    ['a character that nobody sees', (text: string) => `${text.slice(0, 9)}\u200b${text.slice(9)}`],
  ])('stands in no error when %s are put in between', async (_, write) => {
    const key = 'live-key-77/aa+bb'
    const written = write(key)
    const server = await startServer([{ status: 400, body: { error: { code: 'no', message: written } } }])
    const error = await errorOf(gatewayClient(server.url, { apiKey: key }).status('ch_1'))
    expect(seenIn(error)).not.toContain(JSON.stringify(written).slice(1, -1))
    expect(error).toMatchObject({ errorCode: 'no', body: { error: { code: 'no', message: '[redacted]' } } })
  })
})

it('a token of any length stands in no error, and gives one of the usual kind', async () => {
  for (const length of [257, 4000, 40_000]) {
    const apiKey = 'Az09-_.~+/'.repeat(Math.ceil(length / 10))
    const body = {
      error: { code: 'no', message: `${apiKey} ${base64(apiKey)} ${encodeURIComponent(apiKey)}` },
    }
    const fetch = async () => new Response(JSON.stringify(body), { status: 400 })
    const error = await errorOf(gatewayClient('http://gateway.example', { apiKey, fetch }).status('ch_1'))
    expect(error).toMatchObject({ code: 'api_error', errorCode: 'no' })
    expect(seenIn(error)).not.toContain(apiKey.slice(0, 200))
    expect(seenIn(error)).not.toContain(base64(apiKey).slice(100, 300))
  }
})

it.each(Object.entries(WAYS))(
  'a secret with several backslashes in a row stands in no error: %s',
  async (_, write) => {
    const apiKey = '\\\\host\\\\\\share'
    const body = { error: { code: 'no', message: `"${write(apiKey)}"` } }
    const fetch = async () => new Response(JSON.stringify(body), { status: 400 })
    const error = await errorOf(gatewayClient('http://gateway.example', { apiKey, fetch }).status('ch_1'))
    expect(seenIn(error)).not.toMatch(/host|share/)
    expect(seenIn(error)).not.toContain(JSON.stringify(write(apiKey)).slice(1, -1))
  },
)

it('a secret with a character that JSON writes as two stands in no error', async () => {
  const otp = 'key\u{1F511}77'
  const message = `<pre>${WAYS['as a JSON text in ASCII']?.(otp)}</pre>`
  const fetch = async () => new Response(message, { status: 400 })
  const error = await errorOf(gatewayClient('http://gateway.example', { fetch }).confirm('conf_1', { otp }))
  expect(error).toMatchObject({ body: '<pre>[redacted]</pre>' })
})

it('an answer that is made to be long to search through is searched in time', async () => {
  for (const [key, unit] of [
    ...['\\', '%25', '&amp;', ' ', '=\n'].map((unit) => ['$%&=\\-secret', unit] as const),
    ['\\\\\\\\\\\\share', '\\'],
    ['\\"\\"\\"-secret', '\\'],
  ] as const) {
    const fetch = async () => new Response(unit.repeat(60_000), { status: 400 })
    const options = { apiKey: key, fetch }
    const startedAt = performance.now()
    await errorOf(gatewayClient('http://gateway.example', options).status('ch_1'))
    expect(performance.now() - startedAt).toBeLessThan(3000)
  }
})
