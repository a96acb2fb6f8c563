import type { $ZodType, output as OutputOf } from 'zod/v4/core'
import type { Field } from './fields.ts'

/** The two APIs of the specification: area S (`subscriptions`) and area G (`gateway`). */
export type Area = 'subscriptions' | 'gateway'

/**
 * How a request is authorized. `credentials`: the body contains the credentials (S-a). `token`: a header contains an
 * access token (Authentication, area S, rule 2). `api-key`: a header contains the API key (Authentication, area G,
 * rule 1).
 */
export type AuthKind = 'none' | 'credentials' | 'token' | 'api-key'

/**
 * When the client may retry a failed call. `always`: after every temporary failure, because the call only reads or has
 * an idempotency key. `when-not-executed`: only if the server provably did not act. `when-not-sent`, for logins: only
 * if the request was not sent, or if a 429 response states how long to wait.
 */
export type RetryPolicy = 'always' | 'when-not-executed' | 'when-not-sent' | 'never'

/**
 * What to do if the server may have executed a call. `subscribe-again`: subscribe with a new `requestID`, because the
 * `url` for the payer was in the lost response. `read-subscription`: read the `cancellation`, and cancel again if there
 * is none. `read-charge`: call `status`, and confirm again if it is still `pending_confirmation`. `read-state`: read the
 * state that the operation changes. `find-charge`: before you charge again, ask the provider whether the charge exists.
 */
export type FindOut = 'subscribe-again' | 'read-subscription' | 'read-charge' | 'read-state' | 'find-charge'

/** Describes one operation of the specification for the client, the mock and the docs. */
export interface EndpointDefinition {
  /** Operation id, such as `gateway.charge`. The last part is the name of the client's method. */
  readonly operation: `${Area}.${string}`
  /** HTTP method. */
  readonly method: 'GET' | 'POST'
  /** Path template below the base URL, for example `/api/v1.0/subscribe/:invoiceId/status`. */
  readonly path: `/${string}`
  /** The place in the specification, such as `S-b` or `G rule 1`. */
  readonly spec: string
  /** How a request is authorized. */
  readonly auth: AuthKind
  /** When the client may retry the call automatically. */
  readonly retry: RetryPolicy
  /** Whether the header Idempotency-Key is required (G rule 1). */
  readonly idempotencyKey?: boolean
  /** Schema of the query parameters, which have the server's names, such as `per_page`. */
  readonly query?: $ZodType
  /** Schema of the request body. Absent if the specification defines no body. */
  readonly request?: $ZodType
  /** Schema of the response. It converts other forms of a value, such as `"25"` for 25, to the specified form. */
  readonly response: Field<unknown>
  /** The specification's HTTP status for success. The client accepts every 2xx status. */
  readonly status: 200 | 201 | 202
  /** Whether responses contain `errorCode` and `errorMessage` (area S). `optional`: a success may omit both fields. */
  readonly envelope?: boolean | 'optional'
  /** Fields that a successful response must contain. */
  readonly requiredFields?: readonly string[]
  /** In area S, a response without `errorCode` is a success if it has these fields. Default: `requiredFields`. */
  readonly successFields?: readonly string[]
  /** Fields of the created object. If an error response has all these fields, the server may have acted. */
  readonly createdFields?: readonly string[]
  /** Fields that a response copies from its request. If a value differs, the response may belong to another request. */
  readonly echoedFields?: readonly string[]
  /** The request field with the id of a mandate's first charge. A response with the same `id` is not a renewal. */
  readonly sourceField?: string
  /**
   * Response fields that can contain the identifier from the request's path. Normally, the first field contains it. If
   * the first field is present, but no field contains the identifier, the response is about another record.
   */
  readonly identityFields?: readonly string[]
  /** The field with the list of records, if the response contains a list. */
  readonly recordsField?: string
  /** If true, the client does not report fields that a response omits. Only `requiredFields` must be present. */
  readonly partialResponse?: boolean
  /** Whether a successful response can be any text, not only JSON. */
  readonly anyBody?: boolean
  /** The request field with the merchant's id for the request. Errors contain its value as `requestID`. */
  readonly referenceField?: string
  /** Whether the operation moves money or changes state on the server. Absent for operations that only read. */
  readonly acts?: boolean
  /** What to do if the server may have executed the call. Absent for reads. */
  readonly afterUnknown?: {
    /** The advice as a fixed name. Errors contain it as `afterUnknown`, and `nextStep` returns it as `how`. */
    readonly how: FindOut
    /** The advice in words, for the error's message. */
    readonly advice: string
  }
  /** The advice in an error's message if the server rejected the call, and the error is not retryable. */
  readonly afterRejected?: string
  /** The advice in an error's message if `waitForCharge` or `waitForStatus` is aborted or reaches its time limit. */
  readonly afterWait?: string
}

/** The body that a caller passes to an endpoint, or `undefined` if the endpoint has no body. */
export type RequestOf<Definition extends EndpointDefinition> = Definition extends {
  readonly request: infer Schema extends $ZodType
}
  ? OutputOf<Schema>
  : undefined

/** The response that a client returns for an endpoint. */
export type ResponseOf<Definition extends EndpointDefinition> = OutputOf<Definition['response']>
