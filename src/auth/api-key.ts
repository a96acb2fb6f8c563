import type { InputIssue } from '../errors.ts'
import { InvalidRequestError } from '../errors.ts'
import type { Authorization, Authorizer } from './authorizer.ts'
import { isHeaderSafe, kindOf, sourceFailure } from './credentials.ts'
import { withTimeout } from './timeout.ts'
import { waitFor } from './waiting.ts'

/** An API key, or a function that gives it. The function is called for each attempt: keep it quick. */
export type ApiKeySource = string | (() => string | Promise<string>)

const RULE = 'an API key of visible ASCII characters (no line break or space around it)'
const SOURCE_LIMIT = 30_000

const checked = (key: unknown, operation: string): string => {
  if (isHeaderSafe(key)) return key
  const issue: InputIssue = { field: 'apiKey', rule: RULE, received: kindOf(key) }
  throw new InvalidRequestError(operation, [issue])
}

const authorizationOf = (key: string): Authorization => ({ header: `Bearer ${key}`, credential: {} })

/**
 * Lets attempts in with a configured key (area G, Authentication 1). A fixed key is checked at once. A 401 is final:
 * the same key would be refused again.
 */
export const createApiKeyAuthorizer = (apiKey: ApiKeySource): Authorizer => {
  const refused = async () => false
  const isCurrent = () => true
  if (typeof apiKey !== 'function') {
    const authorization = authorizationOf(checked(apiKey, 'gateway'))
    return { current: () => authorization, authorize: async () => authorization, isCurrent, refused }
  }
  return {
    current: () => undefined,
    authorize: async ({ operation, signal }) => {
      let key: unknown
      try {
        const given = withTimeout(Promise.resolve().then(apiKey), SOURCE_LIMIT, 'The API key function')
        key = await waitFor(given, signal)
      } catch (error) {
        if (signal?.aborted) throw error
        throw sourceFailure(operation, 'apiKey', error)
      }
      return authorizationOf(checked(key, operation))
    },
    isCurrent,
    refused,
  }
}
