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

/** Texts that complete JSON that ends in a value, after a comma, a name or a colon, or in `true`, `false` or `null`. */
const COMPLETIONS = ['', '0', '"":0', ':0', 'rue', 'ue', 'e', 'alse', 'lse', 'se', 'ull', 'll', 'l']

/** Returns whether a text is the beginning of a JSON object or list whose end is missing. */
export const isCutJson = (text: string): boolean => {
  const json = text.trim()
  const closers: string[] = []
  let isText = false
  let end = json.length
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at]
    if (character === '"') isText = !isText
    else if (isText && character === '\\') {
      const length = json[at + 1] === 'u' ? 6 : 2
      if (at + length > json.length) end = at
      at += length - 1
    } else if (!isText && (character === '{' || character === '['))
      closers.push(character === '{' ? '}' : ']')
    else if (!isText && (character === '}' || character === ']')) closers.pop()
  }
  if (closers.length === 0) return false
  const start = `${json.slice(0, end)}${isText ? '"' : ''}`
  const rest = closers.reverse().join('')
  return COMPLETIONS.some((completion) => readJson(`${start}${completion}${rest}`).ok)
}
