import { check } from '../check.ts'
import { waitAtMost } from '../clock.ts'
import { type Field, input, jsonOf, readWith, schema } from '../contract/fields.ts'
import { InvalidRequestError } from '../errors.ts'

/** Provides the Authorization header for each attempt of a call. */
export interface CallAuthorization {
  /** Returns the header for the next attempt, or undefined if the client must first call `obtain`. */
  current(): string | undefined
  /** Gets a token or API key, then returns the Authorization header. Rejects if the signal is aborted first. */
  obtain(signal: AbortSignal): Promise<string>
  /** Called after a 401 response. Returns how many ms to wait before the retry, or undefined if the call must fail. */
  retry?(signal: AbortSignal): Promise<number | undefined>
}

/**
 * Starts a call's authorization. A failed login pauses logins. If the pause is short and `waits` is true, the call
 * waits until the pause ends. Otherwise, the call fails at once. `remaining` returns the ms left of `totalTimeout`.
 */
export type Authorizer = (operation: string, waits: boolean, remaining: () => number) => CallAuthorization

/** The client waits at most this many ms (real time) for a function that returns an API key or credentials. */
const SOURCE_LIMIT = 30_000

/** Returns whether a header can carry a token or key. If not, `fetch` would throw an error that quotes the secret. */
export const isHeaderSafe = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)

/** Extends the schema `inner`: it also accepts a function. The client checks each result of the function. */
export const orFunction = <Source>(inner: Field<unknown>): Field<Source, Source> =>
  schema(
    () => jsonOf(inner),
    (value, issues) => (typeof value === 'function' ? value : readWith(inner, value, issues)),
  )

/** Describes an error by its class and code. Omits the message, because the message could quote a secret. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown error'
  const code: unknown = Reflect.get(error, 'code')
  const reason = typeof code === 'string' && /^\w{1,40}$/.test(code) ? `, ${code}` : ''
  return `${/^\w{1,40}$/.test(error.name) ? error.name : 'Error'}${reason}`
}

/** Returns `source`, or its result if it is a function. Hides the function's error: it may quote a secret. */
export const readSecret = async (operation: string, option: string, source: unknown): Promise<unknown> => {
  if (typeof source !== 'function') return source
  return waitAtMost((async () => source())(), SOURCE_LIMIT).catch((error: unknown) => {
    const received = describeError(error)
    const message = `The function passed as ${option} failed (${received}). Calling again is safe`
    const issue = { field: option, rule: 'a function that returns the value', received, message }
    throw new InvalidRequestError(operation, [issue], { phase: 'login', retryable: true })
  })
}

/** An API key, or a function that returns it. The client calls the function once for each API call. */
export type ApiKeySource = string | (() => string | Promise<string>)

const apiKeySchema = input(
  'a string of visible ASCII characters without spaces, or a function that returns one',
  isHeaderSafe,
)

export const apiKeyOption = orFunction<ApiKeySource>(apiKeySchema)

/** Authorizes calls with the API key (area G). After HTTP 401, a call fails: the client cannot renew the key. */
export const createApiKeyAuthorizer =
  (apiKey: ApiKeySource): Authorizer =>
  (operation) => {
    // A server keeps idempotency keys per API key, so a retry with another API key would charge again.
    let header = typeof apiKey === 'string' ? `Bearer ${apiKey}` : undefined
    return {
      current: () => header,
      obtain: async () => {
        const key = await readSecret(operation, 'apiKey', apiKey)
        header = `Bearer ${check(operation, apiKeySchema, key, 'apiKey', { phase: 'login' })}`
        return header
      },
    }
  }
