import { isObject } from '../../src/contract/fields.ts'
import { formsOf } from '../http/redact.ts'
import type { Recording } from './recording.ts'

const SECRET_FIELD =
  /^(?:username|password|passwd|otp|client_?id|client_?secret|secret|token|(?:access|refresh|id)_?token|authorization|api_?key)$/i
const SECRET_PARAMETER = /[?&]([\w-]*(?:token|secret|password|signature|otp|key))=([^&#\s"]+)/gi
const NUMBER_FIELD = /^(?:msisdn|phone|mobile)(?:_?number)?$/i
const NUMBER = /^\+?\d{7,15}$/
const PLUS_NUMBER = /(?<![\w+])\+\d{7,15}(?!\d)/g
const DIGITS = /^\d{10,15}$/

// +999 is not a country code, so nobody has such a number. The mock's own test numbers start with +99900.
const NOBODYS = '999'
const FIRST_NUMBER = 99_901_000_001

// A shorter secret is replaced only if it is a whole value, because other text may contain the same characters.
const SHORTEST_PART = 6
// A one-time code is replaced only if no digit is next to it, because a longer number may contain its digits.
const CODE = /^\d{1,9}$/

const inText = (value: string): string => {
  try {
    return JSON.parse(`"${value}"`)
  } catch {
    return value.trim()
  }
}

// A text's shape shows its format, because its Content-Type may be wrong. The last shape fits any other text, such as
// JSON that ends early. A field has a start, a name, and a value, which `plain` decodes.
const TEXTS = [
  {
    shape: /^[\w.%[\]-]+=\S*$/,
    field: /(([^&=]+)=)([^&]*)/g,
    plain: (value: string) => new URLSearchParams(`=${value}`).get('') ?? '',
  },
  {
    shape: /name="[^"]*"[^\r\n]*\r?\n/,
    field: /(name="([^"]*)"[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n)(.*?)(?=\r?\n--)/gs,
    plain: (value: string) => value,
  },
  {
    shape: /./,
    field: /((?<!\w)([\w-]+)["']?\s*[:=]\s*"?)((?<=")(?:[^"\\]|\\.)*|[^"'&\r\n,}]+)/g,
    plain: inText,
  },
] as const

const textLike = (body: string) => TEXTS.find(({ shape }) => shape.test(body)) ?? TEXTS[2]

/** Replaces secrets and payers' numbers by value. The same value always gets the same replacement. */
export interface Redactor {
  /** Replaces every occurrence of this value from now on. `name` is part of the replacement. */
  hide(name: string, value: string): void
  /** Replaces every occurrence of this phone number from now on, with and without its plus. */
  hideNumber(msisdn: string): void
  /** Returns a text without the hidden values, including their forms in JSON, a path and a query. */
  text(text: string): string
  /** Returns JSON without the hidden values. */
  json(value: unknown): unknown
  /** Hides the secrets and numbers that the exchange contains, and returns the exchange without hidden values. */
  recording(recording: Recording): Recording
}

/** The values that a redactor hides from the start. */
export interface Hidden {
  /** Secrets by name, for example `{ password: '…' }`. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Payers' phone numbers, in any form. */
  readonly numbers?: readonly string[]
}

/**
 * Creates a redactor. A secret becomes a text such as `redacted-password-1`. A phone number becomes a number that
 * nobody has, so that a server or mock still accepts it. Numbers that start with +999 are not replaced.
 */
export const createRedactor = ({ secrets = {}, numbers = [] }: Hidden = {}): Redactor => {
  const replacements = new Map<string, string>()
  const counts = new Map<string, number>()
  let parts: readonly (readonly [form: string | RegExp, replacement: string])[] = []

  const add = (value: string, replacement: string): void => {
    replacements.set(value, replacement)
    parts = [...replacements]
      .filter(([each]) => each.length >= SHORTEST_PART)
      .sort(([one], [other]) => other.length - one.length)
      .flatMap(([each, to]): [string | RegExp, string][] =>
        CODE.test(each)
          ? [[new RegExp(`(?<!\\d)${each}(?!\\d)`, 'g'), to]]
          : [...new Set(formsOf(each))].map((form) => [form, to]),
      )
  }

  const hide = (name: string, value: string): void => {
    if (value === '' || replacements.has(value) || value.startsWith('redacted-')) return
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    add(value, `redacted-${name}-${count}`)
  }

  const hideNumber = (msisdn: string): void => {
    const digits = msisdn.replace(/^\+/, '')
    if (!NUMBER.test(digits) || digits.startsWith(NOBODYS) || replacements.has(digits)) return
    const count = counts.get('') ?? 0
    counts.set('', count + 1)
    add(digits, String(FIRST_NUMBER + count))
  }

  const text = (given: string): string =>
    replacements.get(given) ??
    parts.reduce((rest, [form, replacement]) => rest.replaceAll(form, replacement), given)

  const json = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (typeof value === 'number') {
      const replacement = replacements.get(String(value))
      // Keeps the type, because `compare` would report another type as a difference.
      return replacement === undefined ? value : Number(replacement.match(/\d+$/)?.[0])
    }
    if (Array.isArray(value)) return value.map(json)
    if (!isObject(value)) return value
    const entries = Object.entries(value).map(([name, inner]) => {
      // A field's name can be a phone number. A name of letters is kept, because a username may have the same letters.
      const shown = /[^a-z_]/i.test(name) ? text(name) : name
      return [shown, name === 'grant_type' ? inner : json(inner)] as const
    })
    return Object.fromEntries(entries)
  }

  /** Hides the secrets and numbers of a body. Recognizes them by the fields' names and the values' forms. */
  const learn = (value: unknown, name: string, isTable: boolean): void => {
    if (Array.isArray(value)) {
      for (const each of value) learn(each, name, isTable)
    } else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) {
        if (isTable) learn(key, '', isTable)
        learn(inner, key, isTable)
      }
    } else if (typeof value === 'string' || typeof value === 'number') {
      const given = String(value)
      if (SECRET_FIELD.test(name)) hide(name.toLowerCase().replace(/_/g, ''), given)
      if (NUMBER_FIELD.test(name) || (isTable && DIGITS.test(given))) hideNumber(given)
      for (const [number] of given.matchAll(PLUS_NUMBER)) hideNumber(number)
      for (const [, parameter = '', secret = ''] of given.matchAll(SECRET_PARAMETER)) hide(parameter, secret)
    }
  }

  const learnText = (body: string): void => {
    const { field, plain } = textLike(body)
    for (const [, , name = '', value = ''] of body.matchAll(field)) learn(plain(value), name, false)
  }

  const bodyOf = (body: unknown): unknown => {
    if (typeof body !== 'string') return json(body)
    const { field, plain } = textLike(body)
    // Replaces field by field, because a short secret is replaced only if it is a whole value.
    const hidden = body.replace(field, (whole, start: string, name: string, value: string) => {
      const replacement = name === 'grant_type' ? undefined : replacements.get(plain(value))
      return replacement === undefined ? whole : start + replacement
    })
    return text(hidden)
  }

  const headersOf = (headers: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, text(value)]))

  for (const [name, secret] of Object.entries(secrets)) hide(name, secret)
  for (const number of numbers) hideNumber(number)

  return {
    hide,
    hideNumber,
    text,
    json,
    recording({ request, response, ...rest }) {
      const { authorization } = request.headers
      if (authorization !== undefined) hide('token', authorization.replace(/^bearer +/i, ''))
      if (typeof request.body === 'string') learnText(request.body)
      else learn(request.body, '', false)
      learn(request.path, '', false)
      // The specification does not show the form of the table of test numbers, so any field may contain a number.
      learn(response?.body, '', rest.operation === 'gateway.reference')
      return {
        ...rest,
        request: {
          ...request,
          path: text(request.path),
          headers: headersOf(request.headers),
          ...(request.body === undefined ? {} : { body: bodyOf(request.body) }),
        },
        ...(response && {
          response: {
            ...response,
            headers: headersOf(response.headers),
            ...(response.body === undefined ? {} : { body: bodyOf(response.body) }),
          },
        }),
      }
    },
  }
}
