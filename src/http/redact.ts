const REDACTED = '[redacted]'
// A payer's mobile number (`msisdn`) is personal data, which does not belong in logs.
const SECRET_FIELD =
  /^(?:access|refresh|id)_?token$|^token$|secret|passw(?:or)?d$|^passcode$|^otp$|^pin$|^authorization$|^api_?key$|^credentials?$|^msisdn$/i
const SECRET_HEADER = /cookie|authori[sz]ation|authentication|token|secret|api-?key|session|passw|credential/i
// Texts of 1 to 3 characters are not redacted, because ordinary words may contain them.
const MIN_SECRET_LENGTH = 4
// Deeper levels become `[redacted]`. Without this limit, a very deep body would overflow the stack and hide the error.
const DEEPEST = 100

// A server may write a number in the international or the national form, with spaces or hyphens. All forms end alike.
const LIKE_A_NUMBER = /^\+?[\d\s().-]+$/
const END_OF_NUMBER = 8
const SEPARATOR = '(?:[\\s().+\u2010-\u2015-]|%20|%2B){0,3}'

/** Returns a pattern that finds a number in any form, or undefined if a text is not a long number. */
const patternOf = (secret: string): RegExp | undefined => {
  const digits = LIKE_A_NUMBER.test(secret) ? secret.replace(/\D/g, '') : ''
  if (digits.length < END_OF_NUMBER) return undefined
  const end = [...digits.slice(-END_OF_NUMBER)].join(SEPARATOR)
  return new RegExp(`(?:(?:\\+|%2B|\\()?(?:\\d${SEPARATOR}){1,8})?${end}`, 'gi')
}

/** Returns the values that a request sent in fields with a secret name, at any depth. */
const secretsIn = (sent: unknown, isSecret = false, depth = 0): string[] => {
  if (typeof sent !== 'object' || sent === null)
    return isSecret && (typeof sent === 'string' || typeof sent === 'number') ? [String(sent)] : []
  if (depth > DEEPEST) return []
  // An item of a list has a number as its name, which is no secret name.
  const entries = Object.entries(sent)
  return entries.flatMap(([name, each]) => secretsIn(each, isSecret || SECRET_FIELD.test(name), depth + 1))
}

/** Returns the forms in which a secret can appear: plain, in JSON and in a URL. */
const formsOf = (secret: string): string[] => {
  const inUrl = encodeURIComponent(secret)
  return [secret, JSON.stringify(secret).slice(1, -1), inUrl, inUrl.replaceAll('%20', '+')]
}

/**
 * Makes functions that remove the secrets of a call from its errors. The functions omit fields and headers with a name
 * such as `otp`. In all other texts, the secrets in the request's headers and body become `[redacted]`.
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
  const all = [...new Set([...headerSecrets, ...secretsIn(fields)])].filter(
    (secret) => secret.length >= MIN_SECRET_LENGTH,
  )
  const numbers = all.flatMap((secret) => patternOf(secret) ?? [])
  const secrets = all
    .flatMap(formsOf)
    // The longest secret comes first, because a long secret may contain a shorter secret.
    .sort((one, other) => other.length - one.length)

  const text = (original: string): string =>
    [...numbers, ...secrets].reduce<string>(
      (redacted, secret) => redacted.replaceAll(secret, REDACTED),
      original,
    )

  const value = (original: unknown, depth = 0): unknown => {
    if (typeof original === 'string') return text(original)
    if (typeof original === 'number') return text(`${original}`) === `${original}` ? original : REDACTED
    if (typeof original !== 'object' || original === null) return original
    if (depth > DEEPEST) return REDACTED
    if (Array.isArray(original)) return original.map((each) => value(each, depth + 1))
    return Object.fromEntries(
      Object.entries(original)
        .filter(([name]) => !SECRET_FIELD.test(name))
        .map(([name, each]) => [text(name), value(each, depth + 1)]),
    )
  }

  const keptHeaders = (original: Readonly<Record<string, string>>) =>
    value(Object.fromEntries(Object.entries(original).filter(([name]) => !SECRET_HEADER.test(name))))

  return {
    text,
    value,
    headers: keptHeaders as (original: Readonly<Record<string, string>>) => Record<string, string>,
  }
}
