import { SECOND, toMilliseconds } from '../duration.ts'
import type { Ids } from '../ids.ts'
import { accepted, type Fields, type Result, refused } from '../result.ts'
import { readTexts } from './check-request.ts'
import type { SubscriptionsOptions } from './options.ts'
import type { Merchant } from './types.ts'

/** The failed logins with one merchant's username, and the lock that they caused. */
export interface Failures {
  readonly times: number[]
  lockedUntil: number | undefined
}

// When failed logins of this many usernames are stored, the mock removes outdated failed logins and ended locks.
const MANY_USERNAMES = 1_000

/** Returns a key for a merchant's user, as JSON. With a separator such as `:`, two users could have the same key. */
const userKey = ({ clientId, username }: Merchant): string => JSON.stringify([clientId, username])

/**
 * Counts failed logins and locks usernames (Authentication, area S, rule 4; row 35). Each merchant has its own
 * usernames. Logins during a lock are not counted, so they do not prolong the lock.
 */
const createLockout = (rule: SubscriptionsOptions['lockout'], now: () => number) => {
  const byUser = new Map<string, Failures>()
  let sweepFrom = MANY_USERNAMES
  const windowLength = rule === false ? 0 : rule.windowSeconds * SECOND

  const isForgotten = ({ times, lockedUntil }: Failures, time: number): boolean =>
    lockedUntil === undefined ? (times.at(-1) ?? 0) <= time - windowLength : lockedUntil <= time

  const sweep = (time: number): void => {
    for (const [user, failures] of byUser) {
      if (isForgotten(failures, time)) byUser.delete(user)
    }
    sweepFrom = Math.max(MANY_USERNAMES, byUser.size * 2)
  }

  return {
    /** Returns the time until which a user is locked, or `undefined` if the user is not locked. */
    lockedUntil(user: Merchant): number | undefined {
      const until = byUser.get(userKey(user))?.lockedUntil
      return until !== undefined && now() < until ? until : undefined
    },
    fail(user: Merchant): void {
      if (rule === false) return
      const time = now()
      if (byUser.size >= sweepFrom) sweep(time)
      const known = byUser.get(userKey(user))
      // After a lock, the count of failed logins starts again at zero.
      const before = known === undefined || known.lockedUntil !== undefined ? [] : known.times
      const times = [...before.filter((at) => at > time - windowLength), time]
      const lockedUntil = times.length >= rule.attempts ? time + rule.durationSeconds * SECOND : undefined
      byUser.set(userKey(user), { times, lockedUntil })
    },
    /** Deletes the failed logins of a user. */
    clear: (user: Merchant): void => void byUser.delete(userKey(user)),
    reset: () => byUser.clear(),
    snapshot: () => [...byUser],
    restore(entries: TokensSnapshot['lockout']): void {
      byUser.clear()
      for (const [user, failures] of entries) byUser.set(user, failures)
    },
  }
}

/** The owner and the expiry of an access token. */
export interface AccessToken extends Merchant {
  readonly expiresAt: number
}

/** The JSON of a login response (S7). */
export interface TokenBody {
  readonly token_type: string
  readonly expires_in: number
  readonly access_token: string
  readonly refresh_token: string
}

/** A snapshot of tokens and failed logins. */
export interface TokensSnapshot {
  readonly access: readonly (readonly [string, AccessToken])[]
  readonly refresh: readonly (readonly [string, Merchant])[]
  readonly lockout: readonly (readonly [string, Failures])[]
}

/** The logins and tokens of area S. */
export type Tokens = ReturnType<typeof createTokens>

const TOKEN_LENGTH = 48
// Below this number of tokens, the mock keeps expired tokens, so that its log can report that a token expired.
const EXPIRED_TOKENS_KEPT = 1_000

const unauthorized = (explanation: string): Result<never> =>
  refused('unauthorized', 'Authentication failed.', { explanation })

/** Creates the functions for logins and tokens (Authentication, area S). */
export const createTokens = (parts: {
  readonly options: SubscriptionsOptions
  readonly ids: Ids
  readonly now: () => number
}) => {
  const { options, ids, now } = parts
  const lifetime = toMilliseconds(options.tokenTtl)
  const lockout = createLockout(options.lockout, now)
  const access = new Map<string, AccessToken>()
  const refresh = new Map<string, Merchant>()
  let sweepFrom = EXPIRED_TOKENS_KEPT
  /** The number of clock moves in progress that the panel started. */
  let moves = 0
  /** The mock's time after the moves in progress; 0 without moves. New tokens live from this time or later. */
  let issueFrom = 0

  const keep = (
    merchant: Merchant,
    accessToken: string,
    refreshToken: string,
    expiresAt = Math.max(now(), issueFrom) + lifetime,
  ): void => {
    const { clientId, username } = merchant
    access.set(accessToken, { clientId, username, expiresAt })
    refresh.set(refreshToken, { clientId, username })
  }

  /** Removes expired access tokens if the number of tokens has doubled since the last removal (keeps logins fast). */
  const dropExpired = (): void => {
    if (access.size < sweepFrom) return
    const time = now()
    for (const [token, { expiresAt }] of access) if (expiresAt <= time) access.delete(token)
    sweepFrom = Math.max(EXPIRED_TOKENS_KEPT, access.size * 2)
  }

  const newRefreshToken = (): string => ids.text('refresh-token', TOKEN_LENGTH)

  const issue = (merchant: Merchant, keptRefreshToken?: string): TokenBody => {
    dropExpired()
    const accessToken = ids.text('access-token', TOKEN_LENGTH)
    const refreshToken = keptRefreshToken ?? newRefreshToken()
    keep(merchant, accessToken, refreshToken)
    return {
      token_type: 'Bearer',
      expires_in: Math.floor(lifetime / SECOND),
      access_token: accessToken,
      refresh_token: refreshToken,
    }
  }

  const lockProblem = (user: Merchant): Result<never> | undefined => {
    const until = lockout.lockedUntil(user)
    if (until === undefined) return undefined
    return refused('locked_out', 'Too many failed attempts; try again later.', {
      explanation: `Failed logins have locked this username of the merchant until ${new Date(until).toISOString()} of the mock's clock (option subscriptions.lockout): valid credentials are refused, too.`,
    })
  }

  const fail = (user: Merchant, explanation: string): Result<never> => {
    lockout.fail(user)
    const locked = lockout.lockedUntil(user) !== undefined
    return unauthorized(locked ? `${explanation} This failure locked the username.` : explanation)
  }

  const findMerchant = (clientId: string, clientSecret: string) =>
    options.merchants.find(
      (merchant) => merchant.clientId === clientId && merchant.clientSecret === clientSecret,
    )

  const byPassword = (fields: Fields): Result<TokenBody> => {
    const texts = readTexts(
      fields,
      ['grant_type', 'client_id', 'client_secret', 'username', 'password'],
      options.unknownFields,
    )
    if (!texts.ok) return texts
    const { client_id: clientId, client_secret: clientSecret, username, password } = texts.value
    const given = { clientId, username }
    const locked = lockProblem(given)
    if (locked !== undefined) return locked
    const merchant = findMerchant(clientId, clientSecret)
    if (merchant === undefined) return fail(given, 'No merchant has this client_id and client_secret.')
    const user = merchant.users.find((each) => each.username === username && each.password === password)
    if (user === undefined) return fail(given, 'The merchant has no user with this username and password.')
    lockout.clear(given)
    return accepted(issue(given))
  }

  const byRefreshToken = (fields: Fields): Result<TokenBody> => {
    const texts = readTexts(
      fields,
      ['grant_type', 'client_id', 'client_secret', 'refresh_token'],
      options.unknownFields,
    )
    if (!texts.ok) return texts
    const { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken } = texts.value
    const owner = refresh.get(refreshToken)
    const locked = owner === undefined ? undefined : lockProblem(owner)
    if (locked !== undefined) return locked
    if (options.refresh === 'reject') return unauthorized('Option subscriptions.refresh is "reject".')
    if (owner === undefined) {
      return unauthorized(
        'The refresh token is unknown, was revoked or was used before (option subscriptions.refresh).',
      )
    }
    if (findMerchant(clientId, clientSecret) === undefined || owner.clientId !== clientId) {
      return fail(
        owner,
        'The refresh token does not belong to a merchant with this client_id and client_secret.',
      )
    }
    lockout.clear(owner)
    if (options.refresh === 'reuse') return accepted(issue(owner, refreshToken))
    refresh.delete(refreshToken)
    return accepted(issue(owner))
  }

  return {
    /** Handles a login (S-a) with a password or a refresh token (rows 33 to 35). */
    grant(fields: Fields): Result<TokenBody> {
      const kind = Object.hasOwn(fields, 'grant_type') ? fields.grant_type : undefined
      if (kind === 'password') return byPassword(fields)
      if (kind === 'refresh_token') return byRefreshToken(fields)
      return refused('invalid', 'grant_type must be password.', { field: 'grant_type' })
    },
    /** Returns the merchant of a valid access token. */
    merchant(accessToken: string | undefined): Result<Merchant> {
      if (accessToken === undefined) {
        return unauthorized('The call has no header "Authorization: Bearer <ACCESS_TOKEN>".')
      }
      const token = access.get(accessToken)
      if (token === undefined) return unauthorized('The access token is unknown or was revoked.')
      if (token.expiresAt <= now()) {
        return unauthorized(
          `The access token expired at ${new Date(token.expiresAt).toISOString()} of the mock's clock (option subscriptions.tokenTtl).`,
        )
      }
      return accepted({ clientId: token.clientId, username: token.username })
    },
    /** Adds a token without a login. */
    add(
      merchant: Merchant,
      accessToken: string,
      refreshToken: string | undefined,
      expiresAt: number | undefined,
    ): void {
      keep(merchant, accessToken, refreshToken ?? newRefreshToken(), expiresAt)
    },
    /** Returns whether the text is an access or refresh token that the mock still stores. */
    has: (token: string): boolean => access.has(token) || refresh.has(token),
    /** Makes every access token expire now. Refresh tokens stay valid. */
    expire(): void {
      const time = now()
      for (const [token, record] of access) {
        if (record.expiresAt > time) access.set(token, { ...record, expiresAt: time })
      }
    },
    /**
     * Moves the expiry of access tokens by `milliseconds`, so that they stay valid when the clock moves by the same
     * length. A token that is issued during the move has its full lifetime after the move. When the move ends, call the
     * returned function with `true`. If the move failed, call it with `false`, which moves the expiry back.
     */
    surviveMove(milliseconds: number): (hasMoved: boolean) => void {
      const time = now()
      const expired = new Set<string>()
      const shift = (length: number): void => {
        for (const [token, record] of access) {
          if (!expired.has(token)) access.set(token, { ...record, expiresAt: record.expiresAt + length })
        }
      }
      // Expired tokens keep their expiry in a forward move. With a later expiry, they would become valid again.
      for (const [token, { expiresAt }] of access)
        if (expiresAt <= time && milliseconds > 0) expired.add(token)
      shift(milliseconds)
      issueFrom = Math.max(time, issueFrom) + milliseconds
      moves += 1
      return (hasMoved) => {
        if (!hasMoved) shift(-milliseconds)
        moves -= 1
        if (moves === 0) issueFrom = 0
      }
    },
    /** Removes every access token and refresh token. */
    revoke(): void {
      access.clear()
      refresh.clear()
    },
    reset(): void {
      access.clear()
      refresh.clear()
      lockout.reset()
      issueFrom = 0
    },
    snapshot: (): TokensSnapshot => ({
      access: [...access],
      refresh: [...refresh],
      lockout: lockout.snapshot(),
    }),
    restore(snapshot: TokensSnapshot): void {
      access.clear()
      refresh.clear()
      for (const [token, record] of snapshot.access) access.set(token, record)
      for (const [token, record] of snapshot.refresh) refresh.set(token, record)
      lockout.restore(snapshot.lockout)
      issueFrom = 0
    },
  }
}
