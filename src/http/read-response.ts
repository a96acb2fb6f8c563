import { typeOf } from '../check.ts'
import type { EndpointDefinition } from '../contract/endpoint.ts'
import { asText, type Issues, isObject, readWith, received } from '../contract/fields.ts'
import { isCutJson, readJson } from '../json.ts'
import type { Failure } from './failure.ts'
import type { UnexpectedReport } from './hooks.ts'
import type { ReceivedResponse } from './send.ts'

/** The result of reading a response. `body` is the parsed JSON, or undefined. */
export type Reading =
  | {
      readonly kind: 'success'
      readonly data: unknown
      readonly body: unknown
      readonly reports: readonly UnexpectedReport[]
    }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly body: unknown }

type JsonObject = Readonly<Record<string, unknown>>

const SUCCESS = '00'
const NO_CONTENT = 204
// A code such as `0` may mean success, so it does not prove that the server rejected the call.
const NEARLY_SUCCESS = /^\s*0*\s*$/

/** Returns the code and the message of an error in the format of area S, area G or OAuth. */
export const errorIn = (body: unknown): { errorCode?: string | undefined; message?: string | undefined } => {
  if (!isObject(body)) return {}
  const { error } = body
  const inner = isObject(error) ? error : { code: typeof error === 'string' ? error : undefined }
  return {
    errorCode: asText(body.errorCode) ?? asText(inner.code),
    message: asText(body.errorMessage) ?? asText(inner.message) ?? asText(body.error_description),
  }
}

const isPresent = (body: JsonObject, name: string): boolean => {
  const value = received(body, name)
  return value !== undefined && value !== null && value !== ''
}

const hasAll = (body: unknown, names: readonly string[] = []): boolean =>
  isObject(body) && names.every((name) => isPresent(body, name))

/** Returns whether a response contains the created object, which shows that the server may have acted. */
const containsCreated = ({ created }: EndpointDefinition, body: unknown): boolean =>
  created !== undefined && hasAll(body, created)

const failed = (failure: Failure, body: unknown): Reading => ({ kind: 'failed', failure, body })

const withCode = (endpoint: EndpointDefinition, body: JsonObject, code: unknown): Reading => {
  const isClear = typeof code === 'string' && !NEARLY_SUCCESS.test(code)
  return failed({ kind: 'code', proof: isClear && !containsCreated(endpoint, body) }, body)
}

const unexpected = (reason: string, body: unknown, isCut = false): Reading =>
  failed({ kind: isCut ? 'cut' : 'unexpected', reason }, body)

/** Returns whether a 2xx response contains an error of area G, but no `id` and no `status`. */
const isBareError = (body: unknown): body is JsonObject =>
  isObject(body) &&
  isObject(body.error) &&
  typeof body.error.code === 'string' &&
  !isPresent(body, 'id') &&
  !isPresent(body, 'status')

/** Reads a successful response by its schema. Omits and reports optional fields whose values are invalid. */
const readByContract = (endpoint: EndpointDefinition, body: unknown): Reading => {
  const issues: Issues = []
  const value = readWith(endpoint.response, body, issues)
  const data: unknown = endpoint.partial && !isObject(value) ? {} : value
  const missing = (endpoint.needs ?? []).filter((name) => !isObject(data) || !isPresent(data, name))
  if (missing.length > 0) return unexpected(`lacks ${missing.join(' and ')}`, body)
  const reports = new Map<string, UnexpectedReport>()
  for (const { path = [], message: rule = '', input } of issues) {
    if (endpoint.partial && input === undefined) continue
    const parts = path.map((part) => (typeof part === 'number' ? '[]' : `.${String(part)}`))
    const field = parts.join('').replace(/^\./, '')
    const received = typeOf(input)
    const words = `${field || 'The response'} must be ${rule}, received ${received}`
    reports.set(words, { operation: endpoint.operation, field, rule, received, message: words })
  }
  return { kind: 'success', data, body, reports: [...reports.values()] }
}

const readSuccess = (endpoint: EndpointDefinition, body: unknown): Reading => {
  const { envelope = false } = endpoint
  if (!isObject(body) && envelope === true) return unexpected('is not a JSON object', body)
  if (isObject(body) && envelope !== false) {
    const code = body.errorCode ?? undefined
    if (code !== undefined && code !== SUCCESS) return withCode(endpoint, body, code)
    if (code === undefined && !hasAll(body, endpoint.proof ?? endpoint.needs)) {
      const { errorCode } = errorIn(body)
      // An error code in another format is a rejection too, so that logins stop before they lock the account.
      if (errorCode !== undefined && envelope === 'optional') return withCode(endpoint, body, errorCode)
      return unexpected('has no errorCode', body)
    }
  }
  if (isBareError(body)) return withCode(endpoint, body, errorIn(body).errorCode)
  return readByContract(endpoint, body)
}

/** Reads a complete response. In area S, a success has code `00`, or has all `proof` fields but no code. */
export const readResponse = (
  endpoint: EndpointDefinition,
  { status, text: received }: Pick<ReceivedResponse, 'status' | 'text'>,
): Reading => {
  const text = received ?? ''
  const json = readJson(text)
  // PHP and proxies may write text, such as a warning, before or after the JSON.
  const inner = json.ok ? [] : [text.replace(/^[^{]+/, ''), text.slice(0, text.lastIndexOf('}') + 1)]
  const found = inner.map(readJson).find(({ ok }) => ok) ?? json
  const body = found.ok ? found.value : undefined
  if (status >= 400) return failed({ kind: 'status', status, created: containsCreated(endpoint, body) }, body)
  if (status < 200 || status >= 300) return unexpected('is a redirect', body)
  if (received === undefined) return unexpected('is larger than maxResponseBytes', body)
  if (endpoint.anyBody) return { kind: 'success', data: body ?? text, body: body ?? text, reports: [] }
  if (json.ok) return readSuccess(endpoint, body)
  if (found.ok) return unexpected('has other text around its JSON', body)
  if (text.trim() !== '') {
    const isCut = isCutJson(text)
    return unexpected(isCut ? 'is cut JSON' : 'is not JSON', body, isCut)
  }
  // An empty body is an error if the body must prove the success or contain the requested data.
  if (endpoint.envelope || endpoint.needs !== undefined)
    return unexpected('is empty', body, status !== NO_CONTENT)
  return { kind: 'success', data: endpoint.partial ? {} : undefined, body: undefined, reports: [] }
}

/** Characters with which people write a phone number. The trunk prefix `(0)` is not dialed from abroad. */
const PHONE_SEPARATORS = /\(0\)|[\s+().\-/]/g

/** Whether a number ends in a form of another number. A national number lacks the country code, a masked one digits. */
const endsInPhone = (number: string, form: string): boolean => {
  const [digits = '', tail = ''] = [number, form].map((one) =>
    one.replace(PHONE_SEPARATORS, '').replace(/^0+/, ''),
  )
  // A trunk prefix may follow the country code without parentheses (`+880 0…`). The last 9 digits contain neither.
  const end = /\D/.test(tail) ? tail.replace(/\D+/g, '\\d*') : tail.slice(-9).replace(/^0+/, '')
  return new RegExp(`${end}$`).test(digits)
}

/** Reports a success whose fields differ from the request, because it may be the response to another request. */
export const reportEchoes = (
  { operation, echoes = [] }: EndpointDefinition,
  sent: unknown,
  data: unknown,
): UnexpectedReport | undefined => {
  const textIn = (fields: unknown, name: string): string =>
    String((isObject(fields) ? fields[name] : undefined) ?? '')
      .replace(/\s/g, '')
      .toUpperCase()
  const changed = echoes.filter((name) => {
    const [given, got] = [textIn(sent, name), textIn(data, name)]
    const isSame = name === 'msisdn' ? endsInPhone(given, got) || endsInPhone(got, given) : given === got
    return got !== '' && !isSame
  })
  const [field] = changed
  if (field === undefined) return undefined
  const message = `The response has another ${changed.join(' and ')} than the request: perhaps this idempotency key was used before`
  return { operation, field, rule: 'what was sent', received: 'another value', message }
}
