import type * as z from 'zod/mini'

/** The two APIs of the specification: area S (`subscriptions`) and area G (`gateway`). */
export type Area = 'subscriptions' | 'gateway'

/**
 * What a request carries to be let in.
 *
 * - `none`: nothing.
 * - `credentials`: the merchant's credentials stand in the body (S-a).
 * - `token`: the bearer token of a login (area S, Authentication 2).
 * - `api-key`: the configured key as a bearer token (area G, Authentication 1).
 */
export type AuthKind = 'none' | 'credentials' | 'token' | 'api-key'

/**
 * When a call may be sent again without the caller's word.
 *
 * - `always`: reads, and calls protected by an idempotency key.
 * - `when-not-executed`: moves money or state; only after proof that the server did not act.
 * - `when-not-sent`: logins; only when the request surely never left, or the server named a time to come back.
 * - `never`: not at all.
 */
export type Repeatable = 'always' | 'when-not-executed' | 'when-not-sent' | 'never'

/** Names of the `:parameters` in a path template. */
export type PathParameter<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParameter<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** A response schema: it reads any input and yields `Output`. */
export type ResponseSchema<Output = unknown> = z.ZodMiniType<Output, unknown>

/** One operation of the specification, as data. Everything else (client, mock, docs) hangs from it. */
export interface EndpointDefinition {
  /** Operation id, for example `gateway.charge`; it ends in the client method's name. */
  readonly operation: `${Area}.${string}`
  /** HTTP method. */
  readonly method: 'GET' | 'POST'
  /** Path template below the base URL, for example `/api/v1.0/subscribe/:invoiceId/status`. */
  readonly path: `/${string}`
  /** Where the operation stands in the specification. */
  readonly spec: string
  /** What a request carries to be let in. */
  readonly auth: AuthKind
  /** When a call may be sent again without the caller's word. */
  readonly repeatable: Repeatable
  /** Whether the header Idempotency-Key is required (G rule 1). */
  readonly idempotencyKey: boolean
  /** Query parameters, under their names on the wire. */
  readonly query?: z.ZodMiniType
  /** Body fields; absent where the specification defines none. */
  readonly request?: z.ZodMiniType
  /** The answer's fields. Reads tolerant forms, yields the specification's form. */
  readonly response: ResponseSchema
  /** HTTP status of success as the specification states it; clients accept every 2xx. */
  readonly status: 200 | 201 | 202
  /**
   * Whether the answer is wrapped in area S's `errorCode` and `errorMessage`. `optional`: it may be; an `errorCode`
   * that is there counts, and so does an error of another shape where the proof of a success is missing.
   */
  readonly envelope: boolean | 'optional'
  /** Fields without which a successful answer is of no use to the caller. */
  readonly needs: readonly string[]
  /** Fields that prove success when an area S answer lacks its errorCode. */
  readonly proof: readonly string[]
  /** Fields that a success repeats as they were sent; where one differs, the answer is that of another request. */
  readonly echoes?: readonly string[]
  /** The specification promises no more than `needs`: other fields may be missing without a drift report. */
  readonly partial?: boolean
  /** The body of a success means nothing: it need not even be JSON. */
  readonly anyBody?: boolean
  /** The request's field by which the merchant recognises the call; errors carry it. */
  readonly reference?: string
  /** What to do when the server may have acted: words for the error's message. */
  readonly afterUnknown: string
  /** What to know when the server refused for good; where it is left out, that the server did not act. */
  readonly afterRejected?: string
  /** What to do when the awaited state did not come, for an endpoint that a waiting helper reads. */
  readonly afterWait?: string
}

/** Keeps the literal types of a definition and checks its shape. */
export const endpoint = <const Definition extends EndpointDefinition>(definition: Definition): Definition =>
  definition

/** The body a caller gives for an endpoint, or `undefined` where none is defined. */
export type RequestOf<Definition extends EndpointDefinition> = Definition extends {
  readonly request: infer Schema extends z.ZodMiniType
}
  ? z.infer<Schema>
  : undefined

/** The answer a client returns for an endpoint. */
export type ResponseOf<Definition extends EndpointDefinition> = z.infer<Definition['response']>

/** The path parameters of an endpoint, each one path segment. */
export type ParametersOf<Definition extends EndpointDefinition> = {
  readonly [Name in PathParameter<Definition['path']>]: string
}
