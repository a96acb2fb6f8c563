import { isObject } from '../../src/contract/fields.ts'
import type { issuesOf } from '../base/fields.ts'
import { effectInWords, type Fault } from '../http/fault-schema.ts'

const LABELS: Readonly<Record<string, string>> = {
  latencyMs: 'Latency, ms',
  msisdn: 'Phone number',
  'when.msisdn': 'Only for phone number',
  'when.requestID': 'Only for request ID',
  otp: 'One-time code',
  kind: 'Fault',
  url: 'URL',
  retries: 'Attempts',
  start: 'First day',
  end: 'Last day',
  userReturnURL: 'Return URL',
  redirect_uri: 'Return URL',
  time: 'Time, UTC',
  times: 'Times, or always',
  payments: 'Payments, such as succeed, fail',
  behavior: 'Result',
  code: 'Error code',
}

/** Returns the label of a field: `retryAfter` is "Retry after", and `paymentId` is "Payment ID". */
export const labelOf = (name: string): string => {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').replace('.', ' ')
  const label = words.charAt(0).toUpperCase() + words.slice(1).toLowerCase()
  return LABELS[name] ?? label.replace(/\bid$/, 'ID')
}

/** Returns a choice of a select in words. */
export const choiceInWords = (choice: string): string => {
  if (choice === '*') return 'every operation'
  if (choice.endsWith('.*')) return `every operation of ${choice.slice(0, -2)}`
  return /^[a-z]+(?:_[a-z]+)+$/.test(choice) ? choice.replaceAll('_', ' ') : choice
}

/** Returns options in words: `{ retries: { attempts: 3 } }` is "retries: attempts 3". */
export const inWords = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(inWords).join(' to ')
  if (!isObject(value)) return String(value)
  const set = Object.entries(value).filter(([, one]) => one !== undefined)
  return set.map(([name, one]) => `${name}${isObject(one) ? ':' : ''} ${inWords(one)}`).join(', ')
}

/** Returns what is wrong with each field, in the words of the form. `rest` has what names no field. */
export const problemsOf = (
  error: { readonly message: string; readonly issues?: ReturnType<typeof issuesOf> },
  fields: readonly { readonly name: string }[],
): Readonly<Record<string, string>> => {
  const problems: Record<string, string> = {}
  const text = error.message.replace(/^[\w.]+: /, '')
  // A refusal has no issues. It starts with the name of a field if it is about one.
  const [start = ''] = text.split(' ', 1)
  const refusal = { field: start, rule: text.slice(start.length + 1), received: 'refused', message: text }
  for (const { field, rule, received, message } of error.issues ?? [refusal]) {
    const found = fields.find((one) => `${field}.`.startsWith(`${one.name}.`))
    const name = received === 'an unknown name' ? 'rest' : (found?.name ?? 'rest')
    const verb = { undefined: 'is missing: give ', refused: '' }[received] ?? 'must be '
    // A label may end with an example.
    const label = labelOf(name).replace(/, (?:or|such as) .*$/, '')
    const problem = name === 'rest' ? message : `${label} ${verb}${rule}`
    problems[name] = [problems[name] ?? [], problem.replace(/[^.!?]$/, '$&.')].flat().join(' ')
  }
  return problems
}

/** Returns a fault in words, such as "503 for every operation, once". */
export const faultInWords = (fault: Fault, left: number | 'always'): string => {
  const { operation, when, probability } = fault
  const times = left === 'always' ? left : left === 1 ? 'once' : `${left} times`
  const conditions = Object.entries(when ?? {}).map(
    ([name, value]) => `${labelOf(name).toLowerCase()} ${value}`,
  )
  const parts = [
    `${effectInWords(fault)} for ${choiceInWords(operation)}`,
    probability === undefined ? times : `with probability ${probability}`,
    typeof when === 'function' && 'if a function accepts the request',
    conditions.length > 0 && `only for ${conditions.join(' and ')}`,
  ]
  return parts.filter(Boolean).join(', ')
}
