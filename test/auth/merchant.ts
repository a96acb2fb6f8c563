import { createTokenAuthorizer } from '../../src/auth/token-authorizer.ts'
import type { TokenAuthorizerOptions } from '../../src/auth/token-options.ts'
import type { Clock } from '../../src/clock.ts'
import type { Token } from '../../src/contract/subscriptions.ts'
import { ApiError, AuthenticationError, ConnectionError, LockedOutError } from '../../src/errors.ts'

export const CREDENTIALS = {
  clientId: 'client-7',
  clientSecret: 'secret-of-the-client',
  username: 'merchant@shop.example',
  password: 'pass-word-of-the-merchant',
}

export type MerchantOptions = Partial<Omit<TokenAuthorizerOptions, 'baseUrl' | 'requestToken'>>

const errorOf = (status: number, body: { readonly errorCode?: string }, operation: string): ApiError => {
  const facts = {
    operation,
    phase: 'response',
    outcome: 'rejected',
    attempts: 1,
    retryable: false,
    status,
    errorCode: body.errorCode,
  } as const
  const message = `${operation}: HTTP ${status}`
  if (status === 401) return new AuthenticationError(message, facts)
  return status === 403 ? new LockedOutError(message, facts) : new ApiError(message, facts)
}

/** The token authorizer at work on real sockets: each call is one or two requests, as a transport makes them. */
export const createMerchant = (
  baseUrl: string,
  clock: Clock,
  options: MerchantOptions = {},
  fetch: typeof globalThis.fetch = globalThis.fetch,
) => {
  const post = async (path: string, body: unknown, authorization?: string) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: JSON.stringify(body),
    }).catch((cause: unknown) => {
      throw new ConnectionError('no answer', {
        operation: path,
        phase: 'request',
        outcome: 'unknown',
        attempts: 1,
        retryable: true,
        cause,
      })
    })
    const text = await response.text()
    const json = text.startsWith('{') ? (JSON.parse(text) as { errorCode?: string }) : {}
    return { status: response.status, json }
  }
  const authorizer = createTokenAuthorizer({
    credentials: CREDENTIALS,
    ...options,
    baseUrl,
    clock,
    requestToken: async (fields) => {
      const { status, json } = await post('/oauth/token', fields)
      if (status !== 200 || !('access_token' in json)) throw errorOf(status, json, 'subscriptions.login')
      return json as unknown as Token
    },
  })
  const details = async (signal?: AbortSignal): Promise<void> => {
    const context = { operation: 'subscriptions.details', signal }
    for (let repeated = false; ; repeated = true) {
      const authorization = await authorizer.authorize(context)
      const { status, json } = await post('/api/v1.0/subscription/sub-1', {}, authorization.header)
      if (status === 200) return
      if (status !== 401 || repeated || !(await authorizer.refused(authorization, context))) {
        throw errorOf(status, json, 'subscriptions.details')
      }
    }
  }
  return { authorizer, details, login: (signal?: AbortSignal) => authorizer.login(signal) }
}
