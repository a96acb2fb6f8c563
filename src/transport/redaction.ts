const REDACTED = '[redacted]'
const SECRET_FIELD =
  /^(?:access|refresh|id)_?token$|^token$|secret|passw(?:or)?d$|^passcode$|^otp$|^pin$|^authorization$|^api_?key$|^credentials?$/i
const SECRET_HEADER = /cookie|authori[sz]ation|authentication|token|secret|api-?key|session|passw|credential/i
const SHORTEST_SECRET = 4
const DEEPEST = 12
const ENTITIES: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
}

/** Removes secrets from what errors keep: known fields, and any place where a secret's own text stands. */
export interface Redactor {
  /** Text without the secrets. */
  text(text: string): string
  /** A copy of a JSON value without secret fields and without the secrets in its texts and names. */
  value(value: unknown): unknown
  /** Headers without those that could hold a secret. */
  headers(headers: Readonly<Record<string, string>>): Record<string, string>
}

/** A pattern of the forms in which a server may write a character: as it is, or escaped for JSON, a URL or HTML. */
const formsOf = (character: string): string => {
  if (/\w/.test(character)) return character
  const hex = (character.codePointAt(0) ?? 0).toString(16)
  const bytes = [...new TextEncoder().encode(character)].map((byte) => byte.toString(16).padStart(2, '0'))
  const named = ENTITIES[character]
  const forms = [
    `\\\\*${character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&')}`,
    // Each escape may have been escaped again.
    bytes.map((byte) => `%(?:25)*${byte}`).join(''),
    `\\\\+u0*${hex}`,
    `&(?:amp;)*#(?:0*${character.codePointAt(0)}|x0*${hex});`,
    ...(named === undefined ? [] : [`&(?:amp;)*${named};`]),
    ...(character === ' ' ? ['\\+'] : []),
  ]
  return `(?:${forms.join('|')})`
}

const patternOf = (secret: string): string => [...secret].map(formsOf).join('')

const base64Of = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)))

const redactorOf = (secrets: readonly string[]): Redactor => {
  const found = secrets.filter((secret) => secret.length >= SHORTEST_SECRET)
  // The longest first: a secret that contains another one goes whole.
  const hidden = [...new Set(found.flatMap((secret) => [secret, base64Of(secret)]))]
    .sort((one, other) => other.length - one.length)
    .map(patternOf)
  const pattern = new RegExp(hidden.join('|') || '(?!)', 'gi')

  const text = (original: string): string => original.replace(pattern, REDACTED)

  const value = (original: unknown, depth = 0): unknown => {
    if (typeof original === 'string') return text(original)
    if (typeof original !== 'object' || original === null) return original
    if (depth > DEEPEST) return REDACTED
    if (Array.isArray(original)) return original.map((each) => value(each, depth + 1))
    const entries = Object.entries(original).filter(([name]) => !SECRET_FIELD.test(name))
    return Object.fromEntries(entries.map(([name, each]) => [text(name), value(each, depth + 1)]))
  }

  const headers = (original: Readonly<Record<string, string>>): Record<string, string> => {
    const kept = Object.entries(original).filter(([name]) => !SECRET_HEADER.test(name))
    return Object.fromEntries(kept.map(([name, content]) => [name, text(content)]))
  }

  return { text, value, headers }
}

/** The texts of a request's body that must never come back in an error. */
const secretsOfBody = (body: unknown): string[] => {
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([name, content]) =>
    SECRET_FIELD.test(name) && typeof content === 'string' ? [content] : [],
  )
}

/** The values of headers whose names say that they hold a secret. */
const secretHeaders = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).flatMap(([name, content]) => (SECRET_HEADER.test(name) ? [content] : []))

/** A redactor for one call: it knows the secrets in the headers of its attempts and the secret fields of the body. */
export const createRedactor = (
  sent: readonly Readonly<Record<string, string>>[],
  body: unknown,
): Redactor => {
  const credentials = sent.flatMap(secretHeaders).flatMap((header) => [header, header.replace(/^\S+ /, '')])
  return redactorOf([...credentials, ...secretsOfBody(body)])
}
