import type { MockOptions } from '../../mocks/core.ts'
import { createMock, testNumbers } from '../../mocks/core.ts'
import type { MandateKitError, SubscriptionsClientOptions } from '../../src/index.ts'
import { GatewayClient, isMandateKitError, SubscriptionsClient } from '../../src/index.ts'

/** An answer of the mock, read. */
export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The JSON of the body; an empty object for none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
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

const TOKEN = 'known-token'

export const ORDER = {
  clientID: 'mock-client',
  requestID: 'order-1',
  start: '2026-12-01',
  end: '2027-06-30',
  userReturnURL: 'https://shop.example/return',
  cycle: 'WEEKLY',
  amount: '25.00',
} as const

export const CHARGE = {
  msisdn: testNumbers.succeeds,
  amount: 250,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
}

const read = async (response: Response): Promise<Seen> => {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== ''
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : {} }
}

/** A mock at a fixed time, the clients of its options, and raw requests past them. */
export const open = (options: MockOptions = {}) => {
  const mock = createMock({ clock: '2026-12-01T06:00:00Z', ...options })
  mock.add({ tokens: [{ accessToken: TOKEN, expiresAt: '2099-01-01T00:00:00Z' }] })
  const shared = { fetch: mock.fetch, retry: false, rateLimit: 'throw' } as const
  const subscriptions = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, ...shared })
  const gateway = new GatewayClient({ ...mock.clientOptions.gateway, ...shared })

  const ask = async (base: string, bearer: string, path: string, asking: Asking): Promise<Seen> => {
    const { method = 'POST', body, key, headers = {}, anonymous = false } = asking
    return read(
      await mock.fetch(`${base}${path}`, {
        method,
        headers: {
          ...(anonymous ? {} : { authorization: `Bearer ${bearer}` }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
          ...(typeof body === 'object' ? { 'content-type': 'application/json' } : {}),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
  }
  const s = (path: string, asking: Asking = {}) =>
    ask(mock.clientOptions.subscriptions.baseUrl, TOKEN, path, asking)
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
    /** A subscription that its payer has authorised. */
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
    baseUrl: 'https://server.example',
    fetch,
    retry: false,
    rateLimit: 'throw',
    ...common,
  } as const
  const credentials = { clientId: 'c', clientSecret: 's', username: 'u', password: 'p' }
  return {
    sent,
    subscriptions: new SubscriptionsClient({ credentials, emptyBody, tokenRequestFormat, ...shared }),
    gateway: new GatewayClient({ apiKey: 'key', ...shared }),
  }
}

/** The error that a call ends with; fails the test when it ends otherwise. */
export const failure = async (
  call: Promise<unknown>,
): Promise<MandateKitError & { readonly status?: number | undefined }> => {
  const error = await call.then(
    (value) => {
      throw new Error(`The call resolved: ${JSON.stringify(value)}`)
    },
    (reason: unknown) => reason,
  )
  if (!isMandateKitError(error)) throw error
  return error
}

export const OK = { errorCode: '00', errorMessage: 'The operation succeeded.' }
