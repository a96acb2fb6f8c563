import { gatewayContract } from '../../src/contract/gateway.ts'
import { subscriptionsContract } from '../../src/contract/subscriptions.ts'
import { shown } from '../domain/checking.ts'
import { nearestName } from '../domain/nearest-name.ts'

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
