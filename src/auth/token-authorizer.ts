import type { Token } from '../contract/subscriptions.ts'
import type { Authorizer } from './authorizer.ts'
import { TokenLifecycle } from './token-lifecycle.ts'
import type { TokenAuthorizerOptions } from './token-options.ts'
import { createMemoryTokenStore } from './token-store.ts'

/** Lets attempts in with the bearer token of a login, which it gets and renews by itself (area S, Authentication). */
export interface TokenAuthorizer extends Authorizer {
  /**
   * Logs in with the password now, also when a token is at hand or an earlier login was refused. A token request that
   * is under way is shared. Resolves to the very object that `requestToken` gave.
   */
  login(signal?: AbortSignal): Promise<Token>
  /** The client identifier of the credentials, which subscribe sends by default (S1). */
  clientId(): Promise<string>
}

/** Cool-down of a refused login, in milliseconds. */
const LOGIN_COOLDOWN = 900_000

/** Makes the authorizer of one client. Two clients share nothing unless they are given the same store. */
export const createTokenAuthorizer = (options: TokenAuthorizerOptions): TokenAuthorizer => {
  const quietly =
    <Fact>(hear: ((fact: Fact) => void) | undefined) =>
    (fact: Fact) => {
      try {
        hear?.(fact)
      } catch {
        // A listener that throws breaks no call.
      }
    }
  const lifecycle = new TokenLifecycle({
    ...options,
    tokenStore: options.tokenStore ?? createMemoryTokenStore(),
    refresh: options.refresh ?? 'password',
    loginCooldown: options.loginCooldown ?? LOGIN_COOLDOWN,
    holdsBack: options.holdsBack ?? true,
    onTokenRenewed: quietly(options.onTokenRenewed),
    onUnexpected: quietly(options.onUnexpected),
  })
  return {
    current: () => lifecycle.current(),
    authorize: (context) => lifecycle.authorize(context),
    isCurrent: (authorization) => lifecycle.isCurrent(authorization),
    refused: (authorization, { signal }) => lifecycle.refused(authorization, signal),
    login: (signal) => lifecycle.login(signal),
    clientId: () => lifecycle.clientId(),
  }
}
