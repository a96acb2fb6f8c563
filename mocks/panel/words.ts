import type { Fault } from '../http/fault-schema.ts'

const LABELS: Readonly<Record<string, string>> = {
  latencyMs: 'Latency, ms',
  msisdn: 'Phone number',
  'when.msisdn': 'Only for phone number',
  'when.requestID': 'Only for request ID',
  otp: 'One-time code',
  kind: 'Fault',
  url: 'URL',
  retries: 'Attempts',
  requestID: 'Request ID',
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

/** The fields that a form offers for an object with any field names. */
export const KEYS: Readonly<Record<string, readonly string[]>> = { when: ['msisdn', 'requestID'] }

/** Returns the label of a field: `retryAfter` is "Retry after". */
export const labelOf = (name: string): string => {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace('.', ' ')
    .toLowerCase()
  return LABELS[name] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** Returns a choice of a select in words. */
export const choiceInWords = (choice: string): string => {
  if (choice.endsWith('*')) return targetInWords(choice)
  return /^[a-z]+(?:_[a-z]+)+$/.test(choice) ? choice.replaceAll('_', ' ') : choice
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/**
 * Returns the parts of an error message by the field that each names, in the words of the form. `rest` has the parts
 * that name no field.
 */
export const problemsOf = (
  message: string,
  fields: readonly { readonly name: string }[],
): Readonly<Record<string, string>> => {
  const problems: Record<string, string> = {}
  for (const part of message.replace(/^[\w.]+: /, '').split('; ')) {
    const [, isMissing, path = '', words = ''] = /^(Missing )?([\w.]+):? (.*)$/s.exec(part) ?? []
    const field = fields.find(({ name }) => name === path || path.startsWith(`${name}.`))
    const name = field?.name ?? 'rest'
    const text = isMissing ? `is missing: give ${words.replace(/^pass /, '')}` : words
    const own = field === undefined ? part : `${labelOf(name)} ${text}`
    problems[name] = problems[name] === undefined ? sentence(own) : `${problems[name]} ${sentence(own)}`
  }
  return problems
}

/** Returns the operations that a fault applies to, in words. */
const targetInWords = (operation: string): string => {
  if (operation === '*') return 'every operation'
  return operation.endsWith('.*') ? `every operation of ${operation.slice(0, -2)}` : operation
}

const effectInWords = ({ kind, status, latencyMs = 0 }: Fault): string =>
  ({
    latency: `${latencyMs} ms later`,
    status: String(status ?? 500),
    reset: 'connection reset',
    'lost-response': 'lost response',
    timeout: 'no response',
    html: `HTML page with ${status ?? 502}`,
    empty: 'empty body',
    malformed: 'invalid JSON',
    truncated: 'response cut in the middle',
    'rate-limit': '429',
    sequence: 'a sequence of faults',
  })[kind ?? 'sequence']

/** Returns a fault in words, such as "503 for every operation, once". */
export const faultInWords = (fault: Fault, left: number | 'always'): string => {
  const { operation, when, probability } = fault
  const times = left === 'always' ? 'always' : left === 1 ? 'once' : `${left} times`
  const conditions = Object.entries(when ?? {}).map(
    ([name, value]) => `${labelOf(name).toLowerCase()} ${value}`,
  )
  return [
    `${effectInWords(fault)} for ${targetInWords(operation)}`,
    probability === undefined ? times : `with probability ${probability}`,
    ...(typeof when === 'function' ? ['if a function accepts the request'] : []),
    ...(conditions.length > 0 ? [`only for ${conditions.join(' and ')}`] : []),
  ].join(', ')
}
