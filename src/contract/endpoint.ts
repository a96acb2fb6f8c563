import type * as z from 'zod/mini'
import type { Field } from './fields.ts'

/** The two APIs of the specification: area S (`subscriptions`) and area G (`gateway`). */
export type Area = 'subscriptions' | 'gateway'

/**
 * How a request is authorized. `credentials`: the body holds them (S-a). `token`: the bearer token of a login
 * (Authentication, area S, rule 2). `api-key`: the configured key as a bearer token (Authentication, area G, rule 1).
 */
export type AuthKind = 'none' | 'credentials' | 'token' | 'api-key'

/**
 * When the client may retry a call by itself. `always`: reads, and calls with an idempotency key. `when-not-executed`:
 * calls that move money or state, only when it is proven that the server did not act. `when-not-sent`: logins, only when
 * the request was not sent, or the server named a time to wait.
 */
export type RetryPolicy = 'always' | 'when-not-executed' | 'when-not-sent' | 'never'

/** Names of the `:parameters` in a path template. */
export type PathParameter<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParameter<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** One operation of the specification, as data. The client, the mock and the docs are derived from it. */
export interface EndpointDefinition {
  /** Operation id, for example `gateway.charge`. It ends in the client method's name. */
  readonly operation: `${Area}.${string}`
  /** HTTP method. */
  readonly method: 'GET' | 'POST'
  /** Path template below the base URL, for example `/api/v1.0/subscribe/:invoiceId/status`. */
  readonly path: `/${string}`
  /** The operation's mark in the specification. */
  readonly spec: string
  /** How a request is authorized. */
  readonly auth: AuthKind
  /** When the client may retry the call by itself. */
  readonly retry: RetryPolicy
  /** Whether the header Idempotency-Key is required (G rule 1). */
  readonly idempotencyKey?: boolean
  /** Query parameters, under their names on the wire. */
  readonly query?: z.ZodMiniType
  /** Body fields; absent where the specification defines none. */
  readonly request?: z.ZodMiniType
  /** Response fields. The schema reads tolerated forms and yields the specification's form. */
  readonly response: Field<unknown>
  /** HTTP status of success as the specification states it. Clients accept every 2xx. */
  readonly status: 200 | 201 | 202
  /** Whether the response carries `errorCode` and `errorMessage`, as in area S. `optional`: it may carry them. */
  readonly envelope?: boolean | 'optional'
  /** Fields without which a successful response is useless to the caller. */
  readonly needs?: readonly string[]
  /** Fields that prove success when a response of area S lacks its errorCode. Default: `needs`. */
  readonly proof?: readonly string[]
  /** Fields that a success repeats as they were sent. A different value means that it answers another request. */
  readonly echoes?: readonly string[]
  /** The specification promises only `needs`: a missing field is not reported. */
  readonly partial?: boolean
  /** The body of a success has no meaning: it need not be JSON. */
  readonly anyBody?: boolean
  /** The request field by which the merchant recognizes the call. Errors carry it. */
  readonly reference?: string
  /** What to do when the server may have acted: a sentence for the error's message. Absent for reads. */
  readonly afterUnknown?: string
  /** What to know after a rejection; by default, that the server did not act. */
  readonly afterRejected?: string
  /** What to do when a waiting helper that reads this endpoint times out. */
  readonly afterWait?: string
}

/** Keeps the literal types of a definition and checks its shape. */
export const endpoint = <const Definition extends EndpointDefinition>(definition: Definition): Definition =>
  definition

/** The body that a caller gives for an endpoint, or `undefined` where none is defined. */
export type RequestOf<Definition extends EndpointDefinition> = Definition extends {
  readonly request: infer Schema extends z.ZodMiniType
}
  ? z.output<Schema>
  : undefined

/** The response that a client returns for an endpoint. */
export type ResponseOf<Definition extends EndpointDefinition> = z.output<Definition['response']>
