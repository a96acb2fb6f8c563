import type { RedisClient } from '../../src/stores/index.ts'

export interface Connection {
  readonly client: RedisClient
  /** Sends a command past the stores. */
  send(...command: string[]): Promise<unknown>
  close(): void
}

/** Connections of the two clients that the stores use, with their defaults. A process loads the one that it uses. */
export const connections: Readonly<Record<'node-redis' | 'ioredis', (url: string) => Promise<Connection>>> = {
  'node-redis': async (url) => {
    const { createClient } = await import('redis')
    const client = createClient({ url })
    client.on('error', () => undefined)
    // With a server that is down the promise waits until it is up: commands are queued meanwhile.
    void client.connect().catch(() => undefined)
    return { client, send: (...command) => client.sendCommand(command), close: () => client.destroy() }
  },
  ioredis: async (url) => {
    const { Redis } = await import('ioredis')
    const client = new Redis(url)
    client.on('error', () => undefined)
    const send = (name: string, ...parameters: string[]) => client.call(name, ...parameters)
    return { client, send, close: () => client.disconnect() }
  },
}
