import { GatewayClient, isMandateKitError, SubscriptionsClient } from 'mandatekit'
import type { MockOptions } from 'mandatekit/mocks/core'
import { createMock } from 'mandatekit/mocks/core'

export const ORDER = {
  requestID: 'order-1',
  start: '2026-12-01',
  end: '2027-06-30',
  userReturnURL: 'https://shop.example/return',
  cycle: 'DAILY',
  amount: '25.00',
} as const

export const CHARGE = {
  msisdn: '+99900000001',
  amount: 250,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
}

/** A mock and the clients of its options, as a user's test makes them. */
export const open = (options: MockOptions = {}) => {
  const mock = createMock({ clock: '2026-12-01T06:00:00Z', ...options })
  const { fetch } = mock
  return {
    mock,
    subscriptions: new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch }),
    gateway: new GatewayClient({ ...mock.clientOptions.gateway, fetch }),
  }
}

/** Code of the error that a call ends with, and what it says of the outcome; `undefined` for a success. */
export const refusal = async (call: Promise<unknown>): Promise<string | undefined> => {
  try {
    await call
    return undefined
  } catch (error) {
    if (!isMandateKitError(error)) throw error
    return `${error.code} ${error.outcome}`
  }
}
