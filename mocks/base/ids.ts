/** The number of issued identifiers of each kind. */
export type IdsState = Map<string, number>

// These 32 characters are easy to tell apart, and each encodes five bits.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const CODES = [...ALPHABET].map((character) => character.charCodeAt(0))
const CHARACTERS_PER_WORD = 6

/** Mixes the bits of a 32-bit word. Different words always give different results. */
const scramble = (word: number): number => {
  let mixed = word ^ (word >>> 16)
  mixed = Math.imul(mixed, 0x21f0aaad)
  mixed ^= mixed >>> 15
  mixed = Math.imul(mixed, 0x735a2d97)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

const hash = (text: string, start: number): number => {
  let word = start
  for (let index = 0; index < text.length; index += 1) {
    word = scramble(word ^ Math.imul(text.charCodeAt(index) + index, 0x9e3779b1))
  }
  return word
}

/** Returns a short hash, which identifies a text without containing it. */
export const fingerprint = (text: string): string =>
  [0x6d616e64, 0x61746573].map((start) => hash(text, start).toString(36)).join('-')

/** What the seed and a kind add to the bits of each identifier. */
interface Key {
  readonly first: number
  readonly second: number
}

const keyOf = (text: string): Key => ({ first: hash(text, 0x6d616e64), second: hash(text, 0x61746573) })

// Different indexes always give different words. The first 6 characters of an identifier contain 30 of the 32 bits of
// its first word, so two identifiers of one kind are almost never equal.
const word = ({ first, second }: Key, index: number, position: number): number =>
  scramble(scramble(index ^ first) ^ scramble(second ^ Math.imul(position + 1, 0x85ebca6b)))

const textAt = (key: Key, index: number, length: number): string => {
  const codes = new Array<number>(length)
  let bits = 0
  for (let at = 0; at < length; at += 1) {
    bits = at % CHARACTERS_PER_WORD === 0 ? word(key, index, at / CHARACTERS_PER_WORD) : bits >>> 5
    codes[at] = CODES[bits & 31] ?? 0
  }
  return String.fromCharCode(...codes)
}

/** Returns an identifier that is always the same for the same owner and index. It does not depend on the seed. */
export const idOf = (owner: string, index: number, length: number): string =>
  textAt(keyOf(owner), index, length)

/** The identifier generator of one mock. */
export type Ids = ReturnType<typeof createIds>

/**
 * Creates the identifier generator of a mock. Identifiers look random and almost never repeat. The same seed gives the
 * same identifiers. Anyone with the seed can predict them, so use them only in tests. Each kind has its own counter:
 * if a test creates more tokens, the ids of invoices stay the same.
 */
export const createIds = (seed: string | number, state: { readonly ids: IdsState }) => {
  const seedText = String(seed)
  const keys = new Map<string, Key>()

  const keyOfKind = (kind: string): Key => {
    const key = keys.get(kind) ?? keyOf(`${seedText}\u0000${kind}`)
    keys.set(kind, key)
    return key
  }

  const count = (kind: string): number => {
    const index = state.ids.get(kind) ?? 0
    state.ids.set(kind, index + 1)
    return index
  }

  return {
    /** Returns the next identifier of a kind. */
    text: (kind: string, length: number): string => textAt(keyOfKind(kind), count(kind), length),
    /** Returns the next random number of a kind, at least 0 and below 1. */
    random: (kind: string): number => word(keyOfKind(kind), count(kind), 0) / 2 ** 32,
  }
}

const DIGIT_CHARACTERS = 9

/** Converts the start of an identifier to a decimal number of at most 45 bits, which JSON represents exactly. */
const digitsOf = (text: string): string =>
  String(
    [...text.slice(0, DIGIT_CHARACTERS)].reduce(
      (sum, character) => sum * ALPHABET.length + ALPHABET.indexOf(character),
      0,
    ),
  )

/** Returns a generator that uses only digits for identifiers of the given kinds. */
export const withDigits = (ids: Ids, kinds: readonly string[]): Ids => ({
  ...ids,
  text(kind, length) {
    const text = ids.text(kind, length)
    return kinds.includes(kind) ? digitsOf(text) : text
  },
})
