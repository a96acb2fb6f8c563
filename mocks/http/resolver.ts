import type { EndpointDefinition, PathParameter } from '../../src/contract/endpoint.ts'
import type { Result } from '../domain/result.ts'
import type { Success } from './area-answers.ts'

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
