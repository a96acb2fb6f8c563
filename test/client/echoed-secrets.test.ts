import { describe, expect, it } from 'vitest'
import { CHARGE_REQUEST } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { textOf } from '../support/refused.ts'
import { startServer } from '../support/scripted-server.ts'

// Each has characters that JSON or a URL writes differently.
const API_KEY = `k'e"y&<1>/+=\\.*`
const CLIENT_SECRET = 'cl/ent+sec"ret%41'
const PASSWORD = `p'w&"<ord>+/ä=1`
const OTP = `73"9154 x`
const HEADER = 'partner/header+value'

describe.each<[string, (secret: string) => string]>([
  ['as it is', (secret) => secret],
  ['as JSON text', (secret) => JSON.stringify(secret).slice(1, -1)],
  ['as part of a URL', encodeURIComponent],
])('a secret that the server repeats %s', (_, write) => {
  const expectNoSecret = (error: unknown, secrets: readonly string[]): void => {
    const text = textOf(error)
    for (const secret of secrets) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain(write(secret))
      expect(text).not.toContain(JSON.stringify(write(secret)).slice(1, -1))
    }
  }

  it('is in no error of a call', async () => {
    const secrets = [API_KEY, OTP, HEADER]
    const words = secrets.map(write).join(' and ')
    const server = await startServer([
      {
        status: 400,
        headers: { 'x-trace': encodeURIComponent(words), 'x-request-id': encodeURIComponent(words) },
        body: { error: { code: words, message: words }, nested: [{ [words]: words }] },
      },
    ])
    const client = gatewayClient(server.url, { apiKey: API_KEY, headers: { 'x-partner-secret': HEADER } })
    expectNoSecret(await errorOf(client.charge(CHARGE_REQUEST)), [API_KEY, HEADER])
    expectNoSecret(await errorOf(client.confirm('conf_1', { otp: OTP })), secrets)
  })

  it('is in no error of a login', async () => {
    const secrets = [CLIENT_SECRET, PASSWORD]
    const words = secrets.map(write).join(' and ')
    const credentials = {
      clientId: 'merchant-1',
      username: 'merchant',
      clientSecret: CLIENT_SECRET,
      password: PASSWORD,
    }
    for (const tokenRequestFormat of ['json', 'form'] as const) {
      const server = await startServer(({ body }) => ({
        status: 400,
        headers: { 'x-request-id': encodeURIComponent(words) },
        body: { errorCode: words, errorMessage: `${words} ${body}` },
      }))
      const client = subscriptionsClient(server.url, { credentials, tokenRequestFormat })
      expectNoSecret(await errorOf(client.login()), secrets)
      expectNoSecret(await errorOf(client.status('inv-1')), secrets)
    }
  })
})

describe('case 80: of a body that is not JSON an error keeps no text', () => {
  const kept = 'of another payer: 8801799999999, "access_token":"at-7719"'

  it.each([
    [
      'a page',
      { status: 502, headers: { 'content-type': 'text/html' }, body: `<title>Bad Gateway</title>${kept}` },
    ],
    [
      'a page as a success',
      { status: 200, headers: { 'content-type': 'text/html' }, body: `<h1>${kept}</h1>` },
    ],
    ['text', { status: 400, headers: { 'content-type': 'text/plain' }, body: kept }],
    ['JSON that was cut off', { status: 200, body: `{"id":"ch_1","note":${JSON.stringify(kept)},"st` }],
  ])('%s', async (_, script) => {
    const server = await startServer([script])
    const error = await errorOf(gatewayClient(server.url, { retry: false }).charge(CHARGE_REQUEST))
    expect(error).toMatchObject({ status: script.status, body: undefined })
    expect(textOf(error)).not.toMatch(/8801799999999|at-7719/)
  })
})
