const REDACTED = '[redacted]'
// A payer's number is no secret of the merchant's, and has no place in the merchant's logs all the same.
const SECRET_FIELD =
  /^(?:access|refresh|id)_?token$|^token$|secret|passw(?:or)?d$|^passcode$|^otp$|^pin$|^authorization$|^api_?key$|^credentials?$|^msisdn$/i
const SECRET_HEADER = /cookie|authori[sz]ation|authentication|token|secret|api-?key|session|passw|credential/i
const SHORTEST_SECRET = 4
/** Shorter ones stand by chance in a text whose spaces are gone, or in base64. */
const TELLING_SECRET = 8
/** A longer one makes a pattern that platforms refuse as too large, in words that quote it. */
const LONGEST_PATTERN = 256
/** How often one encoding may be wrapped in another. */
const MOST_ROUNDS = 3
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

/**
 * A run of backslashes, each of which may be escaped. Looked for from the run's beginning alone: tried from every place
 * inside a long one, and divided in every way among patterns of one each, it would take for ever.
 */
const backslashes = ({ length }: string): string =>
  `(?<!\\\\)(?:\\\\|u0{0,4}5c|%(?:25){0,8}5c|&(?:amp;){0,8}#(?:0{0,6}92|x0{0,6}5c);){${length},${32 * length}}`

/** A pattern of the forms in which a server may write a character: as it is, or escaped for JSON, a URL or HTML. */
const formsOf = (character: string): string => {
  const hex = (character.codePointAt(0) ?? 0).toString(16)
  const bytes = [...new TextEncoder().encode(character)].map((byte) => byte.toString(16).padStart(2, '0'))
  const named = ENTITIES[character]
  // JSON writes a character beyond the first 65 536 as two.
  const units = character.split('').map((unit) => `u0{0,4}${unit.charCodeAt(0).toString(16)}`)
  const forms = [
    character.replace(/[$^.*+?()[\]{}|/-]/, '\\$&'),
    // Each escape may have been escaped again: a bounded number of times, or a long run of them would take for ever.
    bytes.map((byte) => `%(?:25){0,8}${byte}`).join(''),
    units.join('\\\\{1,32}'),
    `&(?:amp;){0,8}#(?:0{0,6}${character.codePointAt(0)}|x0{0,6}${hex});`,
    ...(named === undefined ? [] : [`&(?:amp;){0,8}${named};`]),
    ...(character === ' ' ? ['\\+'] : []),
  ]
  return `\\\\{0,32}(?:${forms.join('|')})`
}

// Letters and digits stand for themselves.
const patternOf = (secret: string): string =>
  secret.replace(/\\+|\W/gu, (found) => (found.startsWith('\\') ? backslashes(found) : formsOf(found)))

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Bytes as one character each: what UTF-8 looks like to who takes it for Latin-1. */
const binaryOf = (bytes: Iterable<number>): string => String.fromCharCode(...bytes)

const base64Of = (bytes: Iterable<number>): string => btoa(binaryOf(bytes))

/** The alphabet of base64 in URLs. */
const forUrls = (base64: string): string =>
  base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** A secret in base64, alone and in the middle of something longer, as `user:password` is. */
const inBase64 = (secret: string): string[] => {
  const bytes = bytesOf(secret)
  const inside = [0, 1, 2].flatMap((before) => {
    // What the bytes around it have no part in.
    const from = before === 0 ? 0 : before + 1
    const to = Math.floor(((before + bytes.length) * 8) / 6)
    if (to - from < TELLING_SECRET) return []
    return [base64Of([...new Uint8Array(before), ...bytes]).slice(from, to)]
  })
  return (inside.length === 0 ? [base64Of(bytes)] : inside).flatMap((base64) => [base64, forUrls(base64)])
}

const inHex = (text: string): string =>
  [...bytesOf(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** The texts that give a secret away. */
const textsOf = (secret: string): string[] => [
  secret,
  binaryOf(bytesOf(secret)),
  ...inBase64(secret),
  inHex(secret),
]

/** A pattern that one of these secrets fits in any form; one that nothing fits where there is none. */
const anyOf = (secrets: readonly string[], flags: string): RegExp => {
  const texts = new Set(secrets.flatMap(textsOf))
  // The longest first: a secret that contains another one goes whole.
  const all = [...texts].sort((one, other) => other.length - one.length)
  return new RegExp(all.map(patternOf).join('|') || '(?!)', flags)
}

const ENCODED = /%([\da-f]{2})|\\[ux](?:00)?([\da-f]{2})|&#(?:0{0,6}(\d{2,3})|x0{0,6}([\da-f]{2}));|&amp;/gi
const BETWEEN = /\\[nrt]|=\r?\n|[\s\\\u00ad\u200b-\u200d\u2060]/g

const decoded = (text: string): string =>
  text.replace(ENCODED, (_, url?: string, script?: string, decimal?: string, html?: string) => {
    if (decimal !== undefined) return String.fromCharCode(Number(decimal))
    const hex = url ?? script ?? html
    return hex === undefined ? '&' : String.fromCharCode(Number.parseInt(hex, 16))
  })

const lazily = <Value>(make: () => Value): (() => Value) => {
  let made: Value | undefined
  return () => {
    made ??= make()
    return made
  }
}

const redactorOf = (secrets: readonly string[]): Redactor => {
  const found = secrets.filter((secret) => secret.length >= SHORTEST_SECRET)
  const short = found.filter((secret) => secret.length <= LONGEST_PATTERN)
  const pattern = lazily(() => anyOf(short, 'gi'))
  const shortPattern = lazily(() => anyOf(short, 'i'))
  const tellingPattern = lazily(() =>
    anyOf(
      short.filter((secret) => secret.length >= TELLING_SECRET),
      'i',
    ),
  )
  const long = new Set(found.filter((secret) => secret.length > LONGEST_PATTERN).flatMap(textsOf))

  const shows = (text: string, fits: RegExp): boolean =>
    fits.test(text) || [...long].some((secret) => text.includes(secret))

  /** Whether a secret shows once encodings are undone and what stands between characters is taken out. */
  const isHidden = (original: string): boolean => {
    let before = original
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const after = decoded(before)
      if (after !== before && shows(after, shortPattern())) return true
      const joined = after.replace(BETWEEN, '')
      if (joined !== after && shows(joined, tellingPattern())) return true
      if (after === before) return false
      before = after
    }
    return false
  }

  const text = (original: string): string => {
    let redacted = original.replace(pattern(), REDACTED)
    for (const secret of long) redacted = redacted.replaceAll(secret, REDACTED)
    return isHidden(redacted) ? REDACTED : redacted
  }

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
