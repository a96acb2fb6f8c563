import type { InputIssue } from '../errors.ts'
import { refuse } from '../transport/input-issues.ts'
import type { Authorization, Authorizer } from './authorizer.ts'
import { isHeaderSafe, kindOfSecret, sourceFailure } from './credentials.ts'
import { withTimeout } from './timeout.ts'
import { waitFor } from './waiting.ts'

/** An API key, or a function that gives it. The function is called for each attempt: keep it quick. */
export type ApiKeySource = string | (() => string | Promise<string>)

const RULE = 'an API key as text of visible ASCII characters, without spaces, or a function that gives one'
const SOURCE_LIMIT = 30_000

/** The issue of a key that cannot stand in a header; its value is never quoted. */
const keyIssues = (key: unknown): InputIssue[] =>
  isHeaderSafe(key) ? [] : [{ field: 'apiKey', rule: RULE, received: kindOfSecret(key) }]

/** The issue of a key, or of what is no function that gives one. */
export const apiKeyIssues = (source: unknown): InputIssue[] =>
  typeof source === 'function' ? [] : keyIssues(source)

const checked = (key: unknown, operation: string): string => {
  refuse(operation, keyIssues(key))
  return String(key)
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
    const authorization = authorizationOf(checked(apiKey, 'GatewayClient'))
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
