import { duration } from '../check.ts'
import type { Field, Input, Issues } from '../contract/fields.ts'
import * as fields from '../contract/fields.ts'
import { randomId } from '../contract/formats.ts'
import type { Token } from '../contract/subscriptions.ts'
import type { Verdict } from '../contract/verdict.ts'
import { UnexpectedResponseError } from '../errors.ts'
import { isHeaderSafe } from './authorizer.ts'
import { LOGIN } from './credentials.ts'

const milliseconds = duration(Number.MAX_SAFE_INTEGER)
// Some databases do not save an empty list.
const list = <Item>(item: Field<Item, Item>) =>
  fields.unless<readonly Item[], readonly Item[], readonly Item[]>(
    fields.listOf(item),
    (value) => value === undefined,
    () => [],
  )

const storedToken = {
  /** Random identifier of the token. The identifier reveals nothing about the token. */
  id: fields.anyText,
  /** The access token, which is secret. */
  accessToken: fields.input('visible ASCII characters', isHeaderSafe),
  /** The refresh token. The client keeps the refresh token only with `refresh: 'refresh_token'`. */
  refreshToken: fields.optional(fields.anyText),
  /** When a process received the token, in milliseconds since 1970 on that process's clock. */
  obtainedAt: milliseconds,
  /** How long the token may be used after `obtainedAt`, in milliseconds. */
  lifetime: milliseconds,
}
/** A token in a store, as plain JSON data. */
export interface StoredToken extends Input<typeof storedToken> {}

const loginBlock = {
  /** Salted hash of the rejected credentials. If absent, this login block applies to all credentials. */
  fingerprint: fields.optional(fields.anyText),
  /** When the block began, in milliseconds since 1970 on the clock of the process that sent the login. */
  at: milliseconds,
  /** Length of the block, in milliseconds. */
  wait: milliseconds,
  /** HTTP status of the failed login. Absent if no response came, or if the response stated how long to wait. */
  status: fields.optional(fields.wholeNumber(100)),
  /** The error code in the response. */
  errorCode: fields.optional(fields.anyText),
  /** Cause of the failure, such as `locked`. Absent if `status` is absent. */
  verdict: fields.optional(
    fields.oneOf<Verdict>(['rejected-credentials', 'locked', 'rate-limited', 'somebody-else']),
  ),
}
/** A period in which no process logs in, because a token request failed. */
export interface LoginBlock extends Input<typeof loginBlock> {}

/** Version of the record's format. It is part of the record's key, so each version has its own record. */
export const RECORD_VERSION = 2

const tokenRecord = {
  /** Version of the record's format. */
  version: fields.guarded('2', (value): value is 2 => value === RECORD_VERSION),
  /** The token in use, if any. */
  token: fields.optional(fields.object<StoredToken>(storedToken)),
  /** Random text. Each `fingerprint` is a hash of this text and the credentials. */
  salt: fields.optional(fields.anyText),
  /** The blocks that prevent logins: at most 8, with at most one for each `fingerprint`. */
  blocks: list(fields.object<LoginBlock>(loginBlock)),
  /** Times of the last minute's token renewals after 401 responses, in milliseconds since 1970. */
  unauthorizedRenewals: list(milliseconds),
}
/** The token and the `LoginBlock`s that a merchant's processes share, as plain JSON data. */
export interface TokenRecord extends Input<typeof tokenRecord> {}

export const EMPTY_RECORD: TokenRecord = { version: RECORD_VERSION, blocks: [], unauthorizedRenewals: [] }

const recordSchema = fields.object<TokenRecord>(tokenRecord)

export const readTokenRecord = (value: unknown): TokenRecord | undefined => {
  const issues: Issues = []
  const record = fields.readWith<TokenRecord, unknown>(recordSchema, value, issues)
  return issues.length === 0 ? record : undefined
}

/**
 * Merges the record of the store and the record that this process wrote last, because a store may return an old or
 * incomplete record. Drops this process's login blocks that are older than another process's login, which ended them.
 */
export const mergeRecords = (found: TokenRecord, own: TokenRecord, isSaved: boolean): TokenRecord => {
  const salt = found.salt ?? own.salt
  const { obtainedAt = 0, id } = found.token ?? {}
  const loginAt = id === own.token?.id ? 0 : obtainedAt
  const ownBlocks = own.blocks
    // Fingerprints with different salts cannot be compared. So a block with another salt applies to all credentials.
    .map((block) => (own.salt === salt ? block : { ...block, fingerprint: undefined }))
    .filter(({ at }) => at >= loginAt)
  // If two blocks have the same fingerprint, the block that ends later remains.
  const endOf = ({ at, wait }: LoginBlock): number => at + wait
  const blocks = [...found.blocks, ...ownBlocks].sort((one, other) => endOf(one) - endOf(other))
  const newest = ({ unauthorizedRenewals }: TokenRecord): number => unauthorizedRenewals.at(-1) ?? 0
  return {
    version: RECORD_VERSION,
    token: !isSaved && (own.token?.obtainedAt ?? 0) > obtainedAt ? own.token : found.token,
    salt,
    blocks: [...new Map(blocks.map((block) => [block.fingerprint, block])).values()],
    unauthorizedRenewals: (newest(own) >= newest(found) ? own : found).unauthorizedRenewals,
  }
}

/** Lifetime of a token, in milliseconds, if the response has no usable `expires_in`. */
const FALLBACK_LIFETIME = 300_000
/** The longest lifetime of a token, in milliseconds. A longer `expires_in` counts as this lifetime. */
const MAX_LIFETIME_MS = 86_400_000
/** The client renews a token early, but at most this many milliseconds before the token expires. */
const MAX_MARGIN_MS = 30_000

/** Returns the token of a response. Adds `oldRefreshToken` if the response has no refresh token. */
export const tokenFrom = (response: Token, now: number, oldRefreshToken?: string): StoredToken => {
  // At run time, the response's fields may have any type.
  const { access_token, refresh_token, expires_in }: { readonly [Name in keyof Token]?: unknown } = response
  if (!isHeaderSafe(access_token)) {
    const message = `${LOGIN} failed: the access_token has characters that no header can carry.`
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
    lifetime: seconds >= 1 ? Math.min(seconds * 1000, MAX_LIFETIME_MS) : FALLBACK_LIFETIME,
  }
}

/** The token that a client uses. Its times are in milliseconds since 1970 on the client's clock. */
export interface ActiveToken {
  readonly header: string
  readonly id: string
  /** True if this client requested the token. False if the token comes from the store. */
  readonly isRequested: boolean
  readonly obtainedAt: number
  renewAt: number
  readonly expiresAt: number
}

/** If `obtainedAt` is in the future, the token counts as received now. */
export const activate = (token: StoredToken, now: number, isRequested: boolean): ActiveToken => {
  const lifetime = Math.min(token.lifetime, MAX_LIFETIME_MS)
  const obtainedAt = Math.min(now, token.obtainedAt)
  const expiresAt = obtainedAt + lifetime
  const renewAt = expiresAt - Math.min(MAX_MARGIN_MS, lifetime / 10)
  return { header: `Bearer ${token.accessToken}`, id: token.id, isRequested, obtainedAt, renewAt, expiresAt }
}
