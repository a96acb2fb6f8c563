import type { MockOptions } from '../../mocks/core.ts'
import type { SubscriptionsClientOptions } from '../../src/index.ts'
import { gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { MOCK_CHARGE as CHARGE, clientsOf, ORDER as DAILY_ORDER, openMock } from '../support/mock-clients.ts'
import type { Seen } from '../support/raw-requests.ts'
import { bearer, send } from '../support/raw-requests.ts'

interface SeenInAnyShape extends Omit<Seen, 'json'> {
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into responses of every shape
  readonly json: any
}

/** How a raw request differs from a plain POST with the right bearer. */
export interface Asking {
  readonly method?: string
  /** Text as it is, anything else as JSON. */
  readonly body?: unknown
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  /** No Authorization header. */
  readonly anonymous?: boolean
}

const KNOWN_TOKEN = 'known-token'

export const ORDER = { ...DAILY_ORDER, clientID: 'mock-client', cycle: 'WEEKLY' } as const

/** A mock at a fixed time, the clients of its options, and raw requests past them. */
export const open = (options: MockOptions = {}) => {
  const { mock } = openMock(options)
  mock.add({ tokens: [{ accessToken: KNOWN_TOKEN, expiresAt: '2099-01-01T00:00:00Z' }] })
  const { subscriptions, gateway } = clientsOf(mock, { retry: false, rateLimit: 'throw' })

  const ask = async (base: string, token: string, path: string, asking: Asking): Promise<SeenInAnyShape> => {
    const { body, key, headers = {}, anonymous = false, method = 'POST' } = asking
    return send(mock.fetch, `${base}${path}`, {
      method,
      body,
      headers: {
        ...(anonymous ? {} : bearer(token)),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...headers,
      },
    })
  }
  const s = (path: string, asking: Asking = {}) =>
    ask(mock.clientOptions.subscriptions.baseUrl, KNOWN_TOKEN, path, asking)
  const g = (path: string, asking: Asking = {}) =>
    ask(mock.clientOptions.gateway.baseUrl, mock.clientOptions.gateway.apiKey, path, asking)
  const subscribe = (fields: object = {}) => s('/api/v1.0/subscribe', { body: { ...ORDER, ...fields } })
  const charge = (key: string, fields: object = {}) =>
    g('/api/v1/mfs/charges', { key, body: { ...CHARGE, ...fields } })

  return {
    mock,
    subscriptions,
    gateway,
    s,
    g,
    subscribe,
    charge,
    confirm: (confirmationId: string, otp = '123456') =>
      g(`/api/v1/mfs/confirm/${confirmationId}`, { body: { otp } }),
    renew: (id: string, key: string, body: object = { mandate_id: id }) =>
      g(`/api/v1/mfs/charges/${id}/renew`, { key, body }),
    /** A token request; right where nothing else is said. */
    login: (fields: object = {}) =>
      s('/oauth/token', {
        anonymous: true,
        body: {
          grant_type: 'password',
          client_id: 'mock-client',
          client_secret: 'mock-client-secret',
          username: 'mock-user',
          password: 'mock-password',
          ...fields,
        },
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

/** What a server that is not the mock answers. */
export interface Answer {
  readonly status?: number
  /** Text as it is, anything else as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const LOGIN = {
  token_type: 'Bearer',
  expires_in: 3600,
  access_token: 'access',
  refresh_token: 'refresh',
}

const responseOf = ({ status = 200, body, headers = {} }: Answer): Response => {
  const isText = typeof body === 'string' || body === undefined
  const type: Record<string, string> = isText ? {} : { 'content-type': 'application/json' }
  const bodyless = [204, 304].includes(status)
  return new Response(bodyless ? null : isText ? (body ?? '') : JSON.stringify(body), {
    status,
    headers: { ...type, ...headers },
  })
}

const SERVER = 'https://server.example'

/** Clients of a server that answers as told (logins are granted, unless told otherwise), and what they sent. */
export const answered = (
  answer: Answer | ((request: Request, index: number) => Answer),
  options: Partial<SubscriptionsClientOptions> = {},
  login: Answer = { body: LOGIN },
) => {
  const sent: {
    readonly method: string
    readonly url: string
    readonly body: string
    readonly type: string
  }[] = []
  let index = -1
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    const type = request.headers.get('content-type') ?? ''
    sent.push({ method: request.method, url: request.url, body: await request.clone().text(), type })
    if (request.url.endsWith('/oauth/token')) return responseOf(login)
    index += 1
    return responseOf(typeof answer === 'function' ? answer(request, index) : answer)
  }
  const { emptyBody, tokenRequestFormat, ...common } = options
  const shared = {
    fetch,
    retry: false,
    rateLimit: 'throw',
    ...common,
  } as const
  return {
    sent,
    subscriptions: subscriptionsClient(SERVER, { emptyBody, tokenRequestFormat, ...shared }),
    gateway: gatewayClient(SERVER, shared),
  }
}
