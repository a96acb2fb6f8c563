const REDACTED = '[redacted]'
const SECRET_NAME =
  /^(?:password|passwd|secret|client_?secret|token|(?:access|refresh|id)_?token|otp|authorization|api_?key)$/i
const HINT = /pass|secret|token|otp|authorization|api_?key/i

/** Whether a field of this name holds something that no log may show. */
const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

const hide = (name: string, value: unknown): unknown => (isSecretName(name) ? REDACTED : value)

// A log of many large bodies would be the largest thing in the process.
const LONGEST_KEPT = 65_536

const kept = (text: string): string =>
  text.length > LONGEST_KEPT ? JSON.stringify(`[${text.length} characters, not kept]`) : text

/** JSON text without the values of secret fields; text that is not JSON is not kept, nor is what is very long. */
export const redactJson = (text: string): string | undefined => {
  if (text === '') return undefined
  if (text.length > LONGEST_KEPT || !HINT.test(text)) return kept(text)
  try {
    return JSON.stringify(JSON.parse(text), hide)
  } catch {
    return undefined
  }
}

/** Fields as JSON text, without the values of secret ones; what is very long or deep is not kept. */
export const redactFields = (fields: Readonly<Record<string, unknown>>): string => {
  try {
    return kept(JSON.stringify(fields, hide))
  } catch {
    // It can be read deeper than it can be written.
    return JSON.stringify('[too deep, not kept]')
  }
}

const LONGEST_PATH = 2_048

/** A path without the values of secret query parameters; of a very long one its beginning. */
export const redactPath = (whole: string): string => {
  const path = whole.length > LONGEST_PATH ? `${whole.slice(0, LONGEST_PATH)}…` : whole
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
const TOKEN_LIKE = /[0-9a-z]{48,}/g

/** What a mock knows to be secret. */
export interface Secrets {
  /** Keys and passwords of the options. */
  readonly configured: readonly string[]
  /** Whether a text is a token that the mock has issued. */
  isToken(text: string): boolean
}

const TOKEN_LENGTH = 48

/** Tokens may stand right behind other letters, such as those of `%20`. */
const withoutTokens = (run: string, { isToken }: Secrets): string => {
  for (let start = 0; start + TOKEN_LENGTH <= run.length; start += 1) {
    const end = start + TOKEN_LENGTH
    if (isToken(run.slice(start, end))) return `${run.slice(0, start)}${REDACTED}${run.slice(end)}`
  }
  return run
}

const formsOf = (secret: string): readonly string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  new URLSearchParams([['', secret]]).toString().slice(1),
]

/** Takes known secrets out of a text, wherever they stand. Short ones are left: they would hide innocent text. */
export const withoutSecrets = (text: string, secrets: Secrets): string => {
  let rest = text.replace(TOKEN_LIKE, (run) => withoutTokens(run, secrets))
  for (const secret of secrets.configured) {
    if (secret.length < SHORTEST_HIDDEN) continue
    for (const form of formsOf(secret)) {
      if (rest.includes(form)) rest = rest.replaceAll(form, REDACTED)
    }
  }
  return rest
}

/** The same for a path, in which any letter may be written as its code. */
export const pathWithoutSecrets = (path: string, secrets: Secrets): string => {
  const hidden = withoutSecrets(path, secrets)
  if (!path.includes('%')) return hidden
  try {
    const plain = decodeURIComponent(path)
    const hiddenPlain = withoutSecrets(plain, secrets)
    return hiddenPlain === plain ? hidden : hiddenPlain
  } catch {
    // Not well-formed: no server would read a secret out of it.
    return hidden
  }
}
