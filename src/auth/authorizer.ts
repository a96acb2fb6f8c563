import type { Token } from '../contract/subscriptions.ts'

/** The call for which authorisation is wanted. */
export interface AuthorizationContext {
  readonly operation: string
  /** The caller's signal and the call's total time: waiting for a token ends with it, the shared token request does not. */
  readonly signal: AbortSignal | undefined
  /** What is left of the call's total time, in milliseconds. */
  readonly remaining: number
}

/** What one attempt carries. `credential` is an opaque mark: it says which token it was, without being it. */
export interface Authorization {
  readonly header: string
  readonly credential: object
}

/** Lets attempts in, and hears when one was refused. */
export interface Authorizer {
  /** The authorisation at hand that an attempt may carry, as far as is known without asking anybody. */
  current(): Authorization | undefined
  /** The authorisation for the next attempt; may log in first. */
  authorize(context: AuthorizationContext): Promise<Authorization>
  /** Whether an attempt may still carry this authorisation, as far as is known without asking anybody. */
  isCurrent(authorization: Authorization): boolean
  /**
   * An attempt that carried this authorisation was answered 401. True: repeat once, after `authorize` again
   * (the token was renewed, or somebody else had renewed it already). False: the 401 stands.
   */
  refused(authorization: Authorization, context: AuthorizationContext): Promise<boolean>
}

/** Fields of a token request, under their names on the wire (S-a, or the refresh grant). */
export type TokenFields = Readonly<Record<string, string>>

/** Sends one token request through the transport, with its own timeout and no caller's signal. */
export type RequestToken = (fields: TokenFields) => Promise<Token>
