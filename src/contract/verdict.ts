import type { EndpointDefinition } from './endpoint.ts'
import { asText, isObject } from './fields.ts'

/**
 * What an error response proves. Every verdict except `somebody-else` means that the API itself responded: the body has
 * the API's format, or the status is 401 or 429.
 *
 * - `not-found`: the API has no such record.
 * - `rejected-credentials`: the API rejected the credentials, the token or the API key.
 * - `locked`: the account is locked, so the API rejects even valid credentials. (Authentication, area S, rule 4)
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

/** `body` is the response's parsed JSON, or undefined if the response is not JSON. */
interface VerdictQuestion extends Pick<EndpointDefinition, 'operation' | 'auth'> {
  readonly status: number
  readonly body: unknown
}

/** Fields of errors from frameworks and proxies. The errors of the two APIs have none of these fields. */
const FOREIGN_FIELD = /^(?:timestamp|path|statusCode|status|trace|type|title|instance|requestId)$/
/** OAuth error codes for rejected credentials. Other OAuth codes report an invalid request or a server failure. */
const OAUTH_REJECTION = /^(?:invalid_grant|invalid_client|unauthorized_client|access_denied)$/
const MISSING = /not.?(?:be.)?found|no.?such|unknown|does.?not.?exist/i
/** Errors such as `unknown token` match `MISSING`, but no record is missing. They contain one of these words. */
const OTHER_SUBJECT =
  /token|credential|api.?key|permission|forbidden|denied|authori[sz]|allowed|limit|quota|too.?many|unknown.?(?:error|reason|failure|exception)|merchant|client|route|endpoint|method|url|field|param/i
const MISSING_STATUS = /^(?:2..|400|404|410|422)$/

/** If the body is an error in the API's own format, returns its code and message. Otherwise returns undefined. */
const ownError = ({ auth, body }: VerdictQuestion, isGateway: boolean) => {
  if (!isObject(body)) return undefined
  const oauth = String(body.error)
  if (auth === 'credentials' && OAUTH_REJECTION.test(oauth)) return { code: oauth, message: '' }
  const error: unknown = isGateway ? body.error : body
  // Some servers send every possible field, and set the fields that an error does not use to null.
  const isForeign = Object.entries(body).some(([name, value]) => value !== null && FOREIGN_FIELD.test(name))
  if (!isObject(error) || isForeign) return undefined
  const code = asText(isGateway ? error.code : error.errorCode)
  // An error that contains only a code is accepted. If other fields replace the message, the error is not the API's.
  const only = Object.keys(error).length === 1 ? '' : undefined
  const message = asText(isGateway ? error.message : error.errorMessage) ?? only
  // A number is not an error code of area G (G2).
  const isCode = code && !(isGateway && Number.isFinite(Number(code)))
  return isCode && message !== undefined ? { code, message } : undefined
}

/** Returns what an error response proves. */
export const verdictOn = (question: VerdictQuestion): Verdict => {
  const { operation, auth, status } = question
  if (status === 429) return 'rate-limited'
  // The specification defines only the status, not a body. (Authentication, area S, rule 3)
  if (status === 401) return auth === 'none' ? 'refused' : 'rejected-credentials'
  const isGateway = operation.startsWith('gateway.')
  const own = ownError(question, isGateway)
  if (own === undefined) return 'somebody-else'
  const { code, message } = own
  if (auth === 'credentials') {
    // A code such as 503 reports a failure of the server, so it proves nothing about the credentials.
    if (/^5\d\d$/.test(code)) return 'somebody-else'
    if (status === 403) return 'locked'
    return status === 400 || status < 300 ? 'rejected-credentials' : 'somebody-else'
  }
  const text = `${code} ${message}`
  if (!MISSING_STATUS.test(`${status}`) || OTHER_SUBJECT.test(text)) return 'refused'
  const isMissing = MISSING.test(isGateway ? code : text) || (!isGateway && status === 404 && message !== '')
  return isMissing ? 'not-found' : 'refused'
}
