import type { EndpointDefinition } from '../contract/endpoint.ts'
import type { CallPromise, CallResponse } from './call-promise.ts'

/** One method for each operation of a contract: a client that lacks one does not compile. */
export type OperationMethods<Contract extends Readonly<Record<string, EndpointDefinition>>> = {
  readonly [Operation in keyof Contract]: (
    ...input: never[]
  ) => CallPromise<unknown, CallResponse> | CallPromise<unknown, CallResponse | undefined>
}
