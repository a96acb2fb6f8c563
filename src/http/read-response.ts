import { typeOf } from '../check.ts'
import type { EndpointDefinition } from '../contract/endpoint.ts'
import { asText, type Issues, isObject, type Json, readWith, received } from '../contract/fields.ts'
import { isAbsent } from '../contract/response-fields.ts'
import { isCutJson, readJson } from '../json.ts'
import type { UnexpectedReport } from './observe.ts'
import type { ResponseFailure } from './retry.ts'
import type { ReceivedResponse } from './send.ts'

type Reading = Pick<Success, 'data' | 'reports'> | ResponseFailure

export interface Success {
  readonly kind: 'success'
  readonly data: unknown
  readonly reports: readonly UnexpectedReport[]
  readonly response: ReceivedResponse
  readonly body: unknown
}

/** A response that the client does not accept as a success. */
export interface BadResponse {
  readonly kind: 'bad-response'
  readonly phase: 'response'
  readonly failure: ResponseFailure
  readonly response: ReceivedResponse
  readonly body: unknown
}

const SUCCESS = '00'
const NO_CONTENT = 204
// A code such as `0` may mean success, so it does not prove that the server rejected the call.
const NEARLY_SUCCESS = /^\s*0*\s*$/
/** Codes that do not prove a rejection: the call may have failed or succeeded, or may still be running. */
const OPEN_CODE =
  /^\s*(?:ok|accepted|2\d\d|408|5\d\d)\s*$|succe|complete|pending|queued|in.?pro[gc]|time.?out|unavailable|internal|(?<!un|not.|not.be.)process(?:ing|ed)?(?![a-z_-])/i

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

const lacking = (body: unknown, names: readonly string[] = []): readonly string[] =>
  names.filter(
    (name) => !isObject(body) || [undefined, null, ''].some((none) => received(body, name) === none),
  )

/** Returns whether a response contains the object that the call creates. If so, the server may have acted. */
const containsCreated = ({ createdFields }: EndpointDefinition, body: unknown): boolean =>
  createdFields !== undefined && lacking(body, createdFields).length === 0

const withCode = (endpoint: EndpointDefinition, body: unknown, code: unknown): ResponseFailure => {
  const isClear = typeof code === 'string' && !NEARLY_SUCCESS.test(code) && !OPEN_CODE.test(code)
  return { kind: 'code', proof: isClear && !containsCreated(endpoint, body) }
}

const unexpected = (reason: string): ResponseFailure => ({ kind: 'unexpected', reason })

const isBareError = (body: Json): boolean =>
  isObject(body.error) && typeof body.error.code === 'string' && lacking(body, ['id', 'status']).length === 2

const otherThanSent = (operation: string, field: string | undefined, message: string): UnexpectedReport => ({
  operation,
  field,
  rule: 'the value that was sent',
  received: 'another value',
  message,
})

/** Returns a value as upper-case text without spaces, or '' if it is absent. Removes the leading zeros of a number. */
const comparable = (value: unknown): string =>
  isAbsent(value)
    ? ''
    : String(value)
        .replace(/^\s*0+(?=\d+\s*$)|\s/g, '')
        .toUpperCase()

export const isSameId = (one: unknown, other: unknown): boolean => comparable(one) === comparable(other)

/** Returns a report if a response contains a record whose identifier is not the requested identifier. */
const reportOtherRecord = (
  { operation, identityFields, recordsField = '' }: EndpointDefinition,
  id: unknown,
  data: unknown,
): UnexpectedReport | undefined => {
  if (identityFields === undefined || id === undefined) return undefined
  const records: unknown = Object(data)[recordsField] ?? data
  const isOther = (record: unknown): boolean => {
    const found = identityFields.map((name) => comparable(Object(record)[name]))
    return Boolean(found[0]) && !found.includes(comparable(id))
  }
  if (![records].flat().some(isOther)) return undefined
  return otherThanSent(operation, identityFields[0], 'The response is about another record')
}

/** Reads a successful response with the endpoint's schema. Omits and reports optional fields with invalid values. */
const readByContract = (endpoint: EndpointDefinition, body: unknown): Reading => {
  const { operation, partialResponse } = endpoint
  const issues: Issues = []
  const value = readWith(endpoint.response, body, issues)
  const data: unknown = partialResponse && !isObject(value) ? {} : value
  const missing = lacking(data, endpoint.requiredFields)
  if (missing.length > 0) return unexpected(`lacks ${missing.join(' and ')}`)
  const reports = new Map<string, UnexpectedReport>()
  for (const { path = [], message: rule = '', input } of issues) {
    if (partialResponse && input === undefined) continue
    const parts = path.map((part) => (typeof part === 'number' ? '[]' : `.${String(part)}`))
    const field = parts.join('').replace(/^\./, '')
    const type = typeOf(input)
    const message = `${field || 'The response'} must be ${rule}, received ${type}`
    reports.set(message, { operation, field, rule, received: type, message })
  }
  return { data, reports: [...reports.values()] }
}

const readSuccess = (endpoint: EndpointDefinition, body: unknown): Reading => {
  const { envelope = false } = endpoint
  if (!isObject(body))
    return envelope === true ? unexpected('is not a JSON object') : readByContract(endpoint, body)
  if (envelope !== false) {
    const code = body.errorCode ?? undefined
    if (code !== undefined && code !== SUCCESS) return withCode(endpoint, body, code)
    if (code === undefined && lacking(body, endpoint.successFields ?? endpoint.requiredFields).length > 0) {
      const { errorCode } = errorIn(body)
      // An error code in another format also counts as a rejection, so that logins stop before they lock the account.
      if (errorCode !== undefined && envelope === 'optional') return withCode(endpoint, body, errorCode)
      return unexpected('has no errorCode')
    }
  }
  return isBareError(body)
    ? withCode(endpoint, body, errorIn(body).errorCode)
    : readByContract(endpoint, body)
}

/** Reads a complete response. In area S, a success has code `00`, or has all `successFields` but no code. */
export const readResponse = (
  endpoint: EndpointDefinition,
  response: ReceivedResponse,
  id: unknown,
  onOtherRecord?: 'throw' | 'report',
): Success | BadResponse => {
  const { status, text = '' } = response
  const json = readJson(text)
  // PHP and proxies may write text, such as a warning, before or after the JSON.
  const inner = json.ok ? [] : [text.replace(/^[^{]+/, ''), text.slice(0, text.lastIndexOf('}') + 1)]
  const found = inner.map(readJson).find(({ ok }) => ok) ?? json
  const body = found.ok ? found.value : undefined
  const content = (data: unknown) => ({ data, reports: [] })
  const read = (): Reading => {
    if (status >= 400) return { kind: 'status', status, created: containsCreated(endpoint, body) }
    if (status < 200 || status >= 300) return unexpected('is a redirect')
    if (response.text === undefined) return unexpected('is larger than maxResponseBytes')
    if (endpoint.anyBody) return content(body ?? text)
    if (json.ok) return readSuccess(endpoint, body)
    if (found.ok) return unexpected('has other text around its JSON')
    if (text.trim() !== '')
      return isCutJson(text) ? { kind: 'cut', reason: 'is cut JSON' } : unexpected('is not JSON')
    // An empty body is an error if the body must prove the success or contain the requested data.
    if (!endpoint.envelope && endpoint.requiredFields === undefined)
      return content(endpoint.partialResponse ? {} : undefined)
    return { kind: status === NO_CONTENT ? 'unexpected' : 'cut', reason: 'is empty' }
  }
  let result = read()
  const other = 'kind' in result ? undefined : reportOtherRecord(endpoint, id, result.data)
  if (other && onOtherRecord !== 'report')
    result = { kind: 'another', reason: 'is about another record: see the option onOtherRecord' }
  if ('kind' in result) return { kind: 'bad-response', phase: 'response', failure: result, response, body }
  const { data, reports } = result
  const kept = endpoint.anyBody ? data : body
  return { kind: 'success', response, body: kept, data, reports: other ? [...reports, other] : reports }
}

/** Characters between the digits of a phone number. `(0)` is a trunk prefix: callers from abroad do not dial it. */
const PHONE_SEPARATORS = /\(0\)|[\s+().\-/]/g

/** Returns whether `form` can mean the phone number `number`. It may lack the country code, or have `*` for digits. */
const endsInPhone = (number: string, form: string): boolean => {
  const [digits = '', tail = ''] = [number, form].map((one) =>
    one.replace(PHONE_SEPARATORS, '').replace(/^0+/, ''),
  )
  // A trunk prefix may also have no parentheses (`+880 0…`). The last 9 digits contain no prefix and no country code.
  const end = /\D/.test(tail) ? tail.replace(/\D+/g, '\\d*') : tail.slice(-9).replace(/^0+/, '')
  return new RegExp(`${end}$`).test(digits)
}

/** Returns a report if a successful response differs from the request. Such a response may be for another request. */
export const reportEchoes = (
  { operation, echoedFields = [], sourceField = '' }: EndpointDefinition,
  sent: unknown,
  data: unknown,
): UnexpectedReport | undefined => {
  const textIn = (fields: unknown, name: string): string => comparable(Object(fields)[name])
  const changed = echoedFields.filter((name) => {
    // Most responses repeat each value unchanged, and comparing their texts takes longer.
    if (Object(sent)[name] === Object(data)[name]) return false
    const [given, got] = [textIn(sent, name), textIn(data, name)]
    const isSame = name === 'msisdn' ? endsInPhone(given, got) || endsInPhone(got, given) : given === got
    return got !== '' && !isSame
  })
  // A renewal is a new charge. If the same key was sent with the mandate's charge, a gateway may return that charge.
  const source = textIn(sent, sourceField)
  const isMandate = source !== '' && source === textIn(data, 'id')
  const field = isMandate ? 'id' : changed[0]
  if (field === undefined) return undefined
  const what = isMandate ? 'the id of the mandate' : `another ${changed.join(' and ')} than the request`
  return otherThanSent(
    operation,
    field,
    `The response has ${what}: the idempotencyKey was probably used before`,
  )
}
