import type { Operation } from './http/operations.ts'
import { isOperation, unknownOperation } from './http/operations.ts'
import type { LoggedRequest, WritableRequestLog } from './http/request-log.ts'

const told = ({ method, path, status, decision, explanation, at }: LoggedRequest): string => {
  const answer = status === undefined ? 'got no answer' : `was answered ${status}`
  return `${method} ${path} ${answer} (${decision}) at ${at.toISOString()}. ${explanation}`
}

/**
 * Says in words what became of the last request of an operation and why; for one that never arrived, which request may
 * have been meant for it. Throws a TypeError for a name that is no operation.
 */
export const explain = (
  log: WritableRequestLog,
  operation: Operation,
  routeOf: (operation: Operation) => string,
): string => {
  if (!isOperation(operation)) throw unknownOperation(operation)
  const last = log.last((entry) => entry.operation === operation)
  if (last !== undefined) return `${operation}: ${told(last)}`
  const route = routeOf(operation)
  const near = log.last((entry) => entry.nearestRoute === route)
  const hint = near === undefined ? '' : ` This may have been meant for it: ${told(near)}`
  return `${operation} (${route}): no such request has arrived.${hint}`
}
