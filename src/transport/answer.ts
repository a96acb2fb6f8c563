import type { EndpointDefinition } from '../contract/endpoint.ts'
import type { UnexpectedReport } from './hooks.ts'
import { readJson } from './json-text.ts'
import { readContract } from './read-contract.ts'

/** What an answer turned out to be. */
export type Reading =
  | {
      readonly kind: 'success'
      readonly data: unknown
      readonly body: unknown
      readonly reports: readonly UnexpectedReport[]
    }
  /** An HTTP status of 400 or above, with the server's code and words where the body has them. */
  | {
      readonly kind: 'refused'
      readonly body: unknown
      readonly errorCode: string | undefined
      readonly message: string | undefined
    }
  /**
   * A 2xx answer whose code is not that of success, or a refusal that is a whole success besides. `readable`: the code
   * is text and names a refusal, and nothing in the answer speaks against it.
   */
  | {
      readonly kind: 'code'
      readonly body: unknown
      readonly errorCode: string | undefined
      readonly message: string | undefined
      readonly readable: boolean
    }
  /**
   * A redirect, or a 2xx answer that is not the contract. `reason` completes "the answer …". `cut`: its end, or all of
   * it, was lost on the way, though the connection ended well.
   */
  | { readonly kind: 'unexpected'; readonly body: unknown; readonly reason: string; readonly cut?: boolean }

type JsonObject = Record<string, unknown>

const SUCCESS = '00'
const NO_CONTENT = 204
const BEGINNING_OF_JSON = /^\s*[[{]/
// Close enough to the success code that the server may have meant it: no proof of a refusal.
const NEARLY_SUCCESS = /^\s*0*\s*$/

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const asText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : undefined
}

/** The code and words of an error in either area's shape. */
const errorIn = (body: unknown): { errorCode: string | undefined; message: string | undefined } => {
  if (!isObject(body)) return { errorCode: undefined, message: undefined }
  const inner = isObject(body.error) ? body.error : {}
  const oauth = typeof body.error === 'string' ? body.error : undefined
  return {
    errorCode: asText(body.errorCode) ?? asText(inner.code) ?? oauth,
    message: asText(body.errorMessage) ?? asText(inner.message) ?? asText(body.error_description),
  }
}

const isPresent = (body: JsonObject, name: string): boolean => {
  const value = body[name] ?? body[name.replace(/I[dD]$/, (end) => (end === 'ID' ? 'Id' : 'ID'))]
  return value !== undefined && value !== null && value !== ''
}

/** Whether a success answer holds an error of area G, and nothing of a charge. */
const isBareError = (body: unknown): body is JsonObject => {
  if (!isObject(body) || !isObject(body.error)) return false
  return typeof body.error.code === 'string' && !isPresent(body, 'id') && !isPresent(body, 'status')
}

const isProven = ({ proof }: EndpointDefinition, body: JsonObject): boolean =>
  proof.every((name) => isPresent(body, name))

/** Whether an answer of a call that acts holds all that only its success has: whatever else it says, it may have acted. */
const showsEffect = (endpoint: EndpointDefinition, body: unknown): body is JsonObject =>
  endpoint.repeatable === 'when-not-executed' &&
  endpoint.proof.length > 0 &&
  isObject(body) &&
  isProven(endpoint, body)

const codeOf = (endpoint: EndpointDefinition, body: JsonObject, code: unknown): Reading => ({
  kind: 'code',
  body,
  ...errorIn(body),
  readable: typeof code === 'string' && !NEARLY_SUCCESS.test(code) && !showsEffect(endpoint, body),
})

const unexpected = (reason: string, body: unknown) => ({ kind: 'unexpected', reason, body }) as const

/** A JSON answer of a 2xx status against its contract. */
const readSuccess = (endpoint: EndpointDefinition, body: unknown): Reading => {
  if (!isObject(body) && endpoint.envelope === true) return unexpected('is not a JSON object', body)
  if (isObject(body) && endpoint.envelope !== false) {
    const code = body.errorCode ?? undefined
    if (code !== undefined && code !== SUCCESS) return codeOf(endpoint, body, code)
    if (code === undefined && !isProven(endpoint, body)) {
      const { errorCode } = errorIn(body)
      // A login is refused in whatever shape: read as nothing known, it would be tried again until the account is locked.
      if (errorCode !== undefined && endpoint.envelope === 'optional')
        return codeOf(endpoint, body, errorCode)
      return unexpected('says neither that it succeeded nor that it failed (no errorCode)', body)
    }
  }
  if (isBareError(body)) return codeOf(endpoint, body, errorIn(body).errorCode)
  const { data, missing, reports } = readContract(endpoint, body)
  if (missing.length > 0) return unexpected(`lacks ${missing.join(' and ')}`, body)
  return { kind: 'success', data, body, reports }
}

/**
 * Reads an answer whose body has come completely. Area S succeeds with exactly the code `00` and a 2xx status, or,
 * without any code, when the fields are there that only a success has; area G succeeds with a 2xx status.
 */
export const readAnswer = (endpoint: EndpointDefinition, status: number, text: string): Reading => {
  const json = readJson(text)
  const body = json.ok ? json.value : text === '' ? undefined : text
  if (status >= 400) {
    // A status that a proxy put in the place of the server's own.
    const contradicts = showsEffect(endpoint, body) && body.errorCode === SUCCESS
    return contradicts ? codeOf(endpoint, body, SUCCESS) : { kind: 'refused', body, ...errorIn(body) }
  }
  if (status < 200 || status >= 300) return unexpected('is a redirect, which is not followed', body)
  if (endpoint.anyBody) return { kind: 'success', data: body, body, reports: [] }
  if (json.ok) return readSuccess(endpoint, body)
  if (text.trim() !== '') {
    const cut = BEGINNING_OF_JSON.test(text)
    return { ...unexpected(cut ? 'is JSON that was cut off' : 'is not JSON', body), cut }
  }
  // A body is needed where it proves the success or holds what the caller asked for.
  const emptyWillDo = endpoint.needs.length === 0 && endpoint.envelope === false
  if (!emptyWillDo) return { ...unexpected('is empty', body), cut: status !== NO_CONTENT }
  return { kind: 'success', data: endpoint.partial ? {} : undefined, body: undefined, reports: [] }
}
