import { InvalidRequestError } from '../errors.ts'
import { kindOf } from './read-message.ts'

/** Whether a value has all of these methods. */
export const hasMethods = (value: unknown, methods: readonly string[]): boolean => {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return methods.every((method) => typeof Reflect.get(value, method) === 'function')
}

/** The error of a set-up that was given something else than what it needs. */
export const notUsable = (operation: string, field: string, rule: string, value: unknown) =>
  new InvalidRequestError(operation, [{ field, rule, received: kindOf(value) }])
