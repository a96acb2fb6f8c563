import type { HeaderReader } from './fetch-function.ts'

const REQUEST_ID = ['x-request-id', 'request-id', 'x-correlation-id'] as const

/** Headers as a plain record with names in lower case. */
export const recordOf = (headers: HeaderReader): Record<string, string> => {
  const record: Record<string, string> = {}
  headers.forEach((value, name) => {
    record[name.toLowerCase()] = value
  })
  return record
}

/** The identifier that the server gave the request, under the usual names; the specification shows none. */
export const requestIdOf = (headers: HeaderReader): string | undefined => {
  for (const name of REQUEST_ID) {
    const value = headers.get(name)
    if (value) return value
  }
  return undefined
}
