import type { Area, EndpointDefinition } from '../../src/contract/endpoint.ts'
import type { Limiter } from '../domain/api.ts'
import type { Result } from '../domain/result.ts'
import { accepted } from '../domain/result.ts'
import type { AreaAnswers, Headers, LimitState, Success } from './area-answers.ts'
import type { Call, Resolvers } from './resolver.ts'
import type { Route, Router } from './router.ts'
import { createRouter } from './router.ts'

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
