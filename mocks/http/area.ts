import type { EndpointDefinition } from '../../src/contract/endpoint.ts'
import { oneOf } from '../../src/contract/fields.ts'
import { gatewayContract } from '../../src/contract/gateway.ts'
import { subscriptionsContract } from '../../src/contract/subscriptions.ts'
import { check } from '../base/fields.ts'
import type { Refusal, Result } from '../base/result.ts'
import type { Admission, Limiter } from './limiter.ts'
import type { HeaderFields, ResponseData } from './response.ts'
import type { Routed } from './routes.ts'

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

/** The successful result of an operation. */
export interface Success {
  readonly body: unknown
  /** Status of the response; if omitted, the status in the contract. A 204 response has no body. */
  readonly status?: number
  /** Whether an earlier call with the same idempotency key created this result. */
  readonly replayed?: boolean
  /** What the request log adds to its explanation. */
  readonly explanation?: string
}

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

/** One resolver for each operation of a contract. A missing resolver is a compile error. */
export type Resolvers<Of extends Contract, Caller> = {
  readonly [Name in keyof Of]: (call: Call<Of[Name], Caller>) => Result<Success>
}

/** For operations with idempotency keys: returns the first result of a used key, or `undefined` for a new key. */
export type Replays<Of extends Contract, Caller> = {
  readonly [Name in keyof Of]?: (call: Call<Of[Name], Caller>) => Result<Success> | undefined
}

/** Resolvers or replays of any contract, by the name of the operation. */
export type AnyResolvers = Readonly<Record<string, (call: AnyCall) => Result<Success> | undefined>>

/** The HTTP side of an area. */
export interface AreaRuntime extends Routed {
  /** The rate limiter; `undefined` if the area has no rate limit. */
  readonly limiter: Limiter | undefined
  /** Returns the name of the rate limiter's bucket for a call. `fields` is empty if the body is invalid. */
  bucket(
    bearer: string | undefined,
    definition: EndpointDefinition | undefined,
    fields: Readonly<Record<string, unknown>>,
  ): string
  /** Returns the rate-limit headers that every response has. */
  limitHeaders(admission: Admission): HeaderFields
  /** Returns the headers that a 429 response has in addition. */
  refusalHeaders(admission: Admission): HeaderFields
  /** Returns whether the area has an outage. */
  isDown(): boolean
  /** Finds the caller to whom a token or an API key belongs. */
  authenticate(definition: EndpointDefinition, bearer: string | undefined): Result<unknown>
  /** For operations with idempotency keys: returns the first result of a used key; `undefined` for a new key. */
  readonly replays: AnyResolvers
  /** Executes an operation. */
  readonly resolvers: AnyResolvers
  /** Builds the response of a success. `headers` are added to each response. */
  success(definition: EndpointDefinition, success: Success, headers: HeaderFields): ResponseData
  /** Builds the response of a refusal. */
  refusal(refusal: Refusal, headers: HeaderFields): ResponseData
  /** Builds the error response for an outage, a fault or a wrong path. */
  failure(status: number, message: string, headers: HeaderFields): ResponseData
  /** Whether a body must have the Content-Type of JSON (row 3). */
  readonly checksContentType: boolean
  /** Whether unknown fields are refused (row 4). */
  readonly refusesUnknownFields: boolean
  /** Whether a call is refused while an earlier call with its idempotency key runs (row 73a). */
  readonly refusesRunningKeys: boolean
  /** Returns fields, such as `msisdn`, of the charge or subscription whose id is in the path. */
  correlationFields(parameters: Readonly<Record<string, string>>): Readonly<Record<string, unknown>>
}

/** What an area needs besides its domain. */
export interface AreaOptions
  extends Pick<
    AreaRuntime,
    'apiPrefix' | 'limiter' | 'checksContentType' | 'refusesUnknownFields' | 'refusesRunningKeys' | 'isDown'
  > {
  /** Returns the current time of the rate limiter. */
  readonly now: () => number
}

/** Returns the seconds from `now` until `time`, rounded up. The result is at least 1. */
export const secondsUntil = (time: number, now: number): number =>
  Math.max(1, Math.ceil((time - now) / 1_000))
