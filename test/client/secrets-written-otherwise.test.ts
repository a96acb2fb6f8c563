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
  'in base64': base64,
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
