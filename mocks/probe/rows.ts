import { dayNumber } from '../../src/contract/formats.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import type { Finding } from './differences.ts'
import { type Exchange, textOf } from './exchanges.ts'

/** The row of each option that can cause a refusal. Explanations in the mock's log name these options. */
const OPTION_ROWS: Readonly<Record<string, string>> = {
  contentType: '3',
  unknownFields: '4',
  requestTtl: '10',
  timeZone: '14',
  startCutoff: '15',
  pastStart: '16',
  maxEnd: '18',
  amountPattern: '19',
  duplicateRequest: '20',
  merchants: '21',
  clientMismatch: '21',
  cancelTwice: '28',
  tokenTtl: '33',
  refresh: '34',
  lockout: '35',
  unlistedNumbers: '61',
  redirectAllowlist: '69',
  keyReuse: '72',
  keyInFlight: '73a',
  renewalsAsMandates: '75',
  maxOtpAttempts: '77',
  inputRules: '82',
  apiKeyScope: '84',
}

/** The row of each reason for a refusal by the mock. */
const REASON_ROWS: Readonly<Record<string, string>> = {
  'wrong-method': '65',
  'unknown-path': '2',
  'content-type': '3',
  not_found: '40',
  duplicate_request: '20',
  client_mismatch: '21',
  state: '28',
  locked_out: '35',
  redirect_uri_not_allowed: '69',
  missing_idempotency_key: '71',
  idempotency_key_reused: '72',
  idempotency_key_in_use: '73a',
  mandate_mismatch: '74',
  mandate_not_active: '75',
  already_confirmed: '77',
  charge_expired: '77',
  incorrect_code: '77',
}

/** The row or the specification's mark of each operation's response. */
const RESPONSE_ROWS: Readonly<Record<string, string>> = {
  'subscriptions.login': 'S7',
  'subscriptions.subscribe': 'S2',
  'subscriptions.status': 'S3',
  'subscriptions.details': 'S4',
  'subscriptions.cancel': 'S5',
  'subscriptions.cancellation': 'S5',
  'subscriptions.payments': 'S6',
  'subscriptions.payment': 'S6',
  'gateway.confirm': '66',
  'gateway.status': '67',
  'gateway.reset': '68',
  'gateway.health': '79',
  'gateway.reference': '61',
}

/** The first pattern that matches `operation place kind` has the row of a difference in a successful response. */
const BODY_ROWS: readonly (readonly [pattern: RegExp, row: string])[] = [
  [/login (?:errorCode|errorMessage) /, '50'],
  [/login refresh_token /, '34'],
  [/login (?:expires_in|token_type) value/, '33'],
  [/^subscriptions\S* errorCode value/, '38'],
  [/status subscriptionI[dD] (?:missing|unexpected|value)/, '11'],
  [/subscriptions.status status value/, '10'],
  [/details enabled value/, '12'],
  [/ createdAt value/, '14'],
  [/ \S*nextPaymentDate type/, '25'],
  [/ \S*(?:nextPaymentDate|transactionDate|dueDate) value/, '23'],
  [/cancel\S* status value/, '27'],
  [/payments? \S*status value/, '26'],
  [/payments? \S*reverse\S+ (?:type|value)/, '13'],
  [/^subscriptions\S* \S* (?:paging|order)/, '41'],
  [/^subscriptions\S* \S+ (?:missing|unexpected|type|format)/, '44'],
  [/^gateway\S* created_at /, '81'],
  [/^gateway\S* amount /, '60'],
  [/^gateway\S* outcome value/, '62'],
  [/^gateway\S* status value/, '61'],
  [/^gateway\.(?:charge|renew) /, 'G1'],
]

/** Guesses why the server refused a request that the mock accepts. */
const refusedBy = (exchange: Exchange, earlier: readonly Exchange[]): string => {
  const { operation, fields, request, bearer, response, time, definition } = exchange
  const { 'idempotency-key': key = '', 'content-type': type = '' } = request.headers
  const isSubscribe = operation === 'subscriptions.subscribe'
  const today = Math.floor(time / 86_400_000)
  const isFirst = (name: string): boolean =>
    !earlier.some(
      (each) => each.operation === operation && textOf(each.fields, name) === textOf(fields, name),
    )
  const known = Object.keys(Object(definition?.request?._zod.toJSONSchema?.()).properties ?? {})
  if (operation === 'subscriptions.login')
    return fields.grant_type === 'refresh_token' ? '34' : type.includes('form') ? '32' : 'S-a'
  if (response?.status === 401) return exchange.area === 'gateway' ? '84' : '33'
  if (Object.keys(fields).some((name) => known.length > 0 && !known.includes(name))) return '4'
  if (isSubscribe) {
    const start = dayNumber(textOf(fields, 'start')) ?? 0
    if (!isFirst('requestID')) return '20'
    if (start < today) return '16'
    if ((dayNumber(textOf(fields, 'end')) ?? 0) - start > 365) return '18'
    if (!/^\d+(?:\.\d\d?)?$/.test(textOf(fields, 'amount'))) return '19'
    return start === today ? '15' : '21'
  }
  if (
    definition?.idempotencyKey &&
    earlier.some((each) => each.request.headers['idempotency-key'] === key && each.bearer === bearer)
  )
    return '72'
  if (operation === 'gateway.charge')
    return /redirect/i.test(JSON.stringify(response?.body ?? '')) ? '69' : '82'
  if (operation === 'gateway.renew') return '75'
  if (operation === 'gateway.confirm') return '77'
  if (operation === 'gateway.status') return '84'
  return operation === 'subscriptions.cancel' ? '28' : '31'
}

/** The mock's response to the request of an exchange. */
export interface Replayed {
  readonly status: number
  readonly succeeded: boolean
  readonly logged: LoggedRequest | undefined
}

const refusalRow = ({ operation, area }: Exchange, { logged }: Replayed): string => {
  if (operation === 'subscriptions.cancellation') return '29'
  if (area === 'gateway' && logged?.decision === 'not_found') return '77'
  return REASON_ROWS[logged?.decision ?? ''] ?? (area === 'gateway' ? '82' : '39')
}

const statusRow = (exchange: Exchange, sent: Replayed, earlier: readonly Exchange[]): string => {
  const { area, succeeded, response, operation = '' } = exchange
  const statuses = [response?.status, sent.status]
  if (statuses.includes(429)) return area === 'gateway' ? '78' : '42'
  if (statuses.includes(403) && area === 'subscriptions') return '35'
  if (succeeded && sent.succeeded) return RESPONSE_ROWS[operation] ?? 'G1'
  if (sent.succeeded) return refusedBy(exchange, earlier)
  const option = [...(sent.logged?.explanation ?? '').matchAll(/option \w+\.(\w+)/gi)].at(-1)?.[1] ?? ''
  return (succeeded ? OPTION_ROWS[option] : undefined) ?? refusalRow(exchange, sent)
}

const headerRow = (area: Exchange['area'], place: string): string => {
  if (area === 'subscriptions' && /x-ratelimit/.test(place)) return '42'
  if (place.endsWith('retry-after')) return area === 'subscriptions' ? '43' : '78'
  return '3'
}

/** Returns the row of docs/unknowns.md, or the mark of the specification, to which a difference belongs. */
export const rowOf = (
  finding: Finding,
  exchange: Exchange,
  sent: Replayed,
  earlier: readonly Exchange[],
): string => {
  const { area, succeeded, operation = '', response } = exchange
  const { place, kind } = finding
  if (kind === 'status') return statusRow(exchange, sent, earlier)
  if (kind === 'header') return headerRow(area, place)
  const text = `${operation} ${place} ${kind}`
  if (!succeeded) {
    if (area === 'gateway') return kind === 'value' ? '70' : 'G2'
    return kind !== 'value' && [401, 403, 429].includes(response?.status ?? 0) ? '37' : '38'
  }
  return BODY_ROWS.find(([pattern]) => pattern.test(text))?.[1] ?? RESPONSE_ROWS[operation] ?? '2'
}
