import type { Token } from '../contract/subscriptions.ts'
import { UnexpectedResponseError } from '../errors.ts'
import { isHeaderSafe, LOGIN } from './credentials.ts'
import { randomMark } from './fingerprint.ts'
import { lifetimeOf } from './token-lifetime.ts'
import type { StoredToken } from './token-record.ts'

/**
 * The token of an answer (S7), with what it says of itself read with care. `oldRefreshToken` is kept when the answer
 * has none; `keepRefreshToken` says whether refresh tokens are kept at all.
 */
export const tokenOf = (
  answer: Token,
  now: number,
  keepRefreshToken: boolean,
  oldRefreshToken: string | undefined,
): StoredToken => {
  const fields: { readonly [Name in keyof Token]?: unknown } = answer
  if (!isHeaderSafe(fields.access_token)) {
    // The platform would refuse the header and quote the token.
    throw new UnexpectedResponseError(
      `${LOGIN}: the answer's access_token has characters that no header may carry.`,
      {
        operation: LOGIN,
        phase: 'response',
        outcome: 'unknown',
        attempts: 1,
        retryable: false,
        status: 200,
      },
    )
  }
  const received = fields.refresh_token
  const refreshToken = typeof received === 'string' && received !== '' ? received : oldRefreshToken
  return {
    id: randomMark(),
    accessToken: fields.access_token,
    ...(keepRefreshToken && refreshToken !== undefined ? { refreshToken } : {}),
    obtainedAt: now,
    lifetime: lifetimeOf(fields.expires_in),
  }
}

/** Whether the answer names the one token type there is (S7), or none. */
export const isBearer = ({ token_type }: { readonly token_type?: unknown }): boolean =>
  token_type === undefined || (typeof token_type === 'string' && token_type.toLowerCase() === 'bearer')
