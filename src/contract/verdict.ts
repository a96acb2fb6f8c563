import type { AuthKind } from './endpoint.ts'
import { asText, isObject } from './fields.ts'

/**
 * What an error response proves. A verdict other than `somebody-else` comes from the API itself: the body has the
 * area's own shape, or the specification defines the status alone (401, 429).
 *
 * - `not-found`: the API does not know the record.
 * - `rejected-credentials`: the API rejected the credentials, the token or the API key.
 * - `locked`: the account is locked, so valid credentials are rejected too. (Authentication, area S, rule 4)
 * - `rate-limited`: the rate limit is used up.
 * - `refused`: the API refused the request for another reason.
 * - `somebody-else`: a proxy, a firewall or a framework responded in place of the API.
 */
export type Verdict =
  | 'not-found'
  | 'rejected-credentials'
  | 'locked'
  | 'rate-limited'
  | 'refused'
  | 'somebody-else'

/** A response, and the operation that it belongs to. */
export interface VerdictQuestion {
  readonly operation: string
  readonly auth: AuthKind
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The parsed JSON, or undefined if the body is not JSON. */
  readonly body: unknown
}

/** The code and message of an error in an API's own shape, or in OAuth's, which only the token endpoint has. */
type OwnError = { readonly code: string; readonly message: string; readonly isOAuth?: boolean }

/** Fields that frameworks and proxies add to their own errors, and that no error of an area has. */
const FOREIGN_FIELD = /^(?:timestamp|path|statusCode|status|trace|type|title|instance|requestId)$/
const OAUTH_CODE =
  /^(?:invalid_(?:request|grant|client|scope)|unauthorized_client|access_denied|unsupported_(?:grant|response)_type|server_error|temporarily_unavailable)$/
/** OAuth's codes that reject the credentials. The other codes of RFC 6749 concern the request or the server. */
const OAUTH_REJECTION = /^(?:invalid_grant|invalid_client|unauthorized_client|access_denied)$/

const MISSING = /not.?(?:be.)?found|no.?such|unknown|does.?not.?exist/i
/** Subjects other than a missing record. A text that names one of them does not say that a record is missing. */
const OTHER_SUBJECT =
  /token|credential|api.?key|permission|forbidden|denied|authori[sz]|allowed|limit|quota|too.?many|unknown.?(?:error|reason|failure|exception)|merchant|client|route|endpoint|method|url|field|param/i
/** Statuses with which an API may say that a record is missing. */
const MISSING_STATUSES = new Set([400, 404, 410, 422])

/** Returns the code and message of an error in the shape of the operation's area, or undefined for any other body. */
const ownError = ({ operation, auth, body }: VerdictQuestion): OwnError | undefined => {
  if (!isObject(body)) return undefined
  const { error: oauth } = body
  if (auth === 'credentials' && typeof oauth === 'string' && OAUTH_CODE.test(oauth))
    return { code: oauth, message: '', isOAuth: true }
  const isGateway = operation.startsWith('gateway.')
  const error: unknown = isGateway ? body.error : body
  // A server that sends every field of its records sends such a field with the value null.
  const isForeign = Object.entries(body).some(([name, value]) => value !== null && FOREIGN_FIELD.test(name))
  if (!isObject(error) || isForeign) return undefined
  const code = asText(isGateway ? error.code : error.errorCode)
  // An error of the code alone has the area's shape too, but not one with other fields in place of the message.
  const only = Object.keys(error).length === 1 ? '' : undefined
  const message = asText(isGateway ? error.message : error.errorMessage) ?? only
  // A bare number is no code of area G (G2).
  const isCode = code && !(isGateway && Number.isFinite(Number(code)))
  return isCode && message !== undefined ? { code, message } : undefined
}

const loginVerdict = (status: number, own: OwnError | undefined): Verdict => {
  // The specification promises the status alone. (Authentication, area S, rule 3)
  if (status === 401) return 'rejected-credentials'
  // A code such as 503 is a status of the server, which says nothing about the credentials.
  const isRejection = own && (own.isOAuth ? OAUTH_REJECTION.test(own.code) : !/^5\d\d$/.test(own.code))
  if (!isRejection) return 'somebody-else'
  if (status === 403) return 'locked'
  return status === 400 || status < 300 ? 'rejected-credentials' : 'somebody-else'
}

/** Whether an API's own error says that a record is missing. */
const saysMissing = (status: number, { code, message }: OwnError, isGateway: boolean): boolean => {
  if (status >= 300 && !MISSING_STATUSES.has(status)) return false
  if (OTHER_SUBJECT.test(`${code} ${message}`)) return false
  if (isGateway) return MISSING.test(code)
  return MISSING.test(`${code} ${message}`) || (status === 404 && message !== '')
}

/** Returns what an error response proves. No other code decides what an error body means. */
export const verdictOn = (question: VerdictQuestion): Verdict => {
  const { operation, auth, status } = question
  if (status === 429) return 'rate-limited'
  const own = ownError(question)
  if (auth === 'credentials') return loginVerdict(status, own)
  if (status === 401) return auth === 'none' ? 'refused' : 'rejected-credentials'
  if (own === undefined) return 'somebody-else'
  return saysMissing(status, own, operation.startsWith('gateway.')) ? 'not-found' : 'refused'
}
