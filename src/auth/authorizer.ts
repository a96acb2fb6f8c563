import { check } from '../check.ts'
import { waitAtMost } from '../clock.ts'
import { type Field, input, jsonOf, readWith, schema } from '../contract/fields.ts'
import { InvalidRequestError } from '../errors.ts'

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

/** Provides the authorization of attempts. Without `refused`, a 401 is final. */
export interface Authorizer {
  /** Returns the authorization that an attempt can use now, without I/O. */
  current(): Authorization | undefined
  /** Logs in if necessary, then returns the authorization for the next attempt. */
  authorize(context: AuthorizationContext): Promise<Authorization>
  /** Returns whether the token is so new that a part of the API may not know it yet. */
  isNew?(authorization: Authorization): boolean
  /**
   * Called after a 401. `renewed`: a token request gave a new token, and the call may retry once. `replaced`: another
   * process had a newer token, and the call may retry. `rejected`: there is no other token.
   */
  refused?(authorization: Authorization, signal: AbortSignal): Promise<'renewed' | 'replaced' | 'rejected'>
}

/** How long the client waits for a function that returns a secret, in milliseconds of real time. */
const SOURCE_LIMIT = 30_000

/** Returns whether a header can contain a token. If not, `fetch` would throw an error that quotes the token. */
export const isHeaderSafe = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)

/** Makes a schema that accepts a valid value or any function. A function's result is checked after each call. */
export const orFunction = <Source>(inner: Field<unknown>): Field<Source, Source> =>
  schema(
    () => jsonOf(inner),
    (value, issues) => (typeof value === 'function' ? value : readWith(inner, value, issues)),
  )

/** Describes an error by its class and code. Omits the message, because the message could quote a secret. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return 'a rejection'
  const code: unknown = Reflect.get(error, 'code')
  const reason = typeof code === 'string' && /^\w{1,40}$/.test(code) ? `, ${code}` : ''
  return `a failure (${/^\w{1,40}$/.test(error.name) ? error.name : 'Error'}${reason})`
}

/** Returns `source`, or the result of `source()`. Hides the function's error, which may contain the secret. */
export const readSecret = async (operation: string, option: string, source: unknown): Promise<unknown> => {
  if (typeof source !== 'function') return source
  return waitAtMost((async () => source())(), SOURCE_LIMIT).catch((error: unknown) => {
    const received = describeError(error)
    const message = `The function passed as ${option} ended in ${received}. Calling again is safe`
    const issue = { field: option, rule: 'a function that resolves', received, message }
    throw new InvalidRequestError(operation, [issue], { phase: 'login', retryable: true })
  })
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
  }
}
