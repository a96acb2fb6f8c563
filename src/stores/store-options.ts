import type { InputIssue } from '../errors.ts'
import { isFields, unknownNames, unless } from '../transport/input-issues.ts'

/** The issues of what every store's options have in common; `names` are all that the store takes. */
export const storeOptionIssues = (options: unknown, names: readonly string[]): InputIssue[] => {
  if (!isFields(options)) return unless(false, 'options', "an object such as { prefix: 'shop:' }", options)
  const { prefix } = options
  return [
    ...unknownNames(options, names, 'option of the store'),
    ...unless(prefix === undefined || typeof prefix === 'string', 'prefix', 'text', prefix),
  ]
}
