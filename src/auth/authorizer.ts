/** The call that needs an authorization. If calls share a token request, the request continues when one call ends. */
export interface AuthorizationContext {
  readonly operation: string
  /** Signal that is aborted when the call ends. */
  readonly signal: AbortSignal
  /** Milliseconds until the call exceeds its `totalTimeout`. */
  readonly remaining: number
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
  /** Called after a 401. Returns true if the client may retry once with a new token. */
  refused(authorization: Authorization, signal: AbortSignal): Promise<boolean>
}
