/** The call that needs an authorization. Its own deadline ends its wait; a shared token request goes on. */
export interface AuthorizationContext {
  readonly operation: string
  /** Aborted when the call ends. */
  readonly signal: AbortSignal
  /** Time left of the call's total time, in milliseconds. */
  readonly remaining: number
}

/** The authorization of one attempt. Each token has its own object, which identifies it without revealing it. */
export interface Authorization {
  readonly header: string
}

/** Provides the authorization of attempts, and learns when the server rejected one. */
export interface Authorizer {
  /** The authorization that an attempt may use now, without any I/O; undefined when there is none. */
  current(): Authorization | undefined
  /** The authorization for the next attempt. May log in first. */
  authorize(context: AuthorizationContext): Promise<Authorization>
  /** Whether an attempt may still use this authorization, as far as is known without I/O. */
  isCurrent(authorization: Authorization): boolean
  /** Called after a 401. True: retry once, with a renewed token. False: the 401 is final. */
  refused(authorization: Authorization): Promise<boolean>
}
