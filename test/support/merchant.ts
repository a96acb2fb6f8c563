import type { Clock, SubscriptionsClientOptions } from '../../src/index.ts'
import { CREDENTIALS, subscriptionsClient } from './clients.ts'

export type MerchantOptions = Partial<Omit<SubscriptionsClientOptions, 'baseUrl' | 'clock'>>

/** A client with the one read that the tests of tokens need. */
export const createMerchant = (baseUrl: string, clock: Clock, options: MerchantOptions = {}) => {
  const client = subscriptionsClient(baseUrl, { ...options, clock })
  return {
    client,
    details: async (signal?: AbortSignal): Promise<void> => {
      await client.details('sub-1', { signal })
    },
    login: () => client.login(),
  }
}

/** The key of the merchant's record in a token store. It ends with the version of the record. */
export const recordKey = (baseUrl: string): string =>
  ['token', baseUrl, CREDENTIALS.clientId, CREDENTIALS.username, '2'].map(encodeURIComponent).join(':')
