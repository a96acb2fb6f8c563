/** Lifetime of a token whose answer gives none that can be used, in milliseconds. */
const FALLBACK_LIFETIME = 300_000
/** Longest lifetime that is believed, in milliseconds. */
export const LONGEST_LIFETIME = 86_400_000
/** A token is renewed at most this long before its end, in milliseconds. */
const LONGEST_MARGIN = 30_000

/**
 * Lifetime of a token in milliseconds, from `expires_in` as received (S7: integer seconds). Digits as text are read
 * too. Missing, unreadable and below one second: 300 s. Above 24 hours: 24 hours.
 */
export const lifetimeOf = (expiresIn: unknown): number => {
  const readable = typeof expiresIn === 'number' || (typeof expiresIn === 'string' && expiresIn.trim() !== '')
  const seconds = readable ? Number(expiresIn) : Number.NaN
  if (Number.isNaN(seconds) || seconds < 1) return FALLBACK_LIFETIME
  return Math.min(seconds * 1000, LONGEST_LIFETIME)
}

/** How long before its end a token is renewed, in milliseconds: 10 % of its lifetime, at most 30 s. */
export const marginOf = (lifetime: number): number => Math.min(LONGEST_MARGIN, lifetime / 10)
