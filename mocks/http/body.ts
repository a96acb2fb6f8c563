/** The fields of a request body, or the reason why the body cannot be read. */
export type ReadBody =
  | { readonly ok: true; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: string }

const mediaType = (contentType: string | null): string =>
  (contentType?.split(';', 1)[0] ?? '').trim().toLowerCase()

/** The media type of an HTML form. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Returns whether a Content-Type belongs to an HTML form. */
export const isForm = (contentType: string | null): boolean => mediaType(contentType) === FORM_TYPE

/** Returns whether a Content-Type belongs to JSON. */
export const isJson = (contentType: string | null): boolean => mediaType(contentType) === 'application/json'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const readJson = (text: string): ReadBody => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value)
      ? { ok: true, fields: value }
      : { ok: false, problem: 'The body is not a JSON object.' }
  } catch {
    // The error of `JSON.parse` is not shown, because the error quotes the body, which may contain a secret.
    return { ok: false, problem: 'The body is not valid JSON.' }
  }
}

/**
 * Reads a body as a form if `allowsForm` is true, the Content-Type is that of a form, and the body does not start with
 * `{` (row 32). Reads any other body as JSON. An empty body has no fields (row 31).
 */
export const readBody = (text: string, contentType: string | null, allowsForm: boolean): ReadBody => {
  const trimmed = text.trim()
  if (trimmed === '') return { ok: true, fields: {} }
  if (allowsForm && !trimmed.startsWith('{') && isForm(contentType)) {
    return { ok: true, fields: Object.fromEntries(new URLSearchParams(trimmed)) }
  }
  return readJson(trimmed)
}

/** The error for a body that is larger than the server accepts. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'

  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes.`)
  }
}
