import { onTestFinished } from 'vitest'
import type { MockOptions } from '../../mocks/core.ts'
import { GatewayClient, SubscriptionsClient, type SubscriptionsClientOptions } from '../../src/index.ts'
import { MOCK_CHARGE as CHARGE, ORDER as DAILY_ORDER } from '../support/mock-clients.ts'
import { bearer, type Seen, send } from '../support/raw-requests.ts'
import { type Transport, throughFetch } from './transports.ts'

interface SeenInAnyShape extends Omit<Seen, 'json'> {
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into responses of every shape
  readonly json: any
}

/** How a raw request differs from a plain POST with the right bearer. */
interface Asking {
  readonly method?: string
  /** Text is sent as it is, any other value as JSON. */
  readonly body?: unknown
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Omits the Authorization header. */
  readonly anonymous?: boolean
  /** Replaces the bearer. */
  readonly token?: unknown
  readonly signal?: AbortSignal
}

const TOKEN = { accessToken: 'known-token', expiresAt: '2099-01-01T00:00:00Z' }

export const START = '2026-12-01T06:00:00Z'
export const ORDER = { ...DAILY_ORDER, clientID: 'mock-client', cycle: 'WEEKLY' } as const
export const CHARGES = '/api/v1/mfs/charges'
export const KEYS = {
  Authorization: 'Bearer mock-api-key',
  'Content-Type': 'application/json',
  'Idempotency-Key': 'k',
}

/** A mock at a fixed time, the clients of its options, and raw requests past them; closed when the test ends. */
export const openThrough = async (transport: Transport, options: MockOptions = {}) => {
  const { mock, fetch, close } = await transport.open({
    clock: START,
    ...options,
    subscriptions: { tokens: [TOKEN], ...options.subscriptions },
  })
  onTestFinished(close)

  const ask = async (
    area: 'subscriptions' | 'gateway',
    path: string,
    asking: Asking,
  ): Promise<SeenInAnyShape> => {
    const known = area === 'gateway' ? mock.clientOptions.gateway.apiKey : TOKEN.accessToken
    const { key, headers = {}, anonymous = false, token = known, method = 'POST', ...rest } = asking
    return send(fetch, `${mock.clientOptions[area].baseUrl}${path}`, {
      method,
      ...rest,
      headers: {
        ...(anonymous ? {} : bearer(String(token))),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...headers,
      },
    })
  }
  const s = (path: string, asking: Asking = {}) => ask('subscriptions', path, asking)
  const g = (path: string, asking: Asking = {}) => ask('gateway', path, asking)
  const subscribe = (fields: object = {}) => s('/api/v1.0/subscribe', { body: { ...ORDER, ...fields } })
  const charge = (key: string, fields: object = {}) => g(CHARGES, { key, body: { ...CHARGE, ...fields } })
  const { clientId, clientSecret, username, password } = mock.clientOptions.subscriptions.credentials
  const client = { client_id: clientId, client_secret: clientSecret }
  const common = { fetch, retry: false, rateLimit: 'throw' } as const
  const clientWith = (own: Partial<SubscriptionsClientOptions> = {}) =>
    new SubscriptionsClient({ ...mock.clientOptions.subscriptions, ...common, ...own })

  return {
    mock,
    fetch,
    close,
    subscriptions: clientWith(),
    gateway: new GatewayClient({ ...mock.clientOptions.gateway, ...common }),
    clientWith,
    s,
    g,
    subscribe,
    charge,
    confirm: (confirmationId: unknown, otp: unknown = '123456') =>
      g(`/api/v1/mfs/confirm/${confirmationId}`, { body: { otp } }),
    renew: (id: string, key: string, body: object = { mandate_id: id }) =>
      g(`${CHARGES}/${id}/renew`, { key, body }),
    read: (id: string) => g(`${CHARGES}/${id}`, { method: 'GET' }),
    health: async () => (await g('/health', { method: 'GET' })).status,
    /** A token request; `fields` replace those of a correct one. */
    login: (fields: object = {}) =>
      s('/oauth/token', {
        anonymous: true,
        body: { grant_type: 'password', ...client, username, password, ...fields },
      }),
    refresh: (token: unknown, fields: object = {}) =>
      s('/oauth/token', {
        anonymous: true,
        body: { grant_type: 'refresh_token', ...client, refresh_token: token, ...fields },
      }),
    /** A subscription that its payer has authorized. */
    async subscription(fields: object = {}, payments: readonly ('succeed' | 'fail')[] = []) {
      await subscribe(fields)
      const { invoiceId = '', subscriptionId = '' } = mock.state.subscriptions().at(-1) ?? {}
      mock.payer.authorize(invoiceId, { payments })
      return { invoiceId, subscriptionId }
    },
    /** A charge that its payer has confirmed. */
    async paid(fields: object = {}) {
      const { json } = await charge(`key-${mock.state.charges().length}`, fields)
      mock.payer.confirm(json.confirmation_id)
      return json
    },
  }
}

/** The options of one area. */
export const S = (subscriptions: NonNullable<MockOptions['subscriptions']>): MockOptions => ({
  subscriptions,
})
export const G = (gateway: NonNullable<MockOptions['gateway']>): MockOptions => ({ gateway })

/** The statuses of responses. */
export const statusesOf = (responses: readonly { readonly status: number }[]) =>
  responses.map(({ status }) => status)

/** A mock through its own fetch. */
export const open = (options: MockOptions = {}) => openThrough(throughFetch, options)

export type OpenMock = Awaited<ReturnType<typeof open>>
