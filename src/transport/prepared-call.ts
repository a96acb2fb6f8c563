import type { Authorizer } from '../auth/authorizer.ts'
import type { EndpointDefinition } from '../contract/endpoint.ts'
import type { CallLimits } from './call-options.ts'

/** A checked call, ready to be sent. */
export interface PreparedCall {
  readonly endpoint: EndpointDefinition
  readonly method: string
  readonly url: string
  /** The version prefix in which the base URL ends, although the client adds it. */
  readonly ending: string | undefined
  /** The checked fields of the body; errors are redacted by them. */
  readonly fields: unknown
  /** The body as it is sent, the same in each attempt. */
  readonly body: string | undefined
  readonly contentType: string
  readonly idempotencyKey: string | undefined
  /** Whether the client made the key. */
  readonly ownKey: boolean
  readonly authorizer: Authorizer | undefined
  readonly limits: CallLimits
}
