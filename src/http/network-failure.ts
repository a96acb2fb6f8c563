import { isObject } from '../contract/fields.ts'

/** The facts about a connection that failed. */
export interface NetworkFailure {
  /** Whether it is proven that the request never reached the server. */
  readonly notSent: boolean
  /** Whether the server's certificate was rejected. The next attempt would fail in the same way. */
  readonly certificate: boolean
  /** The runtime's code, for example `ECONNRESET`, if it gave one. */
  readonly reason: string | undefined
}

/** Codes of a connection that was never made. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])
/**
 * Codes of a rejected server certificate: the runtime rejects it before it writes the first byte of the request. Other
 * TLS failures (`ERR_SSL_…`) may come after the server acted.
 */
const REJECTED_CERTIFICATE =
  /^(?:CERT_(?:HAS_EXP|NOT_YET|SIGNA|REVOK)|DEPTH_ZERO_SELF|SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER)|ERR_TLS_CERT_ALTNAME|INVALID_(?:CA|PURPOSE)$|PATH_LENGTH_EXC)/
/** System calls that happen before the first byte of a request. */
const BEFORE_SENDING = new Set<unknown>(['connect', 'getaddrinfo'])
const CODE = /^[A-Za-z][A-Za-z0-9_]{1,60}$/
const MAX_DEPTH = 4

type Evidence = Readonly<Record<string, unknown>>

const codeOf = ({ code }: Evidence): string | undefined =>
  typeof code === 'string' && CODE.test(code) ? code : undefined

/** Every error with a code in a chain of causes. The errors of an aggregate count one by one. */
const withCode = (error: unknown, depth = 0): readonly Evidence[] => {
  if (!isObject(error) || depth > MAX_DEPTH) return []
  // When several addresses of a name were tried, the aggregate repeats the first one's code and hides the others'.
  const errors: readonly unknown[] = Array.isArray(error.errors) ? error.errors : []
  const listed = errors.flatMap((each) => {
    const found = withCode(each, depth + 1)
    return found.length > 0 ? found : [{}]
  })
  const own = listed.length > 0 || codeOf(error) === undefined ? listed : [error]
  return [...own, ...withCode(error.cause, depth + 1)]
}

const wasNotSent = (evidence: Evidence): boolean => {
  const code = codeOf(evidence)
  if (code === undefined) return false
  return NOT_CONNECTED.has(code) || REJECTED_CERTIFICATE.test(code) || BEFORE_SENDING.has(evidence.syscall)
}

/** Reads a rejected `fetch`. Only known codes prove that nothing was sent, and all in the chain have to agree. */
export const classifyNetworkFailure = (error: unknown): NetworkFailure => {
  const evidence = withCode(error)
  const reason = evidence.map(codeOf).find((code) => code !== undefined)
  const notSent = evidence.length > 0 && evidence.every(wasNotSent)
  return { notSent, certificate: notSent && REJECTED_CERTIFICATE.test(reason ?? ''), reason }
}
