import { Redis } from 'ioredis'
import { createClient } from 'redis'
import type { RedisClient } from '../../src/stores/redis-commands.ts'

export interface Connection {
  readonly client: RedisClient
  close(): void
}

/** Connections of the two clients that the stores speak through, with their defaults. */
export const connections: Readonly<Record<'node-redis' | 'ioredis', (url: string) => Promise<Connection>>> = {
  'node-redis': async (url) => {
    const client = createClient({ url })
    client.on('error', () => undefined)
    // With a server that is down the promise waits until it is up: commands are queued meanwhile.
    void client.connect().catch(() => undefined)
    return { client, close: () => client.destroy() }
  },
  ioredis: async (url) => {
    const client = new Redis(url)
    client.on('error', () => undefined)
    return { client, close: () => client.disconnect() }
  },
}
