import type {
  Clock,
  GatewayClientOptions,
  MandateKitError,
  Payment,
  SubscriptionsClientOptions,
} from '../../src/index.ts'
import { GatewayClient, isMandateKitError, SubscriptionsClient } from '../../src/index.ts'
import type { Received, Script } from './scripted-server.ts'

export const TOKEN = 'token-7f3a9c51e2'
export const API_KEY = 'api-key-5512ab90'
export const CREDENTIALS = {
  clientId: 'merchant-1',
  clientSecret: 'client-secret-81c0',
  username: 'merchant',
  password: 'pass-word-4d2e',
}

/** A clock that never waits: it notes how long it was asked to, and is that much later. */
export interface SkippingClock extends Clock {
  readonly waits: number[]
}

export const skippingClock = (now = Date.parse('2026-11-28T12:00:00Z')): SkippingClock => {
  const waits: number[] = []
  let time = now
  return {
    waits,
    now: () => time,
    sleep: async (milliseconds) => {
      waits.push(milliseconds)
      time += milliseconds
    },
  }
}

export const subscriptionsClient = (baseUrl: string, options: Partial<SubscriptionsClientOptions> = {}) =>
  new SubscriptionsClient({ baseUrl, credentials: CREDENTIALS, ...options })

export const gatewayClient = (baseUrl: string, options: Partial<GatewayClientOptions> = {}) =>
  new GatewayClient({ baseUrl, apiKey: API_KEY, ...options })

/** Answers logins; the script answers everything else, counting from 0. */
export const withLogin = (script: readonly Script[] | ((request: Received, index: number) => Script)) => {
  let index = -1
  return (request: Received): Script => {
    if (request.url === '/oauth/token') {
      return {
        body: { token_type: 'Bearer', expires_in: 3600, access_token: TOKEN, refresh_token: 'refresh-03' },
      }
    }
    index += 1
    return typeof script === 'function' ? script(request, index) : (script[index] ?? script.at(-1) ?? {})
  }
}

export const SUBSCRIPTION = {
  requestID: 'order-77',
  start: '2026-12-01',
  end: '2027-11-30',
  cycle: 'WEEKLY',
  amount: '25.00',
  userReturnURL: 'https://shop.example/return',
} as const

export const CHARGE_REQUEST = {
  msisdn: '8801700000001',
  amount: 250,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
}

export const CHARGE = {
  id: 'ch_1',
  msisdn: '8801700000001',
  amount: 250,
  currency: 'BDT',
  status: 'pending_confirmation',
  outcome: 'PENDING',
  confirmation_id: 'conf_1',
  confirmation_url: 'https://gateway.example/confirm/conf_1',
  created_at: '2026-11-28T12:00:00Z',
}

export const OK = { errorCode: '00', errorMessage: 'Operation successful' }
export const SUBSCRIBED = { url: 'https://pay.example/a/1', invoiceID: 'inv-1', ...OK }
export const CANCELLED = { id: 7, subscriptionID: 'sub-1', requestID: 9, status: 'PROCESSED', ...OK }
export const DETAILS = {
  id: 'sub-1',
  amount: 25,
  cycle: 'WEEKLY',
  enabled: 1,
  createdDate: '2026-11-28T12:00:00.000000Z',
  startDate: '2026-12-01',
  endDate: '2027-11-30',
  nextPaymentDate: '2026-12-01 12:00:00',
  requestID: 'order-77',
  ...OK,
}

/** A payment as the platform lists it (S6), and as the client returns it. */
export const payment = (paymentId: number, changes: Partial<Payment> = {}): Payment => ({
  paymentId,
  cycle: 'DAILY',
  dueDate: '2026-12-01',
  reverseTransactionAmount: null,
  reverseTransactionDate: null,
  reverseTransactionId: null,
  status: 'SUCCEEDED_PAYMENT',
  subscriptionId: 'sub-1',
  transactionDate: '2026-12-01 12:00:00',
  transactionId: `t-${paymentId}`,
  nextPaymentDate: '2026-12-02',
  ...changes,
})

/** The error that a call ends with; fails the test when it ends otherwise. */
export const errorOf = async <Kind extends MandateKitError = MandateKitError>(
  work: Promise<unknown>,
): Promise<Kind> => {
  const error = await work.then(
    (value) => {
      throw new Error(`The call resolved: ${JSON.stringify(value)}`)
    },
    (reason: unknown) => reason,
  )
  if (!isMandateKitError(error)) throw error
  return error as Kind
}
