import { createMock, type Mock, type MockOptions, testNumbers } from '../../mocks/core.ts'
import { type ClientOptions, GatewayClient, SubscriptionsClient } from '../../src/index.ts'
import { CHARGE_REQUEST, SUBSCRIPTION } from './bodies.ts'

/** A subscription that the mock accepts at the time of `openMock`. */
export const ORDER = { ...SUBSCRIPTION, requestID: 'order-1', end: '2027-06-30', cycle: 'DAILY' } as const

/** A charge that succeeds in the mock. */
export const MOCK_CHARGE = { ...CHARGE_REQUEST, msisdn: testNumbers.succeeds }

/** Both clients of a mock's own options, on its `fetch` unless another one is given. */
export const clientsOf = (
  mock: Mock,
  options: Partial<Omit<ClientOptions, 'baseUrl' | 'apiPrefix'>> = {},
) => ({
  subscriptions: new SubscriptionsClient({
    ...mock.clientOptions.subscriptions,
    fetch: mock.fetch,
    ...options,
  }),
  gateway: new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch, ...options }),
})

/** A mock at a fixed time, and its clients. */
export const openMock = (options: MockOptions = {}) => {
  const mock = createMock({ clock: '2026-12-01T06:00:00Z', ...options })
  return { mock, ...clientsOf(mock) }
}
