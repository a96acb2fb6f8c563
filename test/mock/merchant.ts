import { onTestFinished } from 'vitest'
import type { MockOptions } from '../../mocks/options.ts'
import type { FetchInit, Opened, Transport } from './transports.ts'

/** An answer, read. */
export interface Seen {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly text: string
  /** The JSON object of the body; empty for no body. */
  readonly json: Record<string, unknown>
}

/** What to send: fields become JSON, text goes as it is. */
export interface Sending extends Omit<FetchInit, 'body'> {
  readonly body?: Record<string, unknown> | string
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object of a JSON text; none for anything else: some tests look at answers that are broken on purpose. */
const parsed = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

export const REQUEST = {
  clientID: 'mock-client',
  requestID: 'order-1',
  start: '2026-12-01',
  end: '2027-12-01',
  userReturnURL: 'https://shop.example/return?cart=7',
  cycle: 'DAILY',
  amount: '25.00',
}

export const CHARGE = {
  msisdn: '+99900000001',
  amount: 250,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
}

/** Opens a mock at a fixed time, and a plain caller of both areas; closed when the test ends. */
export const openMerchant = async (transport: Transport, options: MockOptions = {}) => {
  const opened: Opened = await transport.open({ clock: '2026-12-01T06:00:00Z', ...options })
  const { mock } = opened
  onTestFinished(() => opened.close())

  const send = async (url: string, { body, headers = {}, ...init }: Sending = {}): Promise<Seen> => {
    const isText = body === undefined || typeof body === 'string'
    const answer = await opened.fetch(url, {
      method: 'POST',
      ...init,
      headers: isText ? headers : { 'Content-Type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text, json: parsed(text) }
  }

  const credentials = () => {
    const { clientId, clientSecret, username, password } = mock.clientOptions.subscriptions.credentials
    return { grant_type: 'password', client_id: clientId, client_secret: clientSecret, username, password }
  }
  const s = (path: string, sending?: Sending) =>
    send(`${mock.clientOptions.subscriptions.baseUrl}${path}`, sending)
  const g = (path: string, sending?: Sending) => send(`${mock.clientOptions.gateway.baseUrl}${path}`, sending)
  const login = (fields: Record<string, unknown> = {}) =>
    s('/oauth/token', { body: { ...credentials(), ...fields } })
  const bearer = async () => ({ Authorization: `Bearer ${String((await login()).json.access_token)}` })
  const key = (idempotencyKey?: string): Record<string, string> => ({
    Authorization: `Bearer ${mock.clientOptions.gateway.apiKey}`,
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
  })

  return {
    ...opened,
    send,
    s,
    g,
    login,
    bearer,
    key,
    credentials,
    /** A subscription that its payer has authorised. */
    async subscription(payments?: readonly ('succeed' | 'fail')[]) {
      const headers = await bearer()
      const subscribed = await s('/api/v1.0/subscribe', { headers, body: REQUEST })
      const invoiceId = String(subscribed.json.invoiceID ?? subscribed.json.invoiceId)
      mock.payer.authorize(invoiceId, payments === undefined ? {} : { payments })
      const status = await s(`/api/v1.0/subscribe/${invoiceId}/status`, { headers })
      return { headers, invoiceId, subscriptionId: String(status.json.subscriptionId), subscribed, status }
    },
    charge: (idempotencyKey: string, fields: Record<string, unknown> = {}) =>
      g('/api/v1/mfs/charges', { headers: key(idempotencyKey), body: { ...CHARGE, ...fields } }),
  }
}

export type OpenMerchant = Awaited<ReturnType<typeof openMerchant>>
