import { check } from '../check.ts'
import { waitAtMost } from '../clock.ts'
import { type Field, type Input, input, jsonOf, object, readWith, schema } from '../contract/fields.ts'
import { InvalidRequestError } from '../errors.ts'

/** Errors about credentials have this operation id. */
export const LOGIN = 'subscriptions.login'

/** How long the client waits for a function that returns a secret, in milliseconds of real time. */
const SOURCE_LIMIT = 30_000

/** Returns whether a header can contain a token. If not, `fetch` would throw an error that quotes the token. */
export const isHeaderSafe = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)

// `\p{Cs}` matches half of a surrogate pair, which JSON and forms cannot carry reliably.
const credential = input(
  'a string that is not blank and has no control characters',
  (value) => value.trim() !== '' && !/[\p{Cc}\p{Cs}]/u.test(value),
)

const credentials = {
  /** The merchant application's id, sent as `client_id`. `subscribe` sends it as `clientID` by default. (S-a) */
  clientId: credential,
  /** The merchant application's secret, sent as `client_secret`. (S-a) */
  clientSecret: credential,
  /** The user that logs in and that a lockout applies to. (S-a) */
  username: credential,
  /** The user's password. (S-a) */
  password: credential,
}
/** The credentials of a merchant's login. (S-a) */
export interface Credentials extends Input<typeof credentials> {}

/**
 * Credentials, or a function that returns them. The client calls the function for each login, not for each call.
 * After a rejected login, the client calls the function in each API call, to check for changed credentials.
 */
export type CredentialsSource = Credentials | (() => Credentials | Promise<Credentials>)

// The schema accepts additional fields, such as a region.
const credentialsSchema = object<Credentials>(
  credentials,
  'an object with clientId, clientSecret, username and password, or a function that returns one',
)

/** Makes a schema that accepts a valid value or any function. A function's result is checked after each call. */
export const orFunction = <Source>(inner: Field<unknown>): Field<Source, Source> =>
  schema(
    () => jsonOf(inner),
    (value, issues) => (typeof value === 'function' ? value : readWith(inner, value, issues)),
  )

export const credentialsOption = orFunction<CredentialsSource>(credentialsSchema)

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

export const readCredentials = async (source: CredentialsSource): Promise<Credentials> => {
  const given = await readSecret(LOGIN, 'credentials', source)
  return check(LOGIN, credentialsSchema, given, 'credentials', { phase: 'login' })
}
