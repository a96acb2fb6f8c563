import type { Area, AuthKind, EndpointDefinition } from '../../src/contract/endpoint.ts'
import { gatewayContract } from '../../src/contract/gateway.ts'
import { subscriptionsContract } from '../../src/contract/subscriptions.ts'

/** The HTTP methods of the operations. */
export type Method = 'GET' | 'POST' | 'DELETE'

/** An operation of the contract. */
export interface OperationEntry {
  readonly area: Area
  /** The name in the contract, such as `charge`. */
  readonly name: string
  readonly operation: string
  readonly auth: AuthKind
  readonly method: Method
  /** All methods of the operation: `reset` has two, because the specification shows none (row 65). */
  readonly methods: readonly Method[]
  /** The path template, such as `/api/v1/mfs/charges/:id`. */
  readonly path: string
  readonly definition: EndpointDefinition
}

const entriesOf = (area: Area, contract: Readonly<Record<string, EndpointDefinition>>): OperationEntry[] =>
  Object.entries(contract).map(([name, definition]) => {
    const { operation, auth, method, path } = definition
    const methods: readonly Method[] = operation === 'gateway.reset' ? [method, 'DELETE'] : [method]
    return { area, name, operation, auth, method, methods, path, definition }
  })

/** The operations of both areas. */
export const operationEntries: readonly OperationEntry[] = [
  ...entriesOf('subscriptions', subscriptionsContract),
  ...entriesOf('gateway', gatewayContract),
]
