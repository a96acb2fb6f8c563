import { createMock, type Mock, type MockFetch, type MockOptions } from '../../mocks/core.ts'
import { startMockServer } from '../../mocks/server.ts'

const SUBSCRIPTION = {
  start: '2026-11-28',
  end: '2027-11-28',
  cycle: 'FIFTEEN_DAYS',
  amount: '249.00',
  userReturnURL: 'https://shop.example/return?order=1',
}

const CHARGE = {
  msisdn: '+99900000001',
  amount: 2500,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/return?order=1',
}

type SiteOptions = Pick<MockOptions, 'subscriptions'>

const createSiteMock = (options: SiteOptions): Mock =>
  createMock({ ...options, clock: '2026-11-28T12:00:00Z', gateway: { rateLimit: false } })

/** A mock, and a merchant that uses it. */
const siteOf = (mock: Mock, send: MockFetch) => {
  let count = 0
  const post = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
    const all = { 'content-type': 'application/json', ...headers }
    const response = await send(url, { method: 'POST', headers: all, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, string>
  }
  return {
    mock,
    reset() {
      mock.reset()
      count = 0
    },
    async subscribe(more: Record<string, unknown> = {}) {
      const { baseUrl, credentials } = mock.clientOptions.subscriptions
      const { clientId: client_id, clientSecret: client_secret, ...user } = credentials
      const login = { grant_type: 'password', client_id, client_secret, ...user }
      const { access_token } = await post(`${baseUrl}/oauth/token`, login)
      const order = { clientID: client_id, requestID: `order-${++count}`, ...SUBSCRIPTION, ...more }
      const authorization = `Bearer ${access_token}`
      const { url = '', invoiceID = '' } = await post(`${baseUrl}/api/v1.0/subscribe`, order, {
        authorization,
      })
      return { url, invoiceID }
    },
    async charge(more: Record<string, unknown> = {}) {
      const { baseUrl, apiKey } = mock.clientOptions.gateway
      const headers = { authorization: `Bearer ${apiKey}`, 'idempotency-key': `key-${++count}` }
      const charge = await post(`${baseUrl}/api/v1/mfs/charges`, { ...CHARGE, ...more }, headers)
      return { id: charge.id ?? '', url: charge.confirmation_url ?? '' }
    },
    requestStatus: (invoiceId: string) =>
      mock.state.subscriptions().find((subscription) => subscription.invoiceId === invoiceId)?.requestStatus,
    chargeStatus: (id: string) => mock.state.charges().find((charge) => charge.id === id)?.status,
  }
}

/** Creates a site whose pages are read through `mock.fetch`. */
export const createSite = () => {
  const mock = createSiteMock({})
  return siteOf(mock, mock.fetch)
}

/** Starts a site on a server. */
export const startSite = async (options: SiteOptions = {}) => {
  const mock = createSiteMock(options)
  const { url, close } = await startMockServer({ mock })
  return { ...siteOf(mock, fetch), url, close }
}
