const REDACTED = '[redacted]'
const SECRET_NAME =
  /^(?:password|passwd|secret|client_?secret|token|(?:access|refresh|id)_?token|otp|authorization|api_?key)$/i
const HINT = /pass|secret|token|otp|authorization|api_?key/i

/** Whether a field of this name holds something that no log may show. */
const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

const hide = (name: string, value: unknown): unknown => (isSecretName(name) ? REDACTED : value)

/** JSON text without the values of secret fields; text that is not JSON is not kept. */
export const redactJson = (text: string): string | undefined => {
  if (text === '') return undefined
  if (!HINT.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), hide)
  } catch {
    return undefined
  }
}

/** Fields as JSON text, without the values of secret ones. */
export const redactFields = (fields: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(fields, hide)

/** A path without the values of secret query parameters. */
export const redactPath = (path: string): string => {
  const mark = path.indexOf('?')
  if (mark === -1 || !HINT.test(path)) return path
  const parameters = [...new URLSearchParams(path.slice(mark + 1))]
  return `${path.slice(0, mark)}?${parameters
    .map(
      ([name, value]) =>
        `${encodeURIComponent(name)}=${isSecretName(name) ? REDACTED : encodeURIComponent(value)}`,
    )
    .join('&')}`
}

const SHORTEST_HIDDEN = 6

/** Takes known secrets out of a text, wherever they stand. Short ones are left: they would hide innocent text. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string => {
  let rest = text
  for (const secret of secrets) {
    if (secret.length < SHORTEST_HIDDEN) continue
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
      if (rest.includes(form)) rest = rest.replaceAll(form, REDACTED)
    }
  }
  return rest
}
