/** What is known about a connection that failed. */
export interface NetworkFailure {
  /** Whether the request surely never reached the server. */
  readonly surelyNotSent: boolean
  /** Whether it was the server's certificate that was refused: surely not sent, and no better the next time. */
  readonly certificate: boolean
  /** The platform's code, for example `ECONNRESET`, when it gave one. */
  readonly reason: string | undefined
}

/** Codes of a connection that was never made: no byte of the request left. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])
/**
 * Codes of a certificate that the platform refused: it does so before it writes the first byte of a request. TLS 1.2
 * lets a server shake hands again later; servers that do, for a client's certificate, do it before they act. Failures of
 * TLS itself (`ERR_SSL_…`) may come after they acted.
 */
const REFUSED_CERTIFICATE =
  /^(?:CERT_(?:HAS_EXP|NOT_YET|SIGNA|REVOK)|DEPTH_ZERO_SELF|SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER)|ERR_TLS_CERT_ALTNAME|INVALID_(?:CA|PURPOSE)$|PATH_LENGTH_EXC)/
/** System calls that come before the first byte of a request. */
const BEFORE_SENDING = new Set<unknown>(['connect', 'getaddrinfo'])
const CODE = /^[A-Za-z][A-Za-z0-9_]{1,60}$/
const DEEPEST_CAUSE = 4

interface Evidence {
  readonly code?: unknown
  readonly syscall?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
}

const isEvidence = (value: unknown): value is Evidence => typeof value === 'object' && value !== null

const codeOf = ({ code }: Evidence): string | undefined =>
  typeof code === 'string' && CODE.test(code) ? code : undefined

/**
 * Every error in a chain of causes that names a code; the errors of an aggregate count one by one. What was `seen`
 * before is not looked at again: errors that hold each other would take for ever.
 */
const coded = (error: unknown, seen: Set<unknown>, depth = 0): readonly Evidence[] => {
  if (!isEvidence(error) || depth > DEEPEST_CAUSE || seen.has(error)) return []
  seen.add(error)
  const { errors } = error
  // Both addresses of a name were tried: the aggregate repeats the first one's code and hides the others'.
  const own = Array.isArray(errors) && errors.length > 0 ? errors : []
  const listed = own.flatMap((each: unknown) => {
    const found = coded(each, seen, depth + 1)
    return found.length > 0 ? found : [{}]
  })
  const self = listed.length > 0 ? listed : codeOf(error) === undefined ? [] : [error]
  return [...self, ...coded(error.cause, seen, depth + 1)]
}

const neverLeft = (evidence: Evidence): boolean => {
  const code = codeOf(evidence)
  if (code === undefined) return false
  return NOT_CONNECTED.has(code) || REFUSED_CERTIFICATE.test(code) || BEFORE_SENDING.has(evidence.syscall)
}

const UNPROVEN: NetworkFailure = { surelyNotSent: false, certificate: false, reason: undefined }

/**
 * Reads what a rejected `fetch` tells. Only a recognised code proves that nothing was sent, and every code in the
 * chain has to agree; an error without a code (browsers, workers, injected fetches) proves nothing.
 */
export const classifyNetworkFailure = (error: unknown): NetworkFailure => {
  try {
    const evidence = coded(error, new Set())
    const reason = evidence.map(codeOf).find((code) => code !== undefined)
    const surelyNotSent = evidence.length > 0 && evidence.every(neverLeft)
    return { surelyNotSent, certificate: surelyNotSent && REFUSED_CERTIFICATE.test(reason ?? ''), reason }
  } catch {
    // Anything can be thrown, also what throws when it is looked at.
    return UNPROVEN
  }
}
