import { check } from '../check.ts'
import { input } from '../contract/fields.ts'
import type { Authorization, Authorizer } from './authorizer.ts'
import { isHeaderSafe, orFunction, readSecret } from './credentials.ts'

/** An API key, or a function that returns it. The client calls the function once for each call. */
export type ApiKeySource = string | (() => string | Promise<string>)

const apiKeySchema = input(
  'a string of visible ASCII characters without spaces, or a function that returns one',
  isHeaderSafe,
)

/** The option `apiKey` of a client. */
export const apiKeyOption = orFunction<ApiKeySource>(apiKeySchema)

/** Authorizes attempts with a configured key (area G). A 401 is final, because the client cannot renew the key. */
export const createApiKeyAuthorizer = (apiKey: ApiKeySource): Authorizer => {
  const authorizationOf = (key: string): Authorization => ({ header: `Bearer ${key}` })
  const fixed = typeof apiKey === 'string' ? authorizationOf(apiKey) : undefined
  return {
    current: () => fixed,
    authorize: async ({ operation, previous }) => {
      // A server keeps idempotency keys for each API key. With a new API key, a retry would charge again.
      if (previous !== undefined) return previous
      const key = await readSecret(operation, 'apiKey', apiKey)
      return authorizationOf(check(operation, apiKeySchema, key, 'apiKey', { phase: 'login' }))
    },
    isNew: () => false,
    refused: async () => 'rejected',
  }
}
