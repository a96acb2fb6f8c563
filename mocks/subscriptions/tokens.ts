import { type Fields, ok, type Result, refused } from '../base/result.ts'
import { SECOND, toMilliseconds } from '../time/duration.ts'
import type { AreaContext } from './billing.ts'
import { readTexts } from './requests.ts'
import type { Merchant } from './state.ts'

const TOKEN_LENGTH = 48
const MANY = 1_024

/** Removes outdated entries, each time that a map has doubled in size from `MANY` entries: no map grows without end. */
const forgetOutdated = <Value>(map: Map<string, Value>, isOutdated: (value: Value) => boolean): void => {
  if (map.size < MANY || !Number.isInteger(Math.log2(map.size))) return
  for (const [key, value] of map) if (isOutdated(value)) map.delete(key)
}

/** Returns a key for a merchant's user, as JSON. With a separator such as `:`, two users could have the same key. */
const userKey = ({ clientId, username }: Merchant): string => JSON.stringify([clientId, username])

const unauthorized = (explanation: string): Result<never> =>
  refused('unauthorized', 'Authentication failed.', { explanation })

/** Creates the functions for logins and tokens (Authentication, area S). */
export const createTokens = ({ state, agenda: { now }, ids, options }: AreaContext) => {
  const { lockout } = options
  const lifetime = toMilliseconds(options.tokenTtl)

  const isLock = (failures: readonly number[]): boolean =>
    lockout !== false && failures.length >= lockout.attempts

  /** Returns how long failed logins count: until the lock that they cause ends, or until they leave the window. */
  const countUntil = (failures: readonly number[]): number => {
    if (lockout === false) return 0
    const seconds = isLock(failures) ? lockout.durationSeconds : lockout.windowSeconds
    return (failures.at(-1) ?? 0) + seconds * SECOND
  }

  /** Returns when the lock of a user ends (rule 4; row 35), or `undefined` if the user is not locked. */
  const lockedUntil = (user: Merchant): number | undefined => {
    const failures = state.subscriptions.failedLogins.get(userKey(user)) ?? []
    return isLock(failures) && now() < countUntil(failures) ? countUntil(failures) : undefined
  }

  const lockProblem = (user: Merchant): Result<never> | undefined => {
    const until = lockedUntil(user)
    if (until === undefined) return undefined
    return refused('locked_out', 'Too many failed attempts; try again later.', {
      explanation: `Failed logins have locked this username of the merchant until ${new Date(until).toISOString()} of the mock's clock (option subscriptions.lockout): valid credentials are refused, too.`,
    })
  }

  /** Counts a failed login. During a lock no login is counted, and after a lock the count starts again at zero. */
  const fail = (user: Merchant, explanation: string): Result<never> => {
    if (lockout === false) return unauthorized(explanation)
    const { failedLogins } = state.subscriptions
    forgetOutdated(failedLogins, (failures) => countUntil(failures) <= now())
    const before = failedLogins.get(userKey(user)) ?? []
    const counted = isLock(before) ? [] : before.filter((at) => at > now() - lockout.windowSeconds * SECOND)
    failedLogins.set(userKey(user), [...counted, now()])
    const isLocked = lockedUntil(user) !== undefined
    return unauthorized(isLocked ? `${explanation} This failure locked the username.` : explanation)
  }

  const add = (
    { clientId, username }: Merchant,
    accessToken: string,
    refreshToken = ids.text('refresh-token', TOKEN_LENGTH),
    expiresAt = Math.max(now(), state.subscriptions.tokensIssuedFrom) + lifetime,
  ): string => {
    state.subscriptions.accessTokens.set(accessToken, { clientId, username, expiresAt })
    state.subscriptions.refreshTokens.set(refreshToken, { clientId, username })
    return refreshToken
  }

  /** Returns the response of a login (S7). */
  const issue = (merchant: Merchant, keptRefreshToken?: string) => {
    forgetOutdated(state.subscriptions.accessTokens, ({ expiresAt }) => expiresAt <= now())
    const accessToken = ids.text('access-token', TOKEN_LENGTH)
    return {
      token_type: 'Bearer',
      expires_in: Math.floor(lifetime / SECOND),
      access_token: accessToken,
      refresh_token: add(merchant, accessToken, keptRefreshToken),
    }
  }

  const findMerchant = (clientId: string, clientSecret: string) =>
    options.merchants.find(
      (merchant) => merchant.clientId === clientId && merchant.clientSecret === clientSecret,
    )

  const byPassword = (fields: Fields): Result<ReturnType<typeof issue>> => {
    const names = ['grant_type', 'client_id', 'client_secret', 'username', 'password'] as const
    const texts = readTexts(fields, names, options.unknownFields)
    if (!texts.ok) return texts
    const { client_id: clientId, client_secret: clientSecret, username, password } = texts.value
    const given = { clientId, username }
    const locked = lockProblem(given)
    if (locked !== undefined) return locked
    const merchant = findMerchant(clientId, clientSecret)
    if (merchant === undefined) return fail(given, 'No merchant has this client_id and client_secret.')
    const user = merchant.users.find((each) => each.username === username && each.password === password)
    if (user === undefined) return fail(given, 'The merchant has no user with this username and password.')
    state.subscriptions.failedLogins.delete(userKey(given))
    return ok(issue(given))
  }

  const byRefreshToken = (fields: Fields): Result<ReturnType<typeof issue>> => {
    const names = ['grant_type', 'client_id', 'client_secret', 'refresh_token'] as const
    const texts = readTexts(fields, names, options.unknownFields)
    if (!texts.ok) return texts
    const { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken } = texts.value
    const owner = state.subscriptions.refreshTokens.get(refreshToken)
    const locked = owner && lockProblem(owner)
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
    state.subscriptions.failedLogins.delete(userKey(owner))
    if (options.refresh === 'reuse') return ok(issue(owner, refreshToken))
    state.subscriptions.refreshTokens.delete(refreshToken)
    return ok(issue(owner))
  }

  return {
    /** Handles a login (S-a) with a password or a refresh token (rows 33 to 35). */
    grant(fields: Fields): Result<ReturnType<typeof issue>> {
      const kind = Object.hasOwn(fields, 'grant_type') ? fields.grant_type : undefined
      if (kind === 'password') return byPassword(fields)
      if (kind === 'refresh_token') return byRefreshToken(fields)
      return refused('invalid', 'grant_type must be password.', { field: 'grant_type' })
    },
    /** Returns the merchant of a valid access token. */
    merchant(accessToken: string | undefined): Result<Merchant> {
      if (accessToken === undefined) {
        return unauthorized(
          'The request has no Authorization header with a bearer token. Send "Authorization: Bearer <access_token>" with the access_token of a login.',
        )
      }
      const token = state.subscriptions.accessTokens.get(accessToken)
      if (token === undefined) return unauthorized('The access token is unknown or was revoked.')
      const { clientId, username, expiresAt } = token
      if (expiresAt > now()) return ok({ clientId, username })
      return unauthorized(
        `The access token expired at ${new Date(expiresAt).toISOString()} of the mock's clock (option subscriptions.tokenTtl).`,
      )
    },
    /** Adds a token without a login. */
    add,
    /** Returns whether the text is an access or refresh token that the mock still stores. */
    has: (token: string): boolean =>
      state.subscriptions.accessTokens.has(token) || state.subscriptions.refreshTokens.has(token),
    /** Makes every access token expire now. Refresh tokens stay valid. */
    expire(): void {
      for (const token of state.subscriptions.accessTokens.values())
        token.expiresAt = Math.min(token.expiresAt, now())
    },
    /**
     * Moves the expiry of access tokens, so that they stay valid when the clock is moved by the same length. A token
     * that is issued during the move has its full lifetime after the move. If the move fails, shift back.
     */
    shiftExpiry(by: number): void {
      // An expired token keeps its expiry in a forward move. With a later expiry, it would become valid again.
      for (const token of state.subscriptions.accessTokens.values()) {
        if (by < 0 || token.expiresAt > now()) token.expiresAt += by
      }
      state.subscriptions.tokensIssuedFrom = Math.max(now(), state.subscriptions.tokensIssuedFrom) + by
    },
    /** Removes every access token and refresh token. */
    revoke(): void {
      state.subscriptions.accessTokens.clear()
      state.subscriptions.refreshTokens.clear()
    },
  }
}
