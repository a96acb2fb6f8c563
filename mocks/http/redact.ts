import { attempt } from '../base/result.ts'

const REDACTED = '[redacted]'
const SECRET_NAME =
  /^(?:password|passwd|secret|client_?secret|token|(?:access|refresh|id)_?token|otp|authorization|api_?key)$/i
const HINT = /pass|secret|token|otp|authorization|api_?key/i

/** Replaces the value of a field whose name indicates a secret. */
const hideSecret = (name: string, value: unknown): unknown => (SECRET_NAME.test(name) ? REDACTED : value)

/** Returns JSON text without the values of secret fields, or `undefined` if the text is not JSON. */
export const redactJson = (text: string): string | undefined =>
  HINT.test(text) ? attempt(() => JSON.stringify(JSON.parse(text), hideSecret), undefined) : text

/** Returns fields as JSON text, without the values of secret fields. */
export const redactFields = (fields: Readonly<Record<string, unknown>>): string => {
  try {
    const text = JSON.stringify(fields)
    return HINT.test(text) ? JSON.stringify(fields, hideSecret) : text
  } catch {
    // `JSON.stringify` throws an error for deeply nested values, even if `JSON.parse` could read them.
    return JSON.stringify('[too deep, not kept]')
  }
}

const MAX_PATH_CHARACTERS = 2_048

/** Returns a path without the values of secret query parameters. A very long path is truncated. */
export const redactPath = (whole: string): string => {
  const path = whole.length > MAX_PATH_CHARACTERS ? `${whole.slice(0, MAX_PATH_CHARACTERS)}…` : whole
  const mark = path.indexOf('?')
  if (mark === -1 || !HINT.test(path)) return path
  const parameters = [...new URLSearchParams(path.slice(mark + 1))].map(([name, value]) => {
    const shown = SECRET_NAME.test(name) ? REDACTED : encodeURIComponent(value)
    return `${encodeURIComponent(name)}=${shown}`
  })
  return `${path.slice(0, mark)}?${parameters.join('&')}`
}

const SECRET_HEADER = /auth|cookie|api-?key|pass|secret|token/i

/** Returns headers as JSON text, without the values of secret headers. The scheme of an Authorization header stays. */
export const redactHeaders = (headers: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(headers, (name, value) =>
    SECRET_HEADER.test(name) ? String(value).replace(/^(Bearer )?.*$/is, `$1${REDACTED}`) : value,
  )

/** The secrets that a mock knows. */
export interface Secrets {
  /** The API keys, tokens, client secrets and passwords from the options. */
  readonly configured: readonly string[]
  /** Returns whether the mock has issued this text as a token. */
  isToken(text: string): boolean
}

const TOKEN_LENGTH = 48
const TOKEN_LIKE = /[0-9a-z]{48,}/g

/** Replaces the token in a sequence of letters and digits, such as `20<token>` in a path with `%20<token>`. */
const withoutToken = (run: string, { isToken }: Secrets): string => {
  for (let start = 0; start + TOKEN_LENGTH <= run.length; start += 1) {
    const end = start + TOKEN_LENGTH
    if (isToken(run.slice(start, end))) return `${run.slice(0, start)}${REDACTED}${run.slice(end)}`
  }
  return run
}

// Secrets with fewer characters are not removed, because ordinary words may contain the same letters.
const MIN_SECRET_CHARACTERS = 6

/** Returns the forms that a secret has in text, in JSON, in a path and in a query. */
export const formsOf = (secret: string): readonly string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  new URLSearchParams([['', secret]]).toString().slice(1),
]

/** Removes known secrets from a text. */
export const withoutSecrets = (text: string, secrets: Secrets): string => {
  let rest = text.replace(TOKEN_LIKE, (run) => withoutToken(run, secrets))
  for (const secret of secrets.configured) {
    if (secret.length < MIN_SECRET_CHARACTERS) continue
    for (const form of formsOf(secret)) rest = rest.replaceAll(form, REDACTED)
  }
  return rest
}

// A secret can be a word that is also a field's name. But a name with other characters can be a secret.
const KEPT = /("grant_type":"(?:password|refresh_token)"|"[a-z_]+":)/i

/** Removes known secrets from JSON text. Keeps names of letters, and `grant_type`. */
export const jsonWithoutSecrets = (json: string, secrets: Secrets): string => {
  if (withoutSecrets(json, secrets) === json) return json
  const parts = json.split(KEPT)
  return parts.map((part, at) => (at % 2 === 0 ? withoutSecrets(part, secrets) : part)).join('')
}

/** Removes known secrets from a path. Any character of the path may be percent-encoded. */
export const pathWithoutSecrets = (path: string, secrets: Secrets): string => {
  const hidden = withoutSecrets(path, secrets)
  try {
    const plain = decodeURIComponent(path)
    const hiddenPlain = withoutSecrets(plain, secrets)
    return hiddenPlain === plain ? hidden : hiddenPlain
  } catch {
    // The path has invalid percent-encoding. It cannot be decoded, so only its encoded text is searched for secrets.
    return hidden
  }
}
