import * as z from 'zod/mini'
import type { Field, Input, Shape } from '../contract/fields.ts'
import { anyText, field, input, listOf, optional } from '../contract/fields.ts'
import { randomId } from '../contract/formats.ts'
import type { Token } from '../contract/subscriptions.ts'
import { UnexpectedResponseError } from '../errors.ts'
import type { Authorization } from './authorizer.ts'
import { isHeaderSafe, LOGIN } from './credentials.ts'

const number = field<number, number>('a finite number', (value) =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined,
)
const object = <Value>(fields: Shape) => z.looseObject(fields) as unknown as Field<Value, Value>
const list = <Item>(item: Field<Item, Item>) =>
  listOf(item as Field<Item>) as Field<readonly Item[], readonly Item[]>

const storedToken = {
  /** A random identifier, which reveals nothing of the token. */
  id: anyText,
  /** The access token itself: a secret. */
  accessToken: input('visible ASCII characters', isHeaderSafe),
  /** Kept only with `refresh: 'refresh_token'`. */
  refreshToken: optional(anyText),
  /** When it was received, in milliseconds of the clock of the process that received it. */
  obtainedAt: number,
  /** How long it may be used after that, in milliseconds. */
  lifetime: number,
}
/** An access token as a store keeps it. Plain JSON data. */
export interface StoredToken extends Input<typeof storedToken> {}

const refusedLogin = {
  /** Derived from the credentials and the record's salt. It does not lead back to them. */
  fingerprint: anyText,
  /** When it was rejected, in milliseconds of the clock of the process that was rejected. */
  at: number,
  /** HTTP status of the rejection. */
  status: number,
  /** The server's own code, if it sent one. */
  errorCode: optional(anyText),
  /** The server's identifier of the request, if it sent one. */
  serverRequestId: optional(anyText),
}
/** A login that the server rejected: what later calls need to fail with the same details. */
export interface RefusedLogin extends Input<typeof refusedLogin> {}

const loginPause = {
  /** When the server asked for it, in milliseconds of the clock of the process that was asked. */
  at: number,
  /** How long, in milliseconds. */
  wait: number,
}
/** A pause that the server asked for before the next token request. */
export interface LoginPause extends Input<typeof loginPause> {}

const tokenRecord = {
  /** Form of the record. A record of another version is not used. */
  version: field<1, 1>('1', (value) => (value === 1 ? value : undefined)),
  /** The token in use; absent when there is none. */
  token: optional(object<StoredToken>(storedToken)),
  /** Salt of the fingerprints. */
  salt: optional(anyText),
  /** Rejected logins, the newest last: at most 8, each of other credentials. */
  refusals: list(object<RefusedLogin>(refusedLogin)),
  /** When a 401 caused a renewal, in milliseconds; those of the last minute. */
  unauthorizedRenewals: list(number),
  /** Absent unless the response to the last token request asked for a pause. */
  pause: optional(object<LoginPause>(loginPause)),
}
/** The token and the rejected logins, which the processes of a merchant share. Plain JSON data. */
export interface TokenRecord extends Input<typeof tokenRecord> {}

/** A record that holds nothing. */
export const EMPTY_RECORD: TokenRecord = { version: 1, refusals: [], unauthorizedRenewals: [] }

const recordSchema = object<TokenRecord>(tokenRecord)

/** Reads what a store returned, or `undefined`: other programs and other versions write to stores as well. */
export const readTokenRecord = (value: unknown): TokenRecord | undefined => recordSchema.safeParse(value).data

/** Whether some process has logged in after `at`: the record's token is younger, and not the one known then. */
export const hasLoginSince = ({ token }: TokenRecord, at: number, knownId: string | undefined): boolean =>
  token !== undefined && token.id !== knownId && token.obtainedAt > at

/** Lifetime of a token whose response names no usable one, in milliseconds. */
const FALLBACK_LIFETIME = 300_000
/** The longest lifetime that is expected, in milliseconds. */
const LONGEST_LIFETIME = 86_400_000
/** A token is renewed at most this long before its end, in milliseconds. */
const LONGEST_MARGIN = 30_000

/** The token of a login's response. `oldRefreshToken` is kept when the response has none. */
export const tokenFrom = (response: Token, now: number, oldRefreshToken?: string): StoredToken => {
  // A field of an unexpected type is accepted and reported.
  const { access_token, refresh_token, expires_in }: { readonly [Name in keyof Token]?: unknown } = response
  if (!isHeaderSafe(access_token)) {
    const message = `${LOGIN} failed: the access_token of the response has characters that no header can carry.`
    const details = { operation: LOGIN, phase: 'response', outcome: 'unknown', attempts: 1 } as const
    throw new UnexpectedResponseError(message, { ...details, retryable: false, status: 200 })
  }
  const hasRefreshToken = typeof refresh_token === 'string' && refresh_token !== ''
  const seconds = Number(expires_in)
  return {
    id: randomId(),
    accessToken: access_token,
    refreshToken: hasRefreshToken ? refresh_token : oldRefreshToken,
    obtainedAt: now,
    lifetime: seconds >= 1 ? Math.min(seconds * 1000, LONGEST_LIFETIME) : FALLBACK_LIFETIME,
  }
}

/** A token in use, with times of this process's own clock. */
export interface HeldToken {
  readonly id: string
  readonly renewAt: number
  readonly expiresAt: number
  readonly authorization: Authorization
}

/** Takes a token into use. Only its age counts, because the clock of the process that stored it may be wrong. */
export const hold = (token: StoredToken, now: number): HeldToken => {
  const lifetime = Math.min(token.lifetime, LONGEST_LIFETIME)
  const expiresAt = Math.min(now, token.obtainedAt) + lifetime
  return {
    id: token.id,
    renewAt: expiresAt - Math.min(LONGEST_MARGIN, lifetime / 10),
    expiresAt,
    authorization: { header: `Bearer ${token.accessToken}` },
  }
}
