import type { InputIssue } from '../errors.ts'
import { InvalidRequestError } from '../errors.ts'
import { isFields, unknownNames, unless, whileReading } from '../transport/input-issues.ts'
import { kindOfValue } from '../transport/kind-of-value.ts'
import { withTimeout } from './timeout.ts'

/** What a merchant logs in with (S-a). */
export interface Credentials {
  /** The merchant application's identifier, sent as `client_id`; also the default of `clientID` in `subscribe` (S-a). */
  readonly clientId: string
  /** The merchant application's secret, sent as `client_secret` (S-a). */
  readonly clientSecret: string
  /** The user that logs in; a lockout is that user's (S-a). */
  readonly username: string
  /** The user's password (S-a). */
  readonly password: string
}

/**
 * Credentials, or a function that gives them. The function is called for each login (and, while a refused login
 * stands, to see whether they changed), not for each call.
 */
export type CredentialsSource = Credentials | (() => Credentials | Promise<Credentials>)

/** The operation that credential errors name. */
export const LOGIN = 'subscriptions.login'

const NAMES = ['clientId', 'clientSecret', 'username', 'password'] as const

/** Whether two are the same in all that a login sends. */
export const areSame = (one: Credentials, other: Credentials): boolean =>
  NAMES.every((name) => one[name] === other[name])

const RULE = 'text that is not blank and has no control characters'
const SHAPE = `an object with ${NAMES.join(', ')}, or a function that gives one`
const SOURCE_LIMIT = 30_000

// Control characters, and halves of surrogate pairs, which no JSON or form body carries faithfully.
const UNSENDABLE = /[\p{Cc}\p{Cs}]/u
const HEADER_SAFE = /^[\x21-\x7e]+$/

/** Whether text can stand behind `Bearer ` in a header. The platform's own refusal would quote it. */
export const isHeaderSafe = (value: unknown): value is string =>
  typeof value === 'string' && HEADER_SAFE.test(value)

/** Names the kind of a secret that cannot be used, never the secret. */
export const kindOfSecret = (value: unknown): string => {
  if (typeof value !== 'string' || value.trim() === '') return kindOfValue(value)
  return /[\r\n]$/.test(value)
    ? 'text with a line break at its end'
    : 'text with characters that are not allowed'
}

/** Names a failure for an error by its class and code: its message could quote a secret. */
export const failureOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'a rejection'
  const { code } = error as { code?: unknown }
  const reason = typeof code === 'string' && /^\w{1,40}$/.test(code) ? `, ${code}` : ''
  return `a failure (${/^\w{1,40}$/.test(error.name) ? error.name : 'Error'}${reason})`
}

/**
 * The error of a call whose credentials function or API key function failed; trying again is safe. The failure itself
 * is not kept as the cause: what a secret manager reports may hold the secret.
 */
export const sourceFailure = (operation: string, field: string, failure: unknown): InvalidRequestError =>
  new InvalidRequestError(
    operation,
    [
      {
        field,
        rule: 'a function that resolves',
        received: failureOf(failure),
        sentence: `the function given as ${field} ended in ${failureOf(failure)}`,
      },
    ],
    { phase: 'login', retryable: true },
  )

const isUsable = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && !UNSENDABLE.test(value)

/** The issues of credentials, which name what is wrong and quote nothing. */
export const credentialsIssues = (value: unknown): InputIssue[] => {
  if (!isFields(value)) return unless(false, 'credentials', SHAPE, value)
  const issues = NAMES.flatMap((name): InputIssue[] => {
    const found = value[name]
    if (isUsable(found)) return []
    return [{ field: `credentials.${name}`, rule: RULE, received: kindOfSecret(found) }]
  })
  // They may hold more than is needed here, such as a region: that is an issue only where something is missing.
  return issues.length === 0 ? [] : [...issues, ...unknownNames(value, NAMES, 'field', 'credentials')]
}

/** The credentials, checked and copied. Throws `InvalidRequestError`. */
const checkCredentials = (value: unknown): Credentials =>
  whileReading(LOGIN, 'credentials', () => {
    const given = (isFields(value) ? value : {}) as Partial<Credentials>
    const { clientId = '', clientSecret = '', username = '', password = '' } = given
    const copy = { clientId, clientSecret, username, password }
    if (NAMES.every((name) => isUsable(copy[name]))) return copy
    throw new InvalidRequestError(LOGIN, credentialsIssues(value), { phase: 'login' })
  })

/**
 * Gives checked credentials each time it is called. Fixed ones are checked at once. A function that fails, or takes
 * longer than 30 s, becomes an `InvalidRequestError` that may be tried again.
 */
export const createCredentialsReader = (source: CredentialsSource): (() => Promise<Credentials>) => {
  if (typeof source !== 'function') {
    const checked = Promise.resolve(checkCredentials(source))
    return () => checked
  }
  return async () => {
    let given: unknown
    try {
      given = await withTimeout(Promise.resolve().then(source), SOURCE_LIMIT, 'The credentials function')
    } catch (error) {
      throw sourceFailure(LOGIN, 'credentials', error)
    }
    return checkCredentials(given)
  }
}
