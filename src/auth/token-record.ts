/** An access token as a store keeps it. Plain JSON data. */
export interface StoredToken {
  /** A random mark: says which token it is, without being it. */
  readonly id: string
  /** The access token itself: a secret. */
  readonly accessToken: string
  /** Kept with `refresh: 'refresh_token'` only. */
  readonly refreshToken?: string
  /** When it was received, in milliseconds of the clock of the process that received it. */
  readonly obtainedAt: number
  /** How long it may be used from then on, in milliseconds. */
  readonly lifetime: number
}

/** A login that the server refused for good: what later calls need to fail with the same facts. */
export interface RefusedLogin {
  /** Derived from the credentials and the record's salt; it does not lead back to them. */
  readonly fingerprint: string
  /** When it was refused, in milliseconds of the clock of the process that was refused. */
  readonly at: number
  /** HTTP status of the refusal. */
  readonly status: number
  /** The server's own code, when it sent one. */
  readonly errorCode?: string
  /** The server's identifier of the request, when it sent one. */
  readonly requestId?: string
}

/** A pause that the server asked for before the next token request. */
export interface LoginPause {
  /** When it was asked for, in milliseconds of the clock of the process that asked. */
  readonly at: number
  /** How long, in milliseconds. */
  readonly wait: number
}

/** What the processes of a merchant share: the token, and which logins were refused. Plain JSON data. */
export interface TokenRecord {
  /** Form of the record; one of another version is not used. */
  readonly version: 1
  /** The token in use; absent when there is none. */
  readonly token?: StoredToken
  /** Salt of the fingerprints below. */
  readonly salt?: string
  /** At most `REFUSALS_KEPT`, newest last. */
  readonly refusals: readonly RefusedLogin[]
  /** When a 401 caused a renewal, in milliseconds; those of the last minute. */
  readonly unauthorizedRenewals: readonly number[]
  /** Absent unless the last token request was answered with a wish for patience. */
  readonly pause?: LoginPause
}

/** How many refused logins a record remembers, each of other credentials. */
export const REFUSALS_KEPT = 8

/** A record that knows nothing. */
export const EMPTY_RECORD: TokenRecord = { version: 1, refusals: [], unauthorizedRenewals: [] }

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

const optionalText = <Name extends string>(fields: Fields, name: Name): { [Key in Name]?: string } => {
  const value = fields[name]
  return typeof value === 'string' ? ({ [name]: value } as { [Key in Name]?: string }) : {}
}

const readToken = (value: unknown): StoredToken | undefined => {
  if (!isFields(value)) return undefined
  const { id, accessToken, obtainedAt, lifetime } = value
  if (typeof id !== 'string' || typeof accessToken !== 'string') return undefined
  if (!isTime(obtainedAt) || !isTime(lifetime)) return undefined
  return { id, accessToken, obtainedAt, lifetime, ...optionalText(value, 'refreshToken') }
}

const readPause = (value: unknown): LoginPause | undefined => {
  if (!isFields(value) || !isTime(value.at) || !isTime(value.wait)) return undefined
  return { at: value.at, wait: value.wait }
}

const readRefusal = (value: unknown): RefusedLogin | undefined => {
  if (!isFields(value)) return undefined
  const { fingerprint, at, status } = value
  if (typeof fingerprint !== 'string' || !isTime(at) || !isTime(status)) return undefined
  return {
    fingerprint,
    at,
    status,
    ...optionalText(value, 'errorCode'),
    ...optionalText(value, 'requestId'),
  }
}

/**
 * Reads what a store returned. Other people and other versions write to stores as well:
 * `undefined` when it is not a record of this version, and unreadable parts of a record are left out.
 */
export const readTokenRecord = (value: unknown): TokenRecord | undefined => {
  if (!isFields(value) || value.version !== 1) return undefined
  const { refusals, unauthorizedRenewals } = value
  if (!Array.isArray(refusals) || !Array.isArray(unauthorizedRenewals)) return undefined
  const token = readToken(value.token)
  const pause = readPause(value.pause)
  return {
    version: 1,
    ...(token === undefined ? {} : { token }),
    ...(pause === undefined ? {} : { pause }),
    ...optionalText(value, 'salt'),
    refusals: refusals
      .slice(-REFUSALS_KEPT)
      .map(readRefusal)
      .filter((refusal) => refusal !== undefined),
    unauthorizedRenewals: unauthorizedRenewals.filter(isTime).slice(-16),
  }
}
