import { createHmac } from 'node:crypto'
import { hmacVerifier } from '../../src/notifications/index.ts'
import { SUBSCRIPTION } from './bodies.ts'

/** A payment's message as the platform sends it (S8). */
export const payment = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  notificationId: 'n-1',
  type: 'SUBSCRIPTION_PAYMENT',
  status: 'SUCCEEDED_PAYMENT',
  subscriptionId: 'sub-1',
  paymentId: '42',
  timestamp: '1796032800',
  ...changes,
})

/** A subscription's message as the platform sends it (S8). */
export const subscription = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  notificationId: 'n-2',
  type: 'SUBSCRIPTION',
  status: 'CANCELLED',
  subscriptionId: 'sub-1',
  paymentId: '',
  timestamp: '1796032800',
  ...changes,
})

/** A parsed `payment()`. */
export const parsedPayment = {
  type: 'SUBSCRIPTION_PAYMENT',
  status: 'SUCCEEDED_PAYMENT',
  notificationId: 'n-1',
  subscriptionId: 'sub-1',
  paymentId: '42',
  occurredAt: new Date('2026-11-30T10:00:00Z'),
  raw: payment(),
}

/** A subscription that a payer is asked for (S1). */
export const subscriptionRequest = {
  ...SUBSCRIPTION,
  start: '2027-01-01',
  end: '2027-12-31',
  cycle: 'DAILY',
} as const

/** A delivery by POST; objects are sent as JSON. */
export const delivery = (body: unknown, headers: Record<string, string> = {}): Request =>
  new Request('https://shop.example/notifications', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
  })

/** The secret that signs deliveries. */
export const SIGNING_SECRET = 'a-secret-for-trying-out'

/** The signature of a body, in hex. */
export const sign = (body: string | Uint8Array, secret = SIGNING_SECRET): string =>
  createHmac('sha256', secret).update(body).digest('hex')

/** The options of a handler that verifies this signature. */
export const signing = { verify: hmacVerifier({ header: 'x-signature', secrets: SIGNING_SECRET }) }
