import { check } from '../check.ts'
import { input } from '../contract/fields.ts'
import { isHeaderSafe, orFunction, readSecret } from './credentials.ts'

/** The call that needs an authorization. If calls share a token request, the request continues when one call ends. */
export interface AuthorizationContext {
  readonly operation: string
  /** Signal that is aborted when the call ends. */
  readonly signal: AbortSignal
  /** Milliseconds until the call exceeds its `totalTimeout`. */
  readonly remaining: number
  /** Whether the call waits until a login pause ends. If false, the call fails at once. */
  readonly waits: boolean
  /** The authorization of the call's previous attempt. */
  readonly previous: Authorization | undefined
}

/** The authorization of one attempt. Each token has one `Authorization` object, so compare with `===`. */
export interface Authorization {
  readonly header: string
}

/** Provides the authorization of attempts, and handles rejected authorizations. */
export interface Authorizer {
  /** Returns the authorization that an attempt can use now, without I/O. */
  current(): Authorization | undefined
  /** Logs in if necessary, then returns the authorization for the next attempt. */
  authorize(context: AuthorizationContext): Promise<Authorization>
  /** Returns whether the token is so new that a part of the API may not know it yet. */
  isNew(authorization: Authorization): boolean
  /**
   * Called after a 401. `renewed`: a token request gave a new token, and the call may retry once. `replaced`: another
   * process had a newer token, and the call may retry. `rejected`: there is no other token.
   */
  refused(authorization: Authorization, signal: AbortSignal): Promise<'renewed' | 'replaced' | 'rejected'>
}

/** An API key, or a function that returns it. The client calls the function once for each call. */
export type ApiKeySource = string | (() => string | Promise<string>)

const apiKeySchema = input(
  'a string of visible ASCII characters without spaces, or a function that returns one',
  isHeaderSafe,
)

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
