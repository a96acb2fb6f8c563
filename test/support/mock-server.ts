import { onTestFinished } from 'vitest'
import { type MockServer, type MockServerOptions, startMockServer } from '../../mocks/server.ts'

/** A server that is closed when the test ends. */
export const startServer = async (options: MockServerOptions = {}): Promise<MockServer> => {
  const server = await startMockServer(options)
  onTestFinished(() => server.close())
  return server
}
