import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Opens a server on a free loopback port and returns the port. */
export const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A port on which nothing listens. */
export const freePort = async (): Promise<number> => {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, 'close')
  return port
}
