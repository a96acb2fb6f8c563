/** Names the kind of a value for a report or an error, never the value. */
export const kindOfValue = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return value.trim() === '' ? 'empty text' : 'text'
  if (typeof value !== 'number') return typeof value
  if (Number.isSafeInteger(value)) return 'a whole number'
  return Number.isInteger(value) ? 'an unsafe whole number' : 'a number'
}
