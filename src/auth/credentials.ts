import type { InputIssue } from '../errors.ts'
import { InvalidRequestError } from '../errors.ts'
import { withTimeout } from './timeout.ts'

/** What a merchant logs in with (S-a). */
export interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
  readonly username: string
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
const RULE = 'text that is not blank and has no control characters (a line break at the end, perhaps)'
const SOURCE_LIMIT = 30_000

// Control characters, and halves of surrogate pairs, which no JSON or form body carries faithfully.
const UNSENDABLE = /[\p{Cc}\p{Cs}]/u
const HEADER_SAFE = /^[\x21-\x7e]+$/

/** Whether text can stand behind `Bearer ` in a header. The platform's own refusal would quote it. */
export const isHeaderSafe = (value: unknown): value is string =>
  typeof value === 'string' && HEADER_SAFE.test(value)

/** Names the kind of a value for an error, never the value. */
export const kindOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (typeof value !== 'string') return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
  if (value.trim() === '') return 'blank text'
  return 'text with characters that are not allowed'
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

/** The credentials, checked and copied. Throws `InvalidRequestError`, which names what is wrong and quotes nothing. */
const checkCredentials = (value: unknown): Credentials => {
  const given = (typeof value === 'object' && value !== null ? value : {}) as Partial<Record<string, unknown>>
  const issues: InputIssue[] = []
  const text = (name: (typeof NAMES)[number]): string => {
    const found = given[name]
    if (typeof found === 'string' && found.trim() !== '' && !UNSENDABLE.test(found)) return found
    issues.push({ field: `credentials.${name}`, rule: RULE, received: kindOf(found) })
    return ''
  }
  const [clientId, clientSecret, username, password] = NAMES.map(text) as [string, string, string, string]
  if (issues.length > 0) throw new InvalidRequestError(LOGIN, issues, { phase: 'login' })
  return { clientId, clientSecret, username, password }
}

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
