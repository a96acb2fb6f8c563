import type { HeaderReader } from './fetch-function.ts'

const REQUEST_ID = ['x-request-id', 'request-id', 'x-correlation-id'] as const

/** An answer's headers, with names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string>>

/** Headers as a plain record. */
export const recordOf = (headers: HeaderReader): Record<string, string> => {
  const record: Record<string, string> = {}
  headers.forEach((value, name) => {
    // A `fetch` of the caller's may give what is no text.
    record[name.toLowerCase()] = `${value}`
  })
  return record
}

/** The identifier that the server gave the request, under the usual names; the specification shows none. */
export const requestIdOf = (headers: AnswerHeaders): string | undefined => {
  for (const name of REQUEST_ID) {
    const value = headers[name]
    if (value) return value
  }
  return undefined
}
