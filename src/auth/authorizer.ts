/** The call that needs an authorization. A shared token request continues even if this call ends. */
export interface AuthorizationContext {
  readonly operation: string
  /** This signal is aborted when the call ends. */
  readonly signal: AbortSignal
  /** Remaining total time of the call, in milliseconds. */
  readonly remaining: number
}

/** The authorization of one attempt. Compare these objects instead of tokens: each token has one object. */
export interface Authorization {
  readonly header: string
}

/** Provides the authorization of attempts, and handles rejected authorizations. */
export interface Authorizer {
  /** Returns the authorization that an attempt can use now, or undefined. This method does no I/O. */
  current(): Authorization | undefined
  /** Returns the authorization for the next attempt, after a login if one is needed. */
  authorize(context: AuthorizationContext): Promise<Authorization>
  /** Returns whether an attempt may still use this authorization. This method does no I/O. */
  isCurrent(authorization: Authorization): boolean
  /** Called after a 401. Returns true if one retry with a new token is allowed, and false if the 401 is final. */
  refused(authorization: Authorization): Promise<boolean>
}
