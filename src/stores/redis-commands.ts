import { withTimeout } from '../auth/timeout.ts'
import type { InputIssue } from '../errors.ts'
import { durationIssues } from '../transport/client-options.ts'
import { isFields, methodIssues, refuse, unless, whileReading } from '../transport/input-issues.ts'
import { storeOptionIssues } from './store-options.ts'

/** A client of the package `redis` (node-redis), or anything with its `sendCommand`. */
export interface NodeRedisClient {
  /** Sends a command, such as `['GET', 'key']`, and resolves to its reply. */
  sendCommand(command: readonly string[]): Promise<unknown>
}

/** A client of the package `ioredis`, or anything with its `call`. */
export interface IoredisClient {
  /** Sends a command, such as `call('GET', 'key')`, and resolves to its reply. */
  call(command: string, ...parameters: string[]): Promise<unknown>
}

/**
 * How a store speaks to Redis or Valkey: a connected client of node-redis or ioredis (also its `Cluster`), or a
 * function that sends one command, for pools, other clients and the cluster client of node-redis. Commands used: GET,
 * SET with PX, DEL, EVAL; each names the one key that is given beside it, so that a cluster can route it.
 *
 * @example createRedisDedupeStore((command, key) => cluster.sendCommand(key, false, [...command])) // node-redis
 */
export type RedisClient =
  | NodeRedisClient
  | IoredisClient
  | ((command: readonly string[], key: string) => Promise<unknown>)

/** Options of every store over Redis. */
export interface RedisOptions {
  /** Stands before every key. Default: `mandatekit:`. */
  readonly prefix?: string
  /**
   * Longest wait for one command, in milliseconds of real time. Default: 2 000. Clients queue commands while they
   * are disconnected, for as long as it takes: without a limit a call would wait with them.
   */
  readonly commandTimeout?: number
}

/** Sends one command and resolves to its reply. */
export type SendCommand = (...command: string[]) => Promise<unknown>

export const DEFAULT_PREFIX = 'mandatekit:'
const COMMAND_TIMEOUT = 2_000

const decoder = new TextDecoder()

// A client may be configured to reply with bytes.
const textOfBytes = (reply: unknown): unknown => (ArrayBuffer.isView(reply) ? decoder.decode(reply) : reply)

const keyOf = ([name, ...parameters]: readonly string[]): string =>
  (name === 'EVAL' ? parameters[2] : parameters[0]) ?? ''

const clientIssues = (client: unknown): InputIssue[] => {
  const hasMethod = ['call', 'sendCommand'].some(
    (name) => methodIssues('client', '', [name], client).length === 0,
  )
  const rule = 'a connected client of redis or ioredis, or a function that sends one command'
  return unless(typeof client === 'function' || hasMethod, 'client', rule, client)
}

const redisOptionIssues = (options: unknown, durations: readonly string[]): InputIssue[] => [
  ...storeOptionIssues(options, ['prefix', ...durations]),
  ...(isFields(options) ? durationIssues(options, durations) : []),
]

/** One way to send commands, whatever the client; `durations` are the names of the options that are times. */
export const sendCommandWith = (
  client: RedisClient,
  options: RedisOptions,
  durations: readonly string[] = ['commandTimeout'],
): SendCommand => {
  const limit = whileReading('stores.redis', 'client', () => {
    refuse('stores.redis', [...clientIssues(client), ...redisOptionIssues(options, durations)])
    return options.commandTimeout ?? COMMAND_TIMEOUT
  })
  const send = (command: readonly [string, ...string[]]): Promise<unknown> => {
    if (typeof client === 'function') return client(command, keyOf(command))
    // ioredis has a `sendCommand` too, of another kind.
    if ('call' in client) return client.call(...command)
    return client.sendCommand(command)
  }
  return async (name = '', ...parameters) =>
    textOfBytes(await withTimeout(send([name, ...parameters]), limit, `Redis ${name}`))
}
