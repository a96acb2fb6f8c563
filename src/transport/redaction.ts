const REDACTED = '[redacted]'
const SECRET_FIELD =
  /^(?:access|refresh|id)_?token$|^token$|secret|passw(?:or)?d$|^passcode$|^otp$|^pin$|^authorization$|^api_?key$|^credentials?$/i
const SECRET_HEADER = /cookie|authori[sz]ation|authentication|token|secret|api-?key|session|passw|credential/i
const SHORTEST_SECRET = 4
const DEEPEST = 12

/** Removes secrets from what errors keep: known fields, and any place where a secret's own text stands. */
export interface Redactor {
  /** Text without the secrets. */
  text(text: string): string
  /** A copy of a JSON value without secret fields and without the secrets in its texts and names. */
  value(value: unknown): unknown
  /** Headers without those that could hold a secret. */
  headers(headers: Readonly<Record<string, string>>): Record<string, string>
}

const attempt = (transform: () => string): string[] => {
  try {
    return [transform()]
  } catch {
    return []
  }
}

/** Forms in which an answer may repeat a secret. */
const forms = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  ...attempt(() => encodeURIComponent(secret)),
  ...attempt(() => btoa(secret)),
  secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
]

const redactorOf = (secrets: readonly string[]): Redactor => {
  const found = secrets.filter((secret) => secret.length >= SHORTEST_SECRET).flatMap(forms)
  // The longest first: a secret that contains another one goes whole.
  const hidden = [...new Set(found)].sort((one, other) => other.length - one.length)

  const text = (original: string): string =>
    hidden.reduce((result, secret) => result.replaceAll(secret, REDACTED), original)

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

/** A redactor for one call: it knows the Authorization headers that were sent and the secret fields of the body. */
export const createRedactor = (authorizations: Iterable<string>, body: unknown): Redactor => {
  const credentials = [...authorizations].flatMap((header) => [header, header.replace(/^\S+ /, '')])
  return redactorOf([...credentials, ...secretsOfBody(body)])
}
