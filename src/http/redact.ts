const REDACTED = '[redacted]'
// A payer's number is no secret of the merchant, but it does not belong into the merchant's logs either.
const SECRET_FIELD =
  /^(?:access|refresh|id)_?token$|^token$|secret|passw(?:or)?d$|^passcode$|^otp$|^pin$|^authorization$|^api_?key$|^credentials?$|^msisdn$/i
const SECRET_HEADER = /cookie|authori[sz]ation|authentication|token|secret|api-?key|session|passw|credential/i
// A shorter text would also be removed from words that contain it by chance.
const MIN_SECRET_LENGTH = 4
// A body that is nested deeper would exceed the stack, and the error would lose its outcome and key.
const DEEPEST = 100

/** A secret as it is, in JSON and in a URL. */
const formsOf = (secret: string): string[] => {
  const inUrl = encodeURIComponent(secret)
  return [secret, JSON.stringify(secret).slice(1, -1), inUrl, inUrl.replaceAll('%20', '+')]
}

/**
 * Makes what removes the secrets of one call from its errors: known secret fields and headers, and the text of the secrets
 * in its headers, in the Authorization of each attempt, and in the fields of its body.
 */
export const createRedactor = (
  headers: Readonly<Record<string, string>>,
  authorizations: readonly (string | undefined)[],
  fields: unknown,
) => {
  const given = Object.entries(headers).flatMap(([name, content]) =>
    SECRET_HEADER.test(name) ? [content] : [],
  )
  const headerSecrets = [...given, ...authorizations].flatMap((content = '') => [
    content,
    content.replace(/^\S+ /, ''),
  ])
  const fieldSecrets = Object.entries(Object(fields))
    .filter(([name]) => SECRET_FIELD.test(name))
    .flatMap(([, content]) => (typeof content === 'string' ? [content] : []))
  const secrets = [...new Set([...headerSecrets, ...fieldSecrets])]
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .flatMap(formsOf)
    // The longest first, so that a secret that contains another one is removed whole.
    .sort((one, other) => other.length - one.length)

  const text = (original: string): string =>
    secrets.reduce((redacted, secret) => redacted.replaceAll(secret, REDACTED), original)

  const value = (original: unknown, depth = 0): unknown => {
    if (typeof original === 'string') return text(original)
    if (typeof original !== 'object' || original === null) return original
    if (depth > DEEPEST) return REDACTED
    if (Array.isArray(original)) return original.map((each) => value(each, depth + 1))
    return Object.fromEntries(
      Object.entries(original)
        .filter(([name]) => !SECRET_FIELD.test(name))
        .map(([name, each]) => [text(name), value(each, depth + 1)]),
    )
  }

  const keepHeaders = (original: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(original)
        .filter(([name]) => !SECRET_HEADER.test(name))
        .map(([name, content]) => [name, text(content)]),
    )

  return { text, value, headers: keepHeaders }
}
