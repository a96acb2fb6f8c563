import { readJson } from '../transport/json-text.ts'
import { kindOfValue } from '../transport/kind-of-value.ts'

/** What the body of a message was found to be: its fields, or the reason why it has none. */
export type ReadMessage =
  | { readonly fields: Readonly<Record<string, unknown>> }
  | { readonly rule: string; readonly received: string }

/** What a body has to be. */
export const BODY_RULE = 'a JSON object or form fields'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Form fields as an object; a field given twice becomes a list, which no field of a notification may be. */
export const readForm = (form: Iterable<readonly [string, unknown]>): ReadMessage => {
  const values = new Map<string, unknown[]>()
  for (const [name, value] of form) {
    const earlier = values.get(name)
    if (earlier === undefined) values.set(name, [value])
    else earlier.push(value)
  }
  const fields = [...values].map(([name, all]) => [name, all.length === 1 ? all[0] : all] as const)
  // Object.fromEntries defines properties: a field named __proto__ stays a plain field.
  return { fields: Object.fromEntries(fields) }
}

/** An object that a framework's body parser has made already. */
export const readParsed = (value: unknown): ReadMessage =>
  isRecord(value) ? { fields: value } : { rule: BODY_RULE, received: kindOfValue(value) }

/** JSON or URL-encoded text, told apart by its first character: senders label both with any content type. */
export const readText = (text: string): ReadMessage => {
  const trimmed = text.replace(/^\uFEFF/, '').trim()
  if (trimmed === '') return { rule: BODY_RULE, received: 'an empty body' }
  if (/^[{["\d-]|^(?:true|false|null)$/.test(trimmed)) {
    const reading = readJson(trimmed)
    if (reading.ok) return readParsed(reading.value)
    return { rule: BODY_RULE, received: 'text that is not complete JSON' }
  }
  if (trimmed.includes('=')) return readForm(new URLSearchParams(trimmed))
  return { rule: BODY_RULE, received: 'other text' }
}

/** The text of bytes in a charset; `undefined` when they are none in it, or the platform does not know it. */
const decode = (bytes: Uint8Array, charset: string): string | undefined => {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The charset that a byte order mark tells, which is surer than any label. */
const markedCharset = ([first, second]: Uint8Array): string | undefined => {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xef && second === 0xbb ? 'utf-8' : undefined
}

/**
 * The text of a body: by its byte order mark, else as the UTF-8 that it is, else by its label. Bytes that are UTF-8 are
 * never read by their label: no signature covers it, and under another one the same message would have another id.
 */
const textOf = (bytes: Uint8Array, contentType: string | null | undefined): string | undefined => {
  const marked = markedCharset(bytes)
  if (marked !== undefined) return decode(bytes, marked)
  const text = decode(bytes, 'utf-8')
  // Two bytes a character are UTF-8 with a zero beside each, which no message holds.
  if (text !== undefined && !text.includes('\u0000')) return text
  const label = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1]
  return label === undefined ? text : decode(bytes, label)
}

/** Bytes as text, and what it says. */
export const readBytes = (bytes: Uint8Array, contentType: string | null | undefined): ReadMessage => {
  const text = textOf(bytes, contentType)
  if (text !== undefined) return readText(text)
  return { rule: BODY_RULE, received: 'bytes that are not text in the charset of the content type' }
}

/** A whole body: multipart forms are read by the platform, everything else by its bytes. */
export const readBody = async (bytes: Uint8Array, contentType: string | null): Promise<ReadMessage> => {
  if (contentType === null || !/^\s*multipart\/form-data/i.test(contentType)) {
    return readBytes(bytes, contentType)
  }
  try {
    const answer = new Response(bytes.slice(), { headers: { 'content-type': contentType } })
    return readForm(await answer.formData())
  } catch {
    return { rule: BODY_RULE, received: 'a multipart form that cannot be read' }
  }
}
