const MANY_DIGITS = /\d{16}/
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const INTEGER = /^-?\d+$/

/**
 * Where the string that begins at `start` ends. Looked for by hand: a regular expression remembers a way back for each
 * escape, and a string of some millions exhausts the stack.
 */
const endOfString = (text: string, start: number): number => {
  let quote = text.indexOf('"', start + 1)
  while (quote !== -1) {
    let backslashes = 0
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
    quote = text.indexOf('"', quote + 1)
  }
  return text.length
}

const quoteNumbers = (text: string): string =>
  MANY_DIGITS.test(text)
    ? text.replace(NUMBER, (token) =>
        INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
      )
    : text

/** The text of a JSON value, with what stands between its strings changed. */
const quoteLargeIntegers = (text: string): string => {
  const parts: string[] = []
  let from = 0
  while (from < text.length) {
    const quote = text.indexOf('"', from)
    const start = quote === -1 ? text.length : quote
    const end = quote === -1 ? text.length : endOfString(text, quote)
    parts.push(quoteNumbers(text.slice(from, start)), text.slice(start, end))
    from = end
  }
  return parts.join('')
}

/** What reading a text as JSON gave. */
export type JsonReading = { readonly ok: true; readonly value: unknown } | { readonly ok: false }

const parse = (text: string): JsonReading => {
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    // The platform's error quotes a piece of the text; what it says is not kept.
    return { ok: false }
  }
}

/** Reads JSON. Integers that a number cannot hold exactly become their digits as text, so that no id is rounded. */
export const readJson = (text: string): JsonReading => {
  const reading = parse(text)
  return reading.ok && MANY_DIGITS.test(text) ? parse(quoteLargeIntegers(text)) : reading
}
