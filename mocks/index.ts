import { type HttpHandler, http } from 'msw'
import { internalsOf } from './assemble.ts'
import { createMock as createCoreMock } from './core.ts'
import { createMswHandlers } from './msw.ts'
import type { MockOptions } from './options.ts'
import type { Mock as CoreMock } from './types.ts'

/** A mock of both APIs, with handlers for MSW. */
export interface Mock extends CoreMock {
  /** Handlers for `setupServer(...mock.handlers)` or `setupWorker(...mock.handlers)` of MSW 2.12 or 3. */
  readonly handlers: HttpHandler[]
}

/**
 * Creates a mock of both APIs, with one MSW handler for both base URLs. The handler ignores requests to other URLs.
 * Handlers that you pass to `server.use` take precedence.
 *
 * @throws TypeError if an option is unknown or invalid; the error lists the allowed options or values
 * @example
 * const mock = createMock()
 * const server = setupServer(...mock.handlers)
 */
export const createMock = (options: MockOptions = {}): Mock => {
  const mock = createCoreMock(options)
  const { handler, ownBases } = internalsOf(mock)
  return Object.assign(mock, { handlers: createMswHandlers(http, handler, ownBases) })
}

export type * from './core.ts'
export {
  behaviors,
  defaultMerchant,
  gatewayDefaults,
  gatewayHttpDefaults,
  MockRefusedError,
  mockDefaults,
  strictGatewayDefaults,
  strictSubscriptionsDefaults,
  subscriptionsDefaults,
  subscriptionsHttpDefaults,
  testNumbers,
} from './core.ts'
export type { Mock as CoreMock } from './types.ts'
