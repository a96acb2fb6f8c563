import type { GatewayClientOptions, MandateKitError, SubscriptionsClientOptions } from '../../src/index.ts'
import { GatewayClient, isMandateKitError, SubscriptionsClient } from '../../src/index.ts'

export const TOKEN = 'token-7f3a9c51e2'
export const API_KEY = 'api-key-5512ab90'
export const CREDENTIALS = {
  clientId: 'merchant-1',
  clientSecret: 'client-secret-81c0',
  username: 'merchant',
  password: 'pass-word-4d2e',
}

export const subscriptionsClient = (baseUrl: string, options: Partial<SubscriptionsClientOptions> = {}) =>
  new SubscriptionsClient({ baseUrl, credentials: CREDENTIALS, ...options })

export const gatewayClient = (baseUrl: string, options: Partial<GatewayClientOptions> = {}) =>
  new GatewayClient({ baseUrl, apiKey: API_KEY, ...options })

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
