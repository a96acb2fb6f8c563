import type { MockOptions } from '../../mocks/core.ts'
import { createMock } from '../../mocks/core.ts'
import { startMockServer } from '../../mocks/server.ts'
import { CHARGE, SUBSCRIPTION } from './requests.ts'

const json = async (
  url: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Record<string, string>> => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** A started mock, and a merchant who uses it. */
export const startSite = async (options: Pick<MockOptions, 'subscriptions'> = {}) => {
  const mock = createMock({ ...options, clock: '2026-11-28T12:00:00Z', gateway: { rateLimit: false } })
  const server = await startMockServer({ mock })
  let count = 0
  return {
    url: server.url,
    mock,
    close: () => server.close(),
    async subscribe(more: Record<string, unknown> = {}) {
      const { clientId, clientSecret, username, password } = mock.clientOptions.subscriptions.credentials
      const login = {
        grant_type: 'password',
        client_id: clientId,
        client_secret: clientSecret,
        username,
        password,
      }
      const token = await json(`${server.url}/oauth/token`, login, {})
      const { url = '', invoiceID = '' } = await json(
        `${server.url}/api/v1.0/subscribe`,
        {
          clientID: clientId,
          requestID: `order-${++count}`,
          ...SUBSCRIPTION,
          ...more,
        },
        { authorization: `Bearer ${token.access_token}` },
      )
      return { url, invoiceID }
    },
    async charge(more: Record<string, unknown> = {}) {
      const { id = '', confirmation_url: url = '' } = await json(
        `${server.url}/api/v1/mfs/charges`,
        {
          ...CHARGE,
          ...more,
        },
        {
          authorization: `Bearer ${mock.clientOptions.gateway.apiKey}`,
          'idempotency-key': `key-${++count}`,
        },
      )
      return { id, url }
    },
    requestStatus: (invoiceId: string) =>
      mock.state.subscriptions().find((subscription) => subscription.invoiceId === invoiceId)?.requestStatus,
    chargeStatus: (id: string) => mock.state.charges().find((charge) => charge.id === id)?.status,
  }
}
