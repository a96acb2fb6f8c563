/** A time span as an error's message says it. */
export const duration = (milliseconds: number): string =>
  milliseconds < 1000 ? `${Math.ceil(milliseconds)} ms` : `${Math.ceil(milliseconds / 100) / 10} s`
