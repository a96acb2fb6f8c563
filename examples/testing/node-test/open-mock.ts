import type { TestContext } from 'node:test'
import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import type { Mock } from 'mandatekit/mocks/core'
import { createMock } from 'mandatekit/mocks/core'
import { startMockServer } from 'mandatekit/mocks/server'

const newMock = (): Mock => createMock({ clock: new Date('2027-01-01T06:00:00Z') })

/** Makes a mock and clients that reach it without a socket. The test has nothing to close or reset. */
export const openMock = () => {
  const mock = newMock()
  const { clientOptions, fetch } = mock
  return {
    mock,
    subscriptions: new SubscriptionsClient({ ...clientOptions.subscriptions, fetch }),
    gateway: new GatewayClient({ ...clientOptions.gateway, fetch }),
  }
}

/** Makes the same behind a server on a free port, and closes it when the test ends. */
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
