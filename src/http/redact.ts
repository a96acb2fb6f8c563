import { asText } from '../contract/fields.ts'

const REDACTED = '[redacted]'
// A payer's mobile number (`msisdn`) is personal data, which logs should not contain.
const SECRET_FIELD =
  /secret|passw(?:or)?d$|^(?:(?:(?:access|refresh|id)_?)?token|passcode|otp|pin|authorization|api_?key|credentials?|msisdn)$/i
const SECRET_HEADER = /cookie|authori[sz]ation|authentication|token|secret|api-?key|session|passw|credential/i
// Texts of 1 to 3 characters are not redacted, because ordinary words may contain them.
const MIN_SECRET_LENGTH = 4
// Deeper levels become `[redacted]`. Without this limit, a very deep body would overflow the stack and hide the error.
const DEEPEST = 100

// A server may write a number in international or national form, with spaces or hyphens. All end in the same 8 digits.
const LIKE_A_NUMBER = /^\+?[\d\s().-]+$/
const SEPARATOR = '(?:[\\s().+\u2010-\u2015-]|%2[0B]){0,3}'

/** If a secret looks like a phone number of 8 digits or more, returns a pattern that finds it in any notation. */
const patternOf = (secret: string): RegExp[] => {
  const end = LIKE_A_NUMBER.test(secret) ? secret.replace(/\D/g, '').slice(-8) : ''
  if (end.length < 8) return []
  return [new RegExp(`(?:[+(]|%2B)?(?:\\d${SEPARATOR}){0,8}${[...end].join(SEPARATOR)}`, 'gi')]
}

const secretsIn = (sent: unknown, isSecret: boolean, depth: number): string[] => {
  if (typeof sent !== 'object' || sent === null) return [isSecret ? (asText(sent) ?? '') : '']
  if (depth > DEEPEST) return []
  // The name of a list item is its index, which never matches `SECRET_FIELD`.
  const entries = Object.entries(sent)
  return entries.flatMap(([name, each]) => secretsIn(each, isSecret || SECRET_FIELD.test(name), depth + 1))
}

const formsOf = (secret: string): string[] => {
  const inUrl = encodeURIComponent(secret)
  return [secret, JSON.stringify(secret).slice(1, -1), inUrl, inUrl.replaceAll('%20', '+')]
}

/** Creates functions that redact a call's secrets in texts, and remove secret headers and fields such as `otp`. */
export const createRedactor = (
  headers: Readonly<Record<string, string>>,
  authorizations: readonly (string | undefined)[],
  fields: unknown,
) => {
  const given = Object.keys(headers).filter((name) => SECRET_HEADER.test(name))
  const headerSecrets = [...given.map((name) => headers[name]), ...authorizations].flatMap((content = '') => [
    content,
    content.replace(/^\S+ /, ''),
  ])
  const all = [...new Set([...headerSecrets, ...secretsIn(fields, false, 0)])].filter(
    (secret) => secret.length >= MIN_SECRET_LENGTH,
  )
  // The longest secret comes first, because a long secret may contain a shorter secret.
  const forms = all.flatMap(formsOf).sort((one, other) => other.length - one.length)
  const secrets: (RegExp | string)[] = [...all.flatMap(patternOf), ...forms]

  const text = (original: string): string =>
    secrets.reduce<string>((redacted, secret) => redacted.replaceAll(secret, REDACTED), original)

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

  const keptHeaders = (original: Readonly<Record<string, string>>) => {
    const kept = Object.entries(original).filter(
      ([name]) => !SECRET_HEADER.test(name) && !SECRET_FIELD.test(name),
    )
    return Object.fromEntries(kept.map(([name, content]) => [text(name), text(content)]))
  }

  return { text, value, headers: keptHeaders }
}
