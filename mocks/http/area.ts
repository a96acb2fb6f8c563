import type { EndpointDefinition } from '../../src/contract/endpoint.ts'
import { oneOf } from '../../src/contract/fields.ts'
import { gatewayContract } from '../../src/contract/gateway.ts'
import { subscriptionsContract } from '../../src/contract/subscriptions.ts'
import { check } from '../base/fields.ts'
import type { Fields, Refusal, RefusalReason, Result } from '../base/result.ts'
import {
  type HeaderFields,
  type IncomingRequest,
  jsonResponse,
  type ReadBody,
  type ResponseData,
} from './message.ts'
import type { Located, Route, Routed } from './routes.ts'

/** Operation ids of both areas, such as `gateway.charge`. */
export type Operation =
  | (typeof subscriptionsContract)[keyof typeof subscriptionsContract]['operation']
  | (typeof gatewayContract)[keyof typeof gatewayContract]['operation']

/** Every operation id, area S first. */
export const operations: readonly Operation[] = [
  ...Object.values(subscriptionsContract).map(({ operation }) => operation),
  ...Object.values(gatewayContract).map(({ operation }) => operation),
]

const known = new Set<string>(operations)

/** Returns whether a text is an operation id. */
export const isOperation = (text: string): text is Operation => known.has(text)

const operationRule = oneOf(operations)

/** Throws a TypeError that lists all operation ids if `name` is not one of the ids. */
export const assertOperation = (name: unknown): void => void check(operationRule, name, '', 'operation')

/** Names of the `:parameters` in a path template. */
type PathParameter<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParameter<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** A call of an operation by an authenticated caller. */
export interface Call<Definition extends EndpointDefinition, Caller> {
  /** The decoded parameters of the path. */
  readonly parameters: Readonly<Record<PathParameter<Definition['path']>, string>>
  /** The query, without its question mark. */
  readonly query: string
  /** The body's fields as received. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The Idempotency-Key header; empty if the request has none. */
  readonly idempotencyKey: string
  /** The authenticated caller, or a placeholder if the operation needs no authentication. */
  readonly caller: Caller
}

/** A call of any operation. */
type AnyCall = Call<EndpointDefinition, unknown>

type Contract = Readonly<Record<string, EndpointDefinition>>

/** One resolver for each operation of a contract: it returns the body of the response. A missing one does not compile. */
export type Resolvers<Of extends Contract, Caller> = {
  readonly [Name in keyof Of]: (call: Call<Of[Name], Caller>) => Result<unknown>
}

/** The first result of a used idempotency key. */
interface Replay {
  readonly body: unknown
  /** What the request log adds to its explanation. */
  readonly explanation?: string
}

/** For operations with idempotency keys: returns the first result of a used key, or `undefined` for a new key. */
export type Replays<Of extends Contract, Caller> = {
  readonly [Name in keyof Of]?: (call: Call<Of[Name], Caller>) => Result<Replay> | undefined
}

/** What a rate limit decides about a call. */
export interface Admission {
  readonly allowed: boolean
  /** How many calls a window allows. */
  readonly limit: number
  /** The rate-limit headers that every response has. */
  readonly headers?: HeaderFields
  /** The milliseconds of the Retry-After header of a refused call; absent if the header is not sent. */
  readonly retryIn?: number | undefined
}

/** A call, as a rate limit reads it. */
export interface LimitedCall {
  readonly bearer: string | undefined
  readonly route: Route | undefined
  readonly fields: Fields
  /** Whether the call counts if it is allowed. */
  readonly counts: boolean
}

/** The HTTP side of an area. */
export interface AreaRuntime extends Routed {
  /** The options by which the pipeline checks a request (rows 3, 4 and 73a). */
  readonly options: {
    readonly apiPrefix: string
    readonly contentType: 'json' | 'any'
    readonly unknownFields: 'ignore' | 'refuse'
    readonly keyInFlight?: 'wait' | 'conflict'
  }
  /** Decides by the rate limit whether a call is allowed. */
  limit(call: LimitedCall): Admission
  /** Finds the caller to whom a token or an API key belongs. */
  authenticate(bearer: string | undefined): Result<unknown>
  readonly replays: Readonly<Record<string, (call: AnyCall) => Result<Replay> | undefined>>
  readonly resolvers: Readonly<Record<string, (call: AnyCall) => Result<unknown>>>
  /** Adds what is common to the bodies of successful responses. If absent, the resolver returns the whole body. */
  envelope?(definition: EndpointDefinition, body: unknown): unknown
  /** The HTTP status and the error code of each refusal. A refusal that is not listed is an internal error. */
  readonly refusals: { readonly [Reason in RefusalReason]?: readonly [status: number, code: string] }
  /** Returns the error code of an outage, a fault or a wrong path. */
  codeOf(status: number): string
  /** Returns the body of an error response. */
  error(code: string, message: string): unknown
  /** Returns fields, such as `msisdn`, of the charge or subscription whose id is in the path. */
  correlationFields(parameters: Readonly<Record<string, string>>): Fields
}

/** The counted calls of both areas, as plain data. */
export interface LimitsState {
  /** The window of each bucket, the oldest first (Limits, area S). */
  readonly subscriptions: Map<string, { readonly startedAt: number; count: number }>
  /** The times of the accepted calls of the rolling window, oldest first (Limits, area G). */
  readonly gateway: number[]
}

/** What the rate limit of an area needs. */
export interface LimitContext {
  readonly state: { readonly limits: LimitsState }
  /** Returns the current time of the rate limits. */
  readonly now: () => number
  /** If it returns true, the rate limit is off: every call is allowed, and none counts. */
  readonly isOff: (() => boolean) | undefined
}

/** A request to an area. */
export type Exchange = Located<AreaRuntime> & {
  readonly request: IncomingRequest
  /** When the request arrived, in the machine's time. */
  readonly receivedAt: number
  /** The token of `Authorization: Bearer …`. */
  readonly bearer: string | undefined
  readonly idempotencyKey: string | undefined
  readonly contentType: string | null
  /** The body; absent until it is read, and for a request without an operation. */
  body: ReadBody | undefined
  /** The rate-limit headers of the response. */
  headers: HeaderFields
}

/** A request to an operation. */
export type OperationExchange = Extract<Exchange, { readonly route: Route }>

/** Returns an error response in the format of an area. */
export const errorResponse = (
  area: AreaRuntime,
  status: number,
  message: string,
  headers: HeaderFields,
  code = area.codeOf(status),
): ResponseData => jsonResponse(status, area.error(code, message), headers)

/** Rejects a request. `code` is the error code, if it does not follow from the status. */
export const failed = (
  { area, headers: own }: Exchange,
  status: number,
  rule: string,
  message: string,
  explanation = message,
  { code, headers }: { readonly code?: string | undefined; readonly headers?: HeaderFields } = {},
) => ({
  response: errorResponse(area, status, message, { ...own, ...headers }, code),
  executed: false,
  rule,
  explanation,
})

/** Refuses a request for a reason of its operation. */
export const refused = (exchange: Exchange, refusal: Refusal, headers?: HeaderFields) => {
  const { reason, message, field, explanation } = refusal
  const sentences = [message, field && `Field: ${field}.`, explanation].filter(Boolean)
  const [status, code] = exchange.area.refusals[reason] ?? [500]
  return failed(exchange, status, reason, message, sentences.join(' '), { code, ...(headers && { headers }) })
}
