import * as oauth from 'oauth4webapi'
import { expect, test } from 'vitest'
import { startServer } from '../support/mock-server.ts'

test('an OAuth client logs in by password and renews by refresh token', async () => {
  const server = await startServer()
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
  const url = new URL(`${server.url}/api/v1.0/subscription/none`)
  const { access_token } = renewed
  const sent = [access_token, 'POST', url, undefined, undefined, insecure] as const
  expect((await oauth.protectedResourceRequest(...sent)).status).toBe(404)
})
