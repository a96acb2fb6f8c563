const MANY_DIGITS = /\d{16}/
// A string, or a number: strings come first so that digits inside one are passed over whole. Text between escapes is
// taken in one step, since a choice for each character exhausts the stack at long strings.
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const INTEGER = /^-?\d+$/

const quoteLargeIntegers = (text: string): string =>
  text.replace(TOKEN, (token) =>
    INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  )

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
