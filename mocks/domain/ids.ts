/** What a snapshot of the identifiers holds: how many each kind has given out. */
export type IdsSnapshot = Readonly<Record<string, number>>

/**
 * Identifiers of one mock: they look random, do not repeat, and are the same again under the same seed. Each kind
 * counts for itself, so that more tokens do not change the next invoice.
 */
export interface Ids {
  /** The next text of a kind: `length` letters and digits. */
  text(kind: string, length: number): string
  /** The text that belongs to the number `index` of a kind, without counting. */
  textAt(kind: string, index: number, length: number): string
  /** The next number of a kind from 0 to below 1, for what is left to chance. */
  random(kind: string): number
  /** As new. */
  reset(): void
  snapshot(): IdsSnapshot
  restore(snapshot: IdsSnapshot): void
}

// 32 signs of which none is mistaken for another; each carries five bits.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const SIGNS_PER_WORD = 6

/** Spreads the bits of a 32-bit word over all of them (a bijection: nothing is lost). */
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

/** Makes the identifiers of a mock. They are for tests: whoever knows the seed knows them all. */
export const createIds = (seed: string | number): Ids => {
  const seedText = String(seed)
  let counts = new Map<string, number>()
  const keys = new Map<string, readonly [number, number]>()

  const keyOf = (kind: string): readonly [number, number] => {
    let key = keys.get(kind)
    if (key === undefined) {
      const named = `${seedText}\u0000${kind}`
      key = [hash(named, 0x6d616e64), hash(named, 0x61746573)]
      keys.set(kind, key)
    }
    return key
  }

  const count = (kind: string): number => {
    const index = counts.get(kind) ?? 0
    counts.set(kind, index + 1)
    return index
  }

  // For one word position each index gives another word: two identifiers of a kind never share all their words.
  const word = ([first, second]: readonly [number, number], index: number, position: number): number =>
    scramble(scramble(index ^ first) ^ scramble(second ^ Math.imul(position + 1, 0x85ebca6b)))

  const textAt = (kind: string, index: number, length: number): string => {
    const key = keyOf(kind)
    let text = ''
    for (let position = 0; text.length < length; position += 1) {
      let bits = word(key, index, position)
      for (let sign = 0; sign < SIGNS_PER_WORD && text.length < length; sign += 1) {
        text += ALPHABET[bits & 31]
        bits >>>= 5
      }
    }
    return text
  }

  return {
    textAt,
    text: (kind, length) => textAt(kind, count(kind), length),
    random: (kind) => word(keyOf(kind), count(kind), 0) / 2 ** 32,
    reset() {
      counts = new Map()
    },
    snapshot: () => Object.fromEntries(counts),
    restore(snapshot) {
      counts = new Map(Object.entries(snapshot))
    },
  }
}

const DIGIT_SIGNS = 9

/** The number that the first signs of an identifier make: 45 bits, which a number of JSON holds exactly. */
const digitsOf = (text: string): string =>
  String(
    [...text.slice(0, DIGIT_SIGNS)].reduce((sum, sign) => sum * ALPHABET.length + ALPHABET.indexOf(sign), 0),
  )

/** The same identifiers, but texts of these kinds are digits alone. */
export const withDigits = (ids: Ids, kinds: readonly string[]): Ids => ({
  ...ids,
  text(kind, length) {
    const text = ids.text(kind, length)
    return kinds.includes(kind) ? digitsOf(text) : text
  },
})
