import type { Clock } from '../clock.ts'
import type { RequestToken } from './authorizer.ts'
import type { CredentialsSource } from './credentials.ts'
import type { TokenStore } from './token-store.ts'

/** Why a token request was made. */
export type RenewalReason = 'first' | 'expiring' | 'unauthorized' | 'login-called'

/** A token request that succeeded. Tokens taken over from the store are not renewals. */
export interface TokenRenewal {
  /** `first`: none was known; `expiring`: its end is near; `unauthorized`: a call was answered 401; `login-called`. */
  readonly reason: RenewalReason
  readonly grant: 'password' | 'refresh_token'
}

export interface TokenAuthorizerOptions {
  /** Names the server in the store's key; nothing is sent to it from here. */
  readonly baseUrl: string
  readonly credentials: CredentialsSource
  /** Sends one token request and throws the login's own error. */
  readonly requestToken: RequestToken
  readonly clock: Clock
  /** Default: a memory of this client's own. */
  readonly tokenStore?: TokenStore | undefined
  /** How a token is renewed: by password (default), or by refresh token with one password login in reserve. */
  readonly refresh?: 'password' | 'refresh_token' | undefined
  /** How long a refused login is not tried again, and the longest pause between logins that an answer may ask for, in milliseconds. Default: 15 minutes. */
  readonly loginCooldown?: number | undefined
  /** Whether a call waits while the server asked for a pause between token requests, or fails at once. Default: true. */
  readonly holdsBack?: boolean | undefined
  /** Hears of each token request that succeeded. What it throws is ignored. */
  readonly onTokenRenewed?: ((renewal: TokenRenewal) => void) | undefined
  /** Hears what was odd and did not stop a call: a store that failed, an unknown token type. */
  readonly onUnexpected?: ((message: string) => void) | undefined
}
