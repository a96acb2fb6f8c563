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

/** The code and message of an error in an API's own shape. */
interface OwnError {
  readonly code: string
  readonly message: string
  /** Whether the shape is OAuth's, which only the token endpoint has. */
  readonly isOAuth?: boolean
}

/** Fields that frameworks and proxies add to their own errors, and that neither area has. */
const FOREIGN_FIELDS = [
  'timestamp',
  'path',
  'statusCode',
  'status',
  'trace',
  'type',
  'title',
  'instance',
  'requestId',
]
/** OAuth's codes that reject the credentials. The other codes of RFC 6749 concern the request or the server. */
const OAUTH_REJECTION = /^(?:invalid_grant|invalid_client|unauthorized_client|access_denied)$/
const OAUTH_CODE =
  /^(?:invalid_(?:request|grant|client|scope)|unauthorized_client|access_denied|unsupported_(?:grant|response)_type|server_error|temporarily_unavailable)$/

const MISSING = /not.?found|no.?such|unknown|does.?not.?exist/i
/** Subjects other than a missing record. A text that names one of them does not say that a record is missing. */
const OTHER_SUBJECT =
  /token|credential|api.?key|permission|forbidden|denied|authori[sz]|allowed|limit|quota|too.?many/i
/** Statuses with which an API may say that a record is missing. */
const MISSING_STATUSES = new Set([400, 404, 410, 422])

/** Returns the code and message of an error in the shape of the operation's area, or undefined for any other body. */
export const ownError = ({
  operation,
  auth,
  body,
}: Pick<VerdictQuestion, 'operation' | 'auth' | 'body'>): OwnError | undefined => {
  if (!isObject(body) || FOREIGN_FIELDS.some((name) => name in body)) return undefined
  const isGateway = operation.startsWith('gateway.')
  const { code, message } = isGateway
    ? isObject(body.error)
      ? body.error
      : {}
    : { code: body.errorCode, message: body.errorMessage }
  const [ownCode, ownMessage] = [asText(code), asText(message)]
  if (ownCode !== undefined && ownMessage !== undefined) return { code: ownCode, message: ownMessage }
  const { error } = body
  if (auth !== 'credentials' || typeof error !== 'string' || !OAUTH_CODE.test(error)) return undefined
  return { code: error, message: asText(body.error_description) ?? '', isOAuth: true }
}

const loginVerdict = (status: number, own: OwnError | undefined): Verdict => {
  if (status === 401) return 'rejected-credentials'
  if (own === undefined) return 'somebody-else'
  if (own.isOAuth ? !OAUTH_REJECTION.test(own.code) : /^5\d\d$/.test(own.code)) return 'somebody-else'
  if (status === 403) return 'locked'
  return status === 400 || status < 300 ? 'rejected-credentials' : 'somebody-else'
}

/** Whether an API's own error says that a record is missing. */
const saysMissing = (status: number, { code, message }: OwnError, isGateway: boolean): boolean => {
  if (status >= 300 && !MISSING_STATUSES.has(status)) return false
  if (OTHER_SUBJECT.test(`${code} ${message}`)) return false
  if (isGateway) return MISSING.test(code)
  return status === 404 || MISSING.test(`${code} ${message}`)
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
