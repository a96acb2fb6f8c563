import type { Area, EndpointDefinition, PathParameter } from '../../src/contract/endpoint.ts'
import { oneOf } from '../../src/contract/fields.ts'
import { gatewayContract } from '../../src/contract/gateway.ts'
import { subscriptionsContract } from '../../src/contract/subscriptions.ts'
import { check } from '../domain/fields.ts'
import type { Limiter } from '../domain/limiter.ts'
import { accepted, type Refusal, type Result } from '../domain/result.ts'
import type { HeaderFields, ResponseData } from './response.ts'
import { createRouter, type Router } from './router.ts'

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

/** A request that has passed the checks of the HTTP layer: route, credentials and body. */
export interface Call<Definition extends EndpointDefinition, Caller> {
  /** Returns a decoded parameter of the path. */
  parameter(name: PathParameter<Definition['path']>): string
  readonly query: URLSearchParams
  /** The body's fields as received. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The Idempotency-Key header; empty if the request has none. */
  readonly idempotencyKey: string
  /** The authenticated caller, or a placeholder if the operation needs no authentication. */
  readonly caller: Caller
}

/**
 * One resolver for each operation of a contract. A missing resolver is a compile error. The resolver of an operation
 * with idempotency keys looks up the key, and returns a function that executes the call.
 */
export type Resolvers<Contract extends Record<string, EndpointDefinition>, Caller> = {
  readonly [Name in keyof Contract]: (
    call: Call<Contract[Name], Caller>,
  ) => Contract[Name] extends { readonly idempotencyKey: true } ? AdmittedCall : Result<Success>
}

/** The operation that a route calls. */
export interface OperationTarget {
  /** Name of the operation in the contract. The operation's resolver has the same name. */
  readonly name: string
  readonly definition: EndpointDefinition
}

/** A received request whose caller is not yet authenticated. */
export interface ReceivedCall {
  readonly parameters: Readonly<Record<string, string>>
  readonly query: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly idempotencyKey: string
}

/** A call whose caller is authenticated, but which is not yet executed. */
export interface AdmittedCall {
  /** The original result of a used idempotency key; `undefined` for a new key or an operation without keys. */
  readonly original: Result<Success> | undefined
  execute(): Result<Success>
}

/** Builds the responses of an area. `headers` are added to each response. */
export interface AreaResponses {
  success(definition: EndpointDefinition, success: Success, headers: HeaderFields): ResponseData
  refusal(refusal: Refusal, headers: HeaderFields): ResponseData
  /** Builds the error response for an outage, a fault or a wrong path. */
  failure(status: number, message: string, headers: HeaderFields): ResponseData
}

/** The rate limiter's decision about a call, for example whether the call is allowed. */
export type LimitState = ReturnType<Limiter['take']>

/** The HTTP side of an area. */
export interface AreaRuntime {
  readonly name: Area
  readonly router: Router<OperationTarget>
  /** Authenticates a token or API key, and looks up the call's idempotency key. */
  admit(target: OperationTarget, bearer: string | undefined, call: ReceivedCall): Result<AdmittedCall>
  readonly responses: AreaResponses
  /** The rate limiter; `undefined` if the area has no rate limit. */
  readonly limiter: Limiter | undefined
  /** Returns the name of the rate limiter's bucket for a call. `fields` is empty if the body is invalid. */
  bucket(
    bearer: string | undefined,
    definition: EndpointDefinition | undefined,
    fields: Readonly<Record<string, unknown>>,
  ): string
  /** Returns the rate-limit headers of a response. */
  limitHeaders(state: LimitState): HeaderFields
  /** Returns additional headers of a response with status 429. */
  refusalHeaders(state: LimitState): HeaderFields
  /** Whether the mock refuses a body with a Content-Type other than JSON (row 3). */
  readonly checksContentType: boolean
  /** Whether the mock refuses body fields of an operation that has no body in the specification (row 4 ✎). */
  readonly refusesUnknownFields: boolean
  /** Whether the mock refuses a request while another with the same idempotency key runs (row 73a). */
  readonly refusesRunningKeys: boolean
  /** Returns whether the area has an outage. */
  isDown(): boolean
  /** Returns fields, such as `msisdn`, of the charge or subscription whose id is in the path. */
  related(parameters: Readonly<Record<string, string>>): Readonly<Record<string, unknown>>
}

/** The parts that are needed to create an area. */
export interface AreaParts
  extends Pick<
    AreaRuntime,
    'limiter' | 'checksContentType' | 'refusesUnknownFields' | 'refusesRunningKeys' | 'isDown'
  > {
  /** Returns the current time of the rate limiter. */
  readonly now: () => number
  readonly apiPrefix: string
}

/** Returns the seconds from `now` until `time`, rounded up. The result is at least 1. */
export const secondsUntil = (time: number, now: number): number =>
  Math.max(1, Math.ceil((time - now) / 1_000))

/**
 * Creates a function that returns the contract's router for a path prefix (row 49). Mocks with the same prefix
 * share a router, because a new router would make `createMock` much slower.
 *
 * @param moreMethods additional HTTP methods of operations, by the operation's name
 */
export const createRoutes = (
  contract: Readonly<Record<string, EndpointDefinition>>,
  standardPrefix: string,
  moreMethods: Readonly<Record<string, readonly string[]>> = {},
): ((prefix: string) => Router<OperationTarget>) => {
  const routers = new Map<string, Router<OperationTarget>>()
  return (prefix) => {
    let router = routers.get(prefix)
    if (router === undefined) {
      router = createRouter(
        Object.entries(contract).map(([name, definition]) => {
          const { method, path } = definition
          return {
            methods: [method, ...(moreMethods[name] ?? [])],
            path: path.startsWith(`${standardPrefix}/`) ? prefix + path.slice(standardPrefix.length) : path,
            target: { name, definition },
          }
        }),
      )
      routers.set(prefix, router)
    }
    return router
  }
}

/** Creates the method `admit` of an area. */
export const createAdmission =
  <Contract extends Record<string, EndpointDefinition>, Caller>(
    resolvers: Resolvers<Contract, Caller>,
    callerOf: (definition: EndpointDefinition, bearer: string | undefined) => Result<Caller>,
  ): AreaRuntime['admit'] =>
  ({ name, definition }, bearer, { parameters, query, ...received }) => {
    const caller = callerOf(definition, bearer)
    if (!caller.ok) return caller
    type AnyCall = Call<EndpointDefinition, Caller>
    const call: AnyCall = {
      ...received,
      parameter: (parameterName: string) => parameters[parameterName] ?? '',
      query: new URLSearchParams(query),
      caller: caller.value,
    }
    const resolver: unknown = resolvers[name]
    if (definition.idempotencyKey) return accepted((resolver as (call: AnyCall) => AdmittedCall)(call))
    const resolve = resolver as (call: AnyCall) => Result<Success>
    return accepted({ original: undefined, execute: () => resolve(call) })
  }
