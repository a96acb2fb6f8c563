import { isMandateKitError } from '../errors.ts'

/** What an unknown identifier is answered with. Another status speaks of the request, the credentials or the server. */
const isStatusOfNotFound = (status: unknown): boolean =>
  typeof status === 'number' && (status < 300 || [400, 404, 410, 422].includes(status))

/**
 * Whether the API itself said, with a code of its own, that there is no such thing. Anything else leaves the question
 * open: a bare 404 may come from a proxy or a mistaken base URL, and refusing would lose true messages.
 */
export const isNotFound = (error: unknown): boolean => {
  if (!isMandateKitError(error) || error.phase === 'login') return false
  if (error.code === 'invalid_request') return true
  if (error.code !== 'api_error' || error.outcome !== 'rejected') return false
  if (!('errorCode' in error) || error.errorCode === undefined) return false
  return 'status' in error && isStatusOfNotFound(error.status)
}
