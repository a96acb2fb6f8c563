import { onTestFinished } from 'vitest'
import type { MockOptions } from '../../mocks/options.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import type { Sending } from '../support/raw-requests.ts'
import { send } from '../support/raw-requests.ts'
import type { Opened, Transport } from './transports.ts'

export const REQUEST = {
  clientID: 'mock-client',
  requestID: 'order-1',
  start: '2026-12-01',
  end: '2027-12-01',
  userReturnURL: 'https://shop.example/return?cart=7',
  cycle: 'DAILY',
  amount: '25.00',
}

/** Opens a mock at a fixed time, and a plain caller of both areas; closed when the test ends. */
export const openMerchant = async (transport: Transport, options: MockOptions = {}) => {
  const opened: Opened = await transport.open({ clock: '2026-12-01T06:00:00Z', ...options })
  const { mock } = opened
  onTestFinished(() => opened.close())

  const credentials = () => {
    const { clientId, clientSecret, username, password } = mock.clientOptions.subscriptions.credentials
    return { grant_type: 'password', client_id: clientId, client_secret: clientSecret, username, password }
  }
  const s = (path: string, sending?: Sending) =>
    send(opened.fetch, `${mock.clientOptions.subscriptions.baseUrl}${path}`, sending)
  const g = (path: string, sending?: Sending) =>
    send(opened.fetch, `${mock.clientOptions.gateway.baseUrl}${path}`, sending)
  const login = (fields: Record<string, unknown> = {}) =>
    s('/oauth/token', { body: { ...credentials(), ...fields } })
  const bearer = async () => ({ Authorization: `Bearer ${String((await login()).json.access_token)}` })
  const key = (idempotencyKey?: string): Record<string, string> => ({
    Authorization: `Bearer ${mock.clientOptions.gateway.apiKey}`,
    ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
  })

  return {
    ...opened,
    send: (url: string, sending?: Sending) => send(opened.fetch, url, sending),
    s,
    g,
    login,
    bearer,
    key,
    credentials,
    /** A subscription that its payer has authorized. */
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
