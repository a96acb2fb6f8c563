/** The result of reading a text as JSON. */
export type JsonReading = { readonly ok: true; readonly value: unknown } | { readonly ok: false }

const MANY_DIGITS = /\d{16}/
const INTEGER = /^-?\d+$/

/** Returns an unsafe integer as text. Without `context` (runtimes before 2024), the parsed JSON omits the integer. */
const byReviver = (_: string, value: unknown, context?: { readonly source?: string }): unknown => {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source === undefined || INTEGER.test(source) ? source : value
}

/**
 * Parses JSON. An integer that a number cannot hold exactly becomes a string, so that no identifier is rounded. A
 * byte order mark is ignored. The result never contains the parser's error, which quotes the text.
 */
export const readJson = (text: string): JsonReading => {
  try {
    const json = text.trim()
    return { ok: true, value: JSON.parse(json, MANY_DIGITS.test(json) ? byReviver : undefined) }
  } catch {
    return { ok: false }
  }
}

/** Texts that complete JSON that ends outside a string: in or after a value, or after a comma, a name or a colon. */
const ENDS = ['', '0', '"":0', ':0', 'rue', 'ue', 'e', 'alse', 'lse', 'se', 'ull', 'll', 'l']
/** Texts that complete JSON that ends in a string, which may be a value or a name, and may end in an escape. */
const STRING_ENDS = ['', '\\', '0', '00', '000', '0000'].flatMap((end) => [`${end}"`, `${end}":0`])

/** Returns whether a text is the beginning of a JSON object or list whose end is missing. */
export const isCutJson = (text: string): boolean => {
  const closers: string[] = []
  let isString = false
  let isEscaped = false
  for (const character of text) {
    if (character === '"' && !isEscaped) isString = !isString
    else if (!isString && (character === '{' || character === '['))
      closers.push(character === '{' ? '}' : ']')
    else if (!isString && (character === '}' || character === ']')) closers.pop()
    isEscaped = isString && character === '\\' && !isEscaped
  }
  const rest = closers.reverse().join('')
  return rest !== '' && (isString ? STRING_ENDS : ENDS).some((end) => readJson(`${text}${end}${rest}`).ok)
}
