/** The fields of a request body, or the reason why the body cannot be read. */
export type ReadBody =
  | { readonly ok: true; readonly fields: Readonly<Record<string, unknown>>; readonly characters: number }
  | { readonly ok: false; readonly problem: string; readonly isTooLarge?: boolean }

/** The fields of a body without fields. */
export const NO_FIELDS: Readonly<Record<string, unknown>> = {}

const JSON_TYPE = 'application/json'

const mediaType = (contentType: string | null): string =>
  (contentType?.split(';', 1)[0] ?? '').trim().toLowerCase()

/** The media type of an HTML form. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Returns whether a Content-Type belongs to an HTML form. */
export const isForm = (contentType: string | null): boolean => mediaType(contentType) === FORM_TYPE

/** Returns whether a Content-Type belongs to JSON. */
export const isJson = (contentType: string | null): boolean =>
  contentType === JSON_TYPE || mediaType(contentType) === JSON_TYPE

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Reads a body as a form if `allowsForm` is true, the Content-Type is that of a form, and the body does not start with
 * `{` (row 32). Reads any other body as JSON. An empty body has no fields (row 31).
 */
export const readBody = (text: string, contentType: string | null, allowsForm: boolean): ReadBody => {
  const trimmed = text.trim()
  const characters = trimmed.length
  if (trimmed === '') return { ok: true, fields: NO_FIELDS, characters }
  if (allowsForm && !trimmed.startsWith('{') && isForm(contentType)) {
    return { ok: true, fields: Object.fromEntries(new URLSearchParams(trimmed)), characters }
  }
  try {
    const fields: unknown = JSON.parse(trimmed)
    return isObject(fields)
      ? { ok: true, fields, characters }
      : { ok: false, problem: 'The body is not a JSON object.' }
  } catch {
    // The error of `JSON.parse` is not shown, because the error quotes the body, which may contain a secret.
    return { ok: false, problem: 'The body is not valid JSON.' }
  }
}

/** The error for a body that is larger than the server accepts. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'

  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes.`)
  }
}
