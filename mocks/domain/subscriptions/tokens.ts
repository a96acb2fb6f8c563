import { SECOND, toMilliseconds } from '../duration.ts'
import type { Ids } from '../ids.ts'
import type { Fields, Result } from '../result.ts'
import { accepted, refused } from '../result.ts'
import { readTexts } from './check-request.ts'
import type { SubscriptionsOptions } from './options.ts'
import type { Merchant, TokenBody } from './types.ts'

/** Failures of one username: when they were, and until when they lock it. */
interface Failures {
  readonly times: number[]
  lockedUntil: number | undefined
}

/** What a snapshot holds of it. */
export type LockoutSnapshot = readonly (readonly [string, Failures])[]

/** Counts failed logins and locks usernames (Authentication, area S, rule 4; row 35). */
export interface Lockout {
  /** Until when a username is locked, or `undefined`. */
  lockedUntil(username: string): number | undefined
  fail(username: string): void
  /** A success clears the count. */
  succeed(username: string): void
  reset(): void
  snapshot(): LockoutSnapshot
  restore(snapshot: LockoutSnapshot): void
}

// From here on usernames whose failures no longer matter are looked for and dropped.
const MANY_USERNAMES = 1_000

/** Makes the count of failed logins. Attempts while locked are not to be reported: they do not prolong the lock. */
export const createLockout = (rule: SubscriptionsOptions['lockout'], now: () => number): Lockout => {
  const byUsername = new Map<string, Failures>()
  let sweepFrom = MANY_USERNAMES
  const windowLength = rule === false ? 0 : rule.windowSeconds * SECOND

  const isForgotten = ({ times, lockedUntil }: Failures, time: number): boolean =>
    lockedUntil === undefined ? (times.at(-1) ?? 0) <= time - windowLength : lockedUntil <= time

  const sweep = (time: number): void => {
    for (const [username, failures] of byUsername) {
      if (isForgotten(failures, time)) byUsername.delete(username)
    }
    sweepFrom = Math.max(MANY_USERNAMES, byUsername.size * 2)
  }

  const load = (entries: LockoutSnapshot): void => {
    byUsername.clear()
    for (const [username, { times, lockedUntil }] of entries) {
      byUsername.set(username, { times: [...times], lockedUntil })
    }
  }

  return {
    lockedUntil(username) {
      const until = byUsername.get(username)?.lockedUntil
      return until !== undefined && now() < until ? until : undefined
    },
    fail(username) {
      if (rule === false) return
      const time = now()
      if (byUsername.size >= sweepFrom) sweep(time)
      const known = byUsername.get(username)
      // A lock that has passed took its failures with it.
      const before = known === undefined || known.lockedUntil !== undefined ? [] : known.times
      const times = [...before.filter((at) => at > time - windowLength), time]
      const lockedUntil = times.length >= rule.attempts ? time + rule.durationSeconds * SECOND : undefined
      byUsername.set(username, { times, lockedUntil })
    },
    succeed: (username) => void byUsername.delete(username),
    reset: () => byUsername.clear(),
    snapshot: () => [...byUsername].map(([username, failures]) => [username, structuredClone(failures)]),
    restore: load,
  }
}

interface AccessToken extends Merchant {
  /** On the callers' clock. */
  readonly expiresAt: number
}

/** What a snapshot holds of tokens and failed logins. */
export interface TokensSnapshot {
  readonly access: readonly (readonly [string, AccessToken])[]
  readonly refresh: readonly (readonly [string, Merchant])[]
  readonly lockout: LockoutSnapshot
}

/** Logins, and the tokens they yield (Authentication, area S). */
export interface Tokens {
  /** S-a, and the refresh grant at the same path (rows 33 to 35). */
  grant(fields: Fields): Result<TokenBody>
  /** Whose living access token this is. */
  merchant(accessToken: string | undefined): Result<Merchant>
  /** Whether a text is an access or refresh token that has not been forgotten. */
  has(token: string): boolean
  /** Makes a token known without a login. */
  add(
    merchant: Merchant,
    accessToken: string,
    refreshToken: string | undefined,
    expiresAt: number | undefined,
  ): void
  /** Every access token expires now; refresh tokens stay. */
  expire(): void
  /** Every access token and refresh token is void. */
  revoke(): void
  reset(): void
  snapshot(): TokensSnapshot
  restore(snapshot: TokensSnapshot): void
}

const TOKEN_LENGTH = 48
// Expired tokens are kept for a while, so that the log can say why one was refused.
const EXPIRED_TOKENS_KEPT = 1_000

const unauthorized = (explanation: string): Result<never> =>
  refused('unauthorized', 'Authentication failed.', { explanation })

/** Makes the tokens of a mock. */
export const createTokens = (parts: {
  readonly options: SubscriptionsOptions
  readonly ids: Ids
  readonly lockout: Lockout
  /** The mock's time. */
  readonly now: () => number
  /** The time as those know it who hold the tokens. */
  readonly callersNow: () => number
}): Tokens => {
  const { options, ids, lockout, now, callersNow } = parts
  const lifetime = toMilliseconds(options.tokenTtl)
  const access = new Map<string, AccessToken>()
  const refresh = new Map<string, Merchant>()

  let sweepFrom = EXPIRED_TOKENS_KEPT

  /** Now and then, so that the cost of a login stays flat. */
  const dropExpired = (): void => {
    if (access.size < sweepFrom) return
    const time = callersNow()
    for (const [token, { expiresAt }] of access) if (expiresAt <= time) access.delete(token)
    sweepFrom = Math.max(EXPIRED_TOKENS_KEPT, access.size * 2)
  }

  const issue = ({ clientId, username }: Merchant, keptRefreshToken?: string): TokenBody => {
    dropExpired()
    const accessToken = ids.text('access-token', TOKEN_LENGTH)
    const refreshToken = keptRefreshToken ?? ids.text('refresh-token', TOKEN_LENGTH)
    access.set(accessToken, { clientId, username, expiresAt: callersNow() + lifetime })
    refresh.set(refreshToken, { clientId, username })
    return {
      token_type: 'Bearer',
      expires_in: Math.floor(lifetime / SECOND),
      access_token: accessToken,
      refresh_token: refreshToken,
    }
  }

  const lockProblem = (username: string): Result<never> | undefined => {
    const until = lockout.lockedUntil(username)
    if (until === undefined) return undefined
    return refused('locked_out', 'Too many failed attempts; try again later.', {
      explanation: `Failed logins have locked this username until ${new Date(until).toISOString()} of the mock's clock (option subscriptions.lockout): valid credentials are refused, too.`,
    })
  }

  const fail = (username: string, explanation: string): Result<never> => {
    lockout.fail(username)
    const locked = lockout.lockedUntil(username) !== undefined
    return unauthorized(locked ? `${explanation} With this failure the username is locked.` : explanation)
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
    const locked = lockProblem(username)
    if (locked !== undefined) return locked
    const merchant = findMerchant(clientId, clientSecret)
    if (merchant === undefined) return fail(username, 'No merchant has this client_id and client_secret.')
    const user = merchant.users.find((each) => each.username === username && each.password === password)
    if (user === undefined) return fail(username, 'The merchant has no user with this username and password.')
    lockout.succeed(username)
    return accepted(issue({ clientId, username }))
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
    const locked = owner === undefined ? undefined : lockProblem(owner.username)
    if (locked !== undefined) return locked
    if (options.refresh === 'reject') return unauthorized('Option subscriptions.refresh is "reject".')
    if (owner === undefined) {
      return unauthorized(
        'The refresh token is unknown, revoked, or was used before (option subscriptions.refresh).',
      )
    }
    if (findMerchant(clientId, clientSecret) === undefined || owner.clientId !== clientId) {
      return fail(
        owner.username,
        'The refresh token belongs to no merchant with this client_id and client_secret.',
      )
    }
    lockout.succeed(owner.username)
    if (options.refresh === 'reuse') return accepted(issue(owner, refreshToken))
    refresh.delete(refreshToken)
    return accepted(issue(owner))
  }

  return {
    grant(fields) {
      const kind = Object.hasOwn(fields, 'grant_type') ? fields.grant_type : undefined
      if (kind === 'password') return byPassword(fields)
      if (kind === 'refresh_token') return byRefreshToken(fields)
      return refused('invalid', 'grant_type must be password.', { field: 'grant_type' })
    },
    merchant(accessToken) {
      const token = accessToken === undefined ? undefined : access.get(accessToken)
      if (token === undefined) {
        return unauthorized(
          accessToken === undefined
            ? 'The call has no header "Authorization: Bearer <ACCESS_TOKEN>".'
            : 'The access token is unknown or was revoked.',
        )
      }
      const left = token.expiresAt - callersNow()
      if (left <= 0) {
        return unauthorized(
          `The access token expired at ${new Date(now() + left).toISOString()} of the mock's clock (option subscriptions.tokenTtl).`,
        )
      }
      return accepted({ clientId: token.clientId, username: token.username })
    },
    add({ clientId, username }, accessToken, refreshToken, expiresAt) {
      const left = expiresAt === undefined ? lifetime : expiresAt - now()
      access.set(accessToken, { clientId, username, expiresAt: callersNow() + left })
      refresh.set(refreshToken ?? ids.text('refresh-token', TOKEN_LENGTH), { clientId, username })
    },
    has: (token) => access.has(token) || refresh.has(token),
    expire() {
      const time = callersNow()
      for (const [token, record] of access) {
        if (record.expiresAt > time) access.set(token, { ...record, expiresAt: time })
      }
    },
    revoke() {
      access.clear()
      refresh.clear()
    },
    reset() {
      access.clear()
      refresh.clear()
      lockout.reset()
    },
    snapshot: () =>
      structuredClone({ access: [...access], refresh: [...refresh], lockout: lockout.snapshot() }),
    restore(snapshot) {
      access.clear()
      refresh.clear()
      for (const [token, record] of snapshot.access) access.set(token, record)
      for (const [token, record] of snapshot.refresh) refresh.set(token, record)
      lockout.restore(snapshot.lockout)
    },
  }
}
