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

/** The fields of a login by its grant_type. */
const GRANT_FIELDS = {
  password: ['grant_type', 'client_id', 'client_secret', 'username', 'password'],
  refresh_token: ['grant_type', 'client_id', 'client_secret', 'refresh_token'],
} as const

/** Creates the functions for logins and tokens (Authentication, area S). */
export const createTokens = ({ state, agenda, ids, options }: AreaContext) => {
  const { now } = agenda
  const { lockout, unknownFields } = options
  const lifetime = toMilliseconds(options.tokenTtl)

  /** Returns whether a user's failed logins are a lock (rule 4; row 35), and until when they count. */
  const lockOf = (failures: readonly number[]): { readonly isLock: boolean; readonly until: number } => {
    if (lockout === false) return { isLock: false, until: 0 }
    const isLock = failures.length >= lockout.attempts
    const seconds = isLock ? lockout.durationSeconds : lockout.windowSeconds
    return { isLock, until: (failures.at(-1) ?? 0) + seconds * SECOND }
  }

  const lockProblem = (user: Merchant): Result<never> | undefined => {
    const { isLock, until } = lockOf(state.subscriptions.failedLogins.get(userKey(user)) ?? [])
    if (!isLock || now() >= until) return undefined
    return refused('locked_out', 'Too many failed attempts; try again later.', {
      explanation: `Failed logins have locked this username of the merchant until ${new Date(until).toISOString()} of the mock's clock (option subscriptions.lockout): valid credentials are refused, too.`,
    })
  }

  /** Counts a failed login. During a lock no login is counted, and after a lock the count starts again at zero. */
  const fail = (user: Merchant, explanation: string): Result<never> => {
    if (lockout === false) return unauthorized(explanation)
    const { failedLogins } = state.subscriptions
    forgetOutdated(failedLogins, (failures) => lockOf(failures).until <= now())
    const before = failedLogins.get(userKey(user)) ?? []
    const counted = lockOf(before).isLock ? [] : before
    const failures = [...counted.filter((at) => at > now() - lockout.windowSeconds * SECOND), now()]
    failedLogins.set(userKey(user), failures)
    return unauthorized(
      lockOf(failures).isLock ? `${explanation} This failure locked the username.` : explanation,
    )
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
    state.subscriptions.failedLogins.delete(userKey(merchant))
    forgetOutdated(state.subscriptions.accessTokens, ({ expiresAt }) => expiresAt <= now())
    const accessToken = ids.text('access-token', TOKEN_LENGTH)
    return ok({
      token_type: 'Bearer',
      expires_in: Math.floor(lifetime / SECOND),
      access_token: accessToken,
      refresh_token: add(merchant, accessToken, keptRefreshToken),
    })
  }

  const findMerchant = (clientId: string, clientSecret: string) =>
    options.merchants.find(
      (merchant) => merchant.clientId === clientId && merchant.clientSecret === clientSecret,
    )

  const byPassword = (fields: Fields): ReturnType<typeof issue> => {
    const texts = readTexts(fields, GRANT_FIELDS.password, unknownFields)
    if (!texts.ok) return texts
    const { client_id: clientId, client_secret: clientSecret, username, password } = texts.value
    const given = { clientId, username }
    const locked = lockProblem(given)
    if (locked !== undefined) return locked
    const merchant = findMerchant(clientId, clientSecret)
    if (merchant === undefined) return fail(given, 'No merchant has this client_id and client_secret.')
    return merchant.users.some((user) => user.username === username && user.password === password)
      ? issue(given)
      : fail(given, 'The merchant has no user with this username and password.')
  }

  const byRefreshToken = (fields: Fields): ReturnType<typeof issue> => {
    const texts = readTexts(fields, GRANT_FIELDS.refresh_token, unknownFields)
    if (!texts.ok) return texts
    const { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken } = texts.value
    const { refreshTokens } = state.subscriptions
    const owner = refreshTokens.get(refreshToken)
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
    if (options.refresh === 'reuse') return issue(owner, refreshToken)
    refreshTokens.delete(refreshToken)
    return issue(owner)
  }

  return {
    /** Handles a login (S-a) with a password or a refresh token (rows 33 to 35). */
    grant(fields: Fields): ReturnType<typeof issue> {
      agenda.runDue()
      const kind = Object.hasOwn(fields, 'grant_type') ? fields.grant_type : undefined
      if (kind === 'password') return byPassword(fields)
      if (kind === 'refresh_token') return byRefreshToken(fields)
      return refused('invalid', 'grant_type must be password.', { field: 'grant_type' })
    },
    /** Returns the merchant of a valid access token. */
    merchant(accessToken: string | undefined): Result<Merchant> {
      agenda.runDue()
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
