import type { Area, EndpointDefinition, PathParameter } from '../../src/contract/endpoint.ts'
import { gatewayContract } from '../../src/contract/gateway.ts'
import { subscriptionsContract } from '../../src/contract/subscriptions.ts'
import { shown } from '../domain/check-options.ts'
import type { Limiter } from '../domain/limiter.ts'
import { nearestName } from '../domain/nearest-name.ts'
import type { Refusal, Result } from '../domain/result.ts'
import { accepted } from '../domain/result.ts'
import type { Answer } from './response.ts'
import type { Route, Router } from './router.ts'
import { createRouter } from './router.ts'

/** Operation ids of both areas, for example `gateway.charge`. */
export type Operation =
  | (typeof subscriptionsContract)[keyof typeof subscriptionsContract]['operation']
  | (typeof gatewayContract)[keyof typeof gatewayContract]['operation']

/** Every operation id, area S first. */
export const operations: readonly Operation[] = [
  ...Object.values(subscriptionsContract).map(({ operation }) => operation),
  ...Object.values(gatewayContract).map(({ operation }) => operation),
]

const known = new Set<string>(operations)

/** Whether the text is an operation id. */
export const isOperation = (text: string): text is Operation => known.has(text)

/** The error for a name that is no operation: a misspelled one would otherwise never match anything. */
export const unknownOperation = (name: unknown, more: readonly string[] = []): TypeError => {
  const all = [...operations, ...more]
  // `charge` alone is easily written for `gateway.charge`.
  const meant =
    typeof name === 'string'
      ? (operations.find((operation) => operation.endsWith(`.${name}`)) ?? nearestName(name, operations))
      : undefined
  const what = name === undefined ? 'An operation is missing' : `There is no operation ${shown(name)}`
  return new TypeError(
    `${what}; ${meant === undefined ? `there are ${all.join(', ')}.` : `did you mean "${meant}"?`}`,
  )
}

/** What an operation yields: its body, and what differs from the contract's plain success. */
export interface Success {
  readonly body: unknown
  /** Another status than the contract's; 204 has no body. */
  readonly status?: number
  /** The body was made by an earlier call with the same key. */
  readonly replayed?: boolean
}

/** How an area words its answers. `headers` are those that every answer of the moment carries. */
export interface AreaAnswers {
  success(definition: EndpointDefinition, success: Success, headers: Headers): Answer
  refusal(refusal: Refusal, headers: Headers): Answer
  /** An error that no rule of the domain gave: outages, faults, wrong paths. */
  failure(status: number, message: string, headers: Headers): Answer
}

/** Header names and values. */
export type Headers = Readonly<Record<string, string>>

/** What a limiter said about a call. */
export interface LimitState {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
}

/** Whole seconds from now until a time, at least one. */
export const secondsUntil = (time: number, now: number): number =>
  Math.max(1, Math.ceil((time - now) / 1_000))

/** A request that has passed every check that is not the domain's. */
export interface Call<Definition extends EndpointDefinition, Caller> {
  /** A parameter of the path, decoded. */
  parameter(name: PathParameter<Definition['path']>): string
  readonly query: URLSearchParams
  /** The body's fields as they arrived. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly idempotencyKey: string | undefined
  /** Who calls; nobody in particular where an operation needs no authentication. */
  readonly caller: Caller
}

/** Carries out one operation on the domain. */
export type Resolver<Definition extends EndpointDefinition, Caller> = (
  call: Call<Definition, Caller>,
) => Result<Success>

/** One resolver for each operation of a contract: leaving one out does not compile. */
export type Resolvers<Contract extends Record<string, EndpointDefinition>, Caller> = {
  readonly [Name in keyof Contract]: Resolver<Contract[Name], Caller>
}

/** What stands behind a route: an operation of the contract, bound to its resolver. */
export interface OperationTarget {
  readonly definition: EndpointDefinition
  /** Lets the bearer of a token or key in, or says why not. */
  admit(bearer: string | undefined): Result<CarryOut>
}

/** Carries the operation out for the caller who was let in. */
export type CarryOut = (request: AdmittedRequest) => Result<Success>

/** A request after the checks that come before the domain. */
export interface AdmittedRequest {
  readonly parameters: Readonly<Record<string, string>>
  readonly query: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly idempotencyKey: string | undefined
}

/** An area as the pipeline sees it. */
export interface AreaRuntime {
  readonly name: Area
  readonly router: Router<OperationTarget>
  readonly answers: AreaAnswers
  /** The limiter, when there is a limit. */
  readonly limiter: Limiter | undefined
  /** Which bucket of the limiter a call counts in; `fields` as far as the body could be read. */
  bucket(
    bearer: string | undefined,
    definition: EndpointDefinition | undefined,
    fields: AdmittedRequest['fields'],
  ): string
  /** Headers of every answer after a look at the limiter. */
  limitHeaders(state: LimitState): Headers
  /** Headers of the answer to a call that was over the limit. */
  refusalHeaders(state: LimitState): Headers
  /** Whether only JSON's own label is read (row 3 ✎). */
  readonly checksContentType: boolean
  /** Whether a field in a body for which the specification defines none is refused (row 4 ✎). */
  readonly refusesUnknownFields: boolean
  /** Whether the area cannot be reached. */
  isDown(): boolean
}

/** Methods that a route answers besides the contract's. */
export type MoreMethods = Readonly<Record<string, readonly string[]>>

/**
 * The routes of a contract, each bound to its resolver.
 *
 * @param prefixes the prefix that the contract's paths carry, and the one they have here (row 49)
 */
export const createOperationRouter = <Contract extends Record<string, EndpointDefinition>, Caller>(options: {
  readonly contract: Contract
  readonly resolvers: Resolvers<Contract, Caller>
  readonly callerOf: (definition: EndpointDefinition, bearer: string | undefined) => Result<Caller>
  readonly prefixes: readonly [inContract: string, here: string]
  readonly moreMethods?: MoreMethods
}): Router<OperationTarget> => {
  const { contract, resolvers, callerOf, prefixes, moreMethods = {} } = options
  const [inContract, here] = prefixes
  const names: readonly (keyof Contract)[] = Object.keys(contract)
  const routes = names.map((name): Route<OperationTarget> => {
    const definition: EndpointDefinition = contract[name] as Contract[typeof name]
    const resolver = resolvers[name] as (call: Call<EndpointDefinition, Caller>) => Result<Success>
    const { path } = definition
    return {
      methods: [definition.method, ...(moreMethods[definition.operation] ?? [])],
      path: path.startsWith(`${inContract}/`) ? `${here}${path.slice(inContract.length)}` : path,
      target: {
        definition,
        admit(bearer) {
          const caller = callerOf(definition, bearer)
          if (!caller.ok) return caller
          return accepted(({ parameters, query, fields, idempotencyKey }) =>
            resolver({
              parameter: (parameterName: string) => parameters[parameterName] ?? '',
              query: new URLSearchParams(query),
              fields,
              idempotencyKey,
              caller: caller.value,
            }),
          )
        },
      },
    }
  })
  return createRouter(routes)
}
