import type { Payment } from '../../src/index.ts'

/** A subscription that a merchant asks for (S1). */
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
