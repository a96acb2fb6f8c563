import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks'
import { setupServer } from 'msw/node'
import { afterAll, test as base, beforeAll } from 'vitest'
import { createShop } from './shop.ts'

// Each test file has one `setupServer`. A request without a handler fails, so no test reaches a real server.
const network = setupServer()
beforeAll(() => network.listen({ onUnhandledFrame: 'error' }))
afterAll(() => network.close())

let mocks = 0

/**
 * Gives each test its own mock, clients and shop. Each mock has its own base URLs, so the tests of one file can
 * run at the same time.
 */
export const test = base
  .extend('mock', ({ task: _task }) => {
    mocks += 1
    const mock = createMock({
      clock: new Date('2027-01-01T06:00:00Z'),
      subscriptions: { baseUrl: `https://subscriptions-${mocks}.mandatekit.test` },
      gateway: { baseUrl: `https://gateway-${mocks}.mandatekit.test` },
    })
    network.use(...mock.handlers)
    return mock
  })
  .extend('subscriptions', ({ mock }) => new SubscriptionsClient(mock.clientOptions.subscriptions))
  .extend('gateway', ({ mock }) => new GatewayClient(mock.clientOptions.gateway))
  .extend('shop', ({ subscriptions, gateway }) => createShop(subscriptions, gateway))

export { network }
