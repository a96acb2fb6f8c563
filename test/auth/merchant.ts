import type { Clock } from '../../src/clock.ts'
import type { SubscriptionsClientOptions } from '../../src/index.ts'
import { SubscriptionsClient } from '../../src/index.ts'

export const CREDENTIALS = {
  clientId: 'client-7',
  clientSecret: 'secret-of-the-client',
  username: 'merchant@shop.example',
  password: 'pass-word-of-the-merchant',
}

export type MerchantOptions = Partial<Omit<SubscriptionsClientOptions, 'baseUrl' | 'clock'>>

/** A client on real sockets, with the one read that the tests of tokens need. */
export const createMerchant = (baseUrl: string, clock: Clock, options: MerchantOptions = {}) => {
  const client = new SubscriptionsClient({ credentials: CREDENTIALS, ...options, baseUrl, clock })
  return {
    client,
    details: async (signal?: AbortSignal): Promise<void> => {
      await client.details('sub-1', { signal })
    },
    login: () => client.login(),
  }
}
