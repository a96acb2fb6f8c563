/** The call that needs an authorization. If calls share a token request, the request continues when one call ends. */
export interface AuthorizationContext {
  readonly operation: string
  /** Signal that is aborted when the call ends. */
  readonly signal: AbortSignal
  /** Milliseconds until the call exceeds its `totalTimeout`. */
  readonly remaining: number
  /** Whether the call waits until a login pause ends. If false, the call fails at once. */
  readonly waits: boolean
  /** The authorization of the call's previous attempt. */
  readonly previous: Authorization | undefined
}

/** The authorization of one attempt. Each token has one `Authorization` object, so compare with `===`. */
export interface Authorization {
  readonly header: string
}

/** Provides the authorization of attempts, and handles rejected authorizations. */
export interface Authorizer {
  /** Returns the authorization that an attempt can use now, or undefined. This method does no I/O. */
  current(): Authorization | undefined
  /** Logs in if necessary, then returns the authorization for the next attempt. */
  authorize(context: AuthorizationContext): Promise<Authorization>
  /** Returns whether the token is so new that a part of the API may not know it yet. */
  isNew(authorization: Authorization): boolean
  /**
   * Called after a 401. `renewed`: a token request gave a new token, and the call may retry once. `replaced`: another
   * process had a newer token, and the call may retry. `rejected`: there is no other token.
   */
  refused(authorization: Authorization, signal: AbortSignal): Promise<'renewed' | 'replaced' | 'rejected'>
}
