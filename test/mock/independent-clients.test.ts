import * as oauth from 'oauth4webapi'
import { request } from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MockServer } from '../../mocks/server.ts'
import { startMockServer } from '../../mocks/server.ts'

let server: MockServer
beforeEach(async () => {
  server = await startMockServer()
})
afterEach(() => server.close())

describe('clients that we did not write', () => {
  test('an OAuth client logs in by password and renews by refresh token', async () => {
    const { clientId, clientSecret, username, password } = server.mock.clientOptions.subscriptions.credentials
    const issuer = { issuer: server.url, token_endpoint: `${server.url}/oauth/token` }
    const client = { client_id: clientId }
    const secret = oauth.ClientSecretPost(clientSecret)
    const insecure = { [oauth.allowInsecureRequests]: true }
    const grant = async (type: string, fields: Record<string, string>) =>
      oauth.processGenericTokenEndpointResponse(
        issuer,
        client,
        await oauth.genericTokenEndpointRequest(issuer, client, secret, type, fields, insecure),
      )
    const token = await grant('password', { username, password })
    expect(token).toMatchObject({ token_type: 'bearer', expires_in: 3600, access_token: expect.any(String) })
    const renewed = await grant('refresh_token', { refresh_token: token.refresh_token ?? '' })
    expect(renewed.access_token).not.toBe(token.access_token)
    const resource = await oauth.protectedResourceRequest(
      renewed.access_token,
      'POST',
      new URL(`${server.url}/api/v1.0/subscription/none`),
      undefined,
      undefined,
      insecure,
    )
    expect(resource.status).toBe(404)
  })

  test('undici’s own request reads a charge', async () => {
    const { statusCode, headers, body } = await request(`${server.url}/api/v1/mfs/charges`, {
      method: 'POST',
      headers: { authorization: 'bearer mock-api-key', 'idempotency-key': 'k' },
      body: JSON.stringify({ msisdn: '+1', amount: 1, currency: 'BDT', redirect_uri: 'https://a.example' }),
    })
    const text = await body.text()
    expect([statusCode, Number(headers['content-length'])]).toEqual([202, Buffer.byteLength(text)])
    expect(JSON.parse(text)).toMatchObject({ id: expect.stringMatching(/^ch_/) })
  })
})
