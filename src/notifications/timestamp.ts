/** Up to the year 5138. */
const LATEST = 1e11

// From 1973 on a time in a finer unit is a number above every time in seconds: a sender that counts thousandths,
// millionths or billionths is understood. As seconds it would be so far ahead that no later message were newer.
const UNITS = [
  { from: 1e17, perSecond: 1e9 },
  { from: 1e14, perSecond: 1e6 },
  { from: 1e11, perSecond: 1e3 },
  { from: 0, perSecond: 1 },
] as const

const DIGITS = /^\s*(\d+)(?:\.\d+)?\s*$/
const ISO = /^\s*(\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2}))\s*$/i

const secondsOf = (text: string): number | undefined => {
  const iso = ISO.exec(text)?.[1]
  if (iso !== undefined) return Math.floor(Date.parse(iso) / 1000)
  const digits = DIGITS.exec(text)?.[1]
  if (digits === undefined) return undefined
  const number = Number(digits)
  const unit = UNITS.find(({ from }) => number >= from)
  return unit === undefined ? undefined : Math.floor(number / unit.perSecond)
}

/**
 * A `timestamp` (S8) as a Date of whole seconds. It is UNIX seconds; fractions, finer units and ISO 8601 text with a
 * zone are read too. A time without a zone is not: nobody could say which instant it is.
 */
export const readTimestamp = (text: string): Date | undefined => {
  const seconds = secondsOf(text)
  return seconds !== undefined && Math.abs(seconds) < LATEST ? new Date(seconds * 1000) : undefined
}
