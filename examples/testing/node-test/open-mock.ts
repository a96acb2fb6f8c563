import type { TestContext } from 'node:test'
import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { createMock, type Mock } from 'mandatekit/mocks/core'
import { startMockServer } from 'mandatekit/mocks/server'

const newMock = (): Mock => createMock({ clock: new Date('2027-01-01T06:00:00Z') })

/** Creates a mock, and clients that call the mock without a socket. The test does not have to close anything. */
export const openMock = () => {
  const mock = newMock()
  const { clientOptions, fetch } = mock
  return {
    mock,
    subscriptions: new SubscriptionsClient({ ...clientOptions.subscriptions, fetch }),
    gateway: new GatewayClient({ ...clientOptions.gateway, fetch }),
  }
}

/** Starts a mock server on a free port, and creates clients for it. Closes the server when the test ends. */
export const openServer = async (test: TestContext) => {
  const server = await startMockServer({ mock: newMock() })
  test.after(() => server.close())
  const { clientOptions } = server.mock
  return {
    ...server,
    subscriptions: new SubscriptionsClient(clientOptions.subscriptions),
    gateway: new GatewayClient(clientOptions.gateway),
  }
}
