import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { Server } from 'node:net'
import { onTestFinished } from 'vitest'
import { freePort, listen } from './listen.ts'

/** Opens a server of any protocol, which closes after the test, and returns its port. */
export const open = (server: Server): Promise<number> => {
  onTestFinished(async () => {
    server.close()
    if ('closeAllConnections' in server && typeof server.closeAllConnections === 'function')
      server.closeAllConnections()
    await once(server, 'close')
  })
  return listen(server)
}

/** Serves a listener of node:http until the test ends, and returns its address. */
export const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  // A busy client could reuse a connection at the moment at which the server closes it as idle.
  server.keepAliveTimeout = 0
  return `http://127.0.0.1:${await open(server)}`
}

/** An address where nothing listens. */
export const closedPort = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`
