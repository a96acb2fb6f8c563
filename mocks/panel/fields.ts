import type { PaymentScript } from '../domain/subscriptions/options.ts'

/** The fields of an action, as a program or a form sent them. */
export type SentFields = Readonly<Record<string, unknown>>

/** Reads one field of an action. Forms send text, and an empty text means that the field is missing. */
export type Reader<Value> = (given: unknown, name: string) => Value

const plain = (given: unknown): unknown => {
  const value = typeof given === 'string' ? given.trim() : given
  return value === '' || value === null ? undefined : value
}

/** Reads a field that contains text or a number. Returns a number as text. */
export const optionalText: Reader<string | undefined> = (given, name) => {
  const value = plain(given)
  if (value === undefined || typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw new TypeError(`Field ${name} must be text.`)
}

/** Reads a required text. */
export const text: Reader<string> = (given, name) => {
  const value = optionalText(given, name)
  if (value === undefined) throw new TypeError(`Missing field ${name}.`)
  return value
}

/** Reads a number that is not negative. */
export const number: Reader<number | undefined> = (given, name) => {
  const value = optionalText(given, name)
  if (value === undefined) return undefined
  if (!/^\d+(\.\d+)?$/.test(value)) throw new TypeError(`Field ${name} must be a number, such as 3.`)
  return Number(value)
}

/** Reads any JSON value. In a form, text that is not JSON stays text. */
export const json: Reader<unknown> = (given) => {
  const value = plain(given)
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Reads an object of texts, which a form sends as fields `name.<key>`. As a number, `017` would lose its 0. */
export const texts: Reader<Readonly<Record<string, string>> | undefined> = (given, name) => {
  const entries = Object.entries(Object(json(given, name))).flatMap(([key, value]) => {
    const found = optionalText(value, `${name}.${key}`)
    return found === undefined ? [] : [[key, found]]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** Reads the outcomes of payments, such as `succeed, fail`. */
export const scripts: Reader<readonly PaymentScript[]> = (given, name) =>
  (Array.isArray(given) ? given : (optionalText(given, name) ?? '').split(/[\s,]+/))
    .filter((word) => word !== '')
    .map((word) => {
      if (word === 'succeed' || word === 'fail') return word
      throw new TypeError(`Field ${name} must be a list of succeed and fail, got "${word}".`)
    })

/** Reads a request body: a JSON object, or a form, whose field names may contain a dot, such as `when.msisdn`. */
export const readFields = (body: string, isJson: boolean): SentFields => {
  if (isJson) return Object(JSON.parse(body))
  const fields: Record<string, unknown> = {}
  for (const [name, value] of new URLSearchParams(body)) {
    const [outer = '', inner] = name.split('.', 2)
    fields[outer] = inner === undefined ? value : { ...Object(fields[outer]), [inner]: value }
  }
  return fields
}
