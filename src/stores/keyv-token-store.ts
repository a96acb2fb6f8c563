import type { TokenRecord } from '../auth/token-record.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { KeyvLike, KeyvOptions } from './keyv-access.ts'
import { accessKeyv } from './keyv-access.ts'

/**
 * Shares tokens and refused logins through a Keyv with any backend. Keyv knows no lock: clients of one process take
 * turns, but processes that find no token at the same moment each log in. For one login in a whole fleet use
 * `createRedisTokenStore`, or add a `withLock` of your own.
 *
 * When the backend fails, each process goes on with its own memory, and no call fails.
 *
 * @throws {InvalidRequestError} at once when it is given no Keyv.
 * @example
 * new SubscriptionsClient({ baseUrl, credentials, tokenStore: createKeyvTokenStore(new Keyv(backend)) })
 */
export const createKeyvTokenStore = (keyv: KeyvLike, options: KeyvOptions = {}): TokenStore => {
  const access = accessKeyv(keyv, options)
  return {
    // The client checks what a store returns, whatever its type says.
    get: async (key) => (await access.get(key)) as TokenRecord | undefined,
    set: access.set,
    delete: access.delete,
  }
}
