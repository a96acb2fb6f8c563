import { isHeaderText } from '../contract/formats.ts'
import type { InputIssue } from '../errors.ts'
import { isFields, unless } from './input-issues.ts'

const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const OURS = new Set(['authorization', 'content-type', 'idempotency-key', 'content-length', 'host'])
/** Names that belong to the connection: platforms refuse or ignore them. */
const OF_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
  'trailer',
])

/** The issues of headers that a user gave. A header's value is never quoted: it may be a secret. */
export const headerIssues = (field: string, headers: unknown): InputIssue[] => {
  if (headers === undefined) return []
  if (!isFields(headers)) {
    return unless(false, field, 'an object of header names and texts, such as { "x-tenant": "7" }', headers)
  }
  return Object.entries(headers).flatMap(([name, value]: [string, unknown]): InputIssue[] => {
    if (!NAME.test(name)) return [{ field, rule: 'made of valid header names', received: 'another name' }]
    const named = `${field}.${name}`
    if (OURS.has(name.toLowerCase()) || OF_CONNECTION.has(name.toLowerCase())) {
      return [{ field: named, rule: 'left to the client, which sets it itself', received: 'a value' }]
    }
    const isText = typeof value === 'string' && (value === '' || isHeaderText(value))
    return unless(isText, named, 'text of visible ASCII characters', value, 'text')
  })
}

/** Header names in lower case, so that a later value replaces an earlier one however it is written. */
export const lowerCaseNames = (
  headers: Readonly<Record<string, string>> | undefined,
): Record<string, string> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
