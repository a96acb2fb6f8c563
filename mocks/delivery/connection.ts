import type { NotificationBody } from '../domain/api.ts'
import type { Duration } from '../domain/duration.ts'
import { toMilliseconds } from '../domain/duration.ts'
import type { Sender, Sent } from './sender.ts'
import { createSender } from './sender.ts'
import type { DeliveryOptions, NotificationTarget } from './types.ts'

/** A message on its way to one receiver; plain data. */
export interface Delivery {
  readonly message: NotificationBody
  readonly attempt: number
}

/** The rules of a connection, made of its options. */
export interface ConnectionRules {
  readonly concurrency: number
  readonly shuffle: boolean
  /** The copies of a message that are delivered. */
  copies(message: NotificationBody): readonly NotificationBody[]
  /** Milliseconds from the event to its delivery. */
  delay(): number
  /** Milliseconds until the next try; `undefined` when there is none. */
  waitAfter(attempt: number): number | undefined
}

const MINUTE = 60_000
const DEFAULT_TRIES = 6
const DEFAULT_WAITS = [1, 5, 30, 120, 360].map((minutes) => minutes * MINUTE)

const NAMES = new Set([
  'duplicate',
  'shuffle',
  'spelling',
  'retries',
  'delay',
  'signing',
  'method',
  'format',
  'concurrency',
  'headers',
])

const isWhole = (value: number, from: number): boolean => Number.isSafeInteger(value) && value >= from

const fail = (message: string): never => {
  throw new TypeError(`notifications.connect: ${message}`)
}

const triesOf = ({ retries = false }: DeliveryOptions): { tries: number; waits: readonly number[] } => {
  if (typeof retries === 'boolean') return { tries: retries ? DEFAULT_TRIES : 1, waits: DEFAULT_WAITS }
  const { tries, waits = DEFAULT_WAITS } = typeof retries === 'number' ? { tries: retries } : retries
  if (!isWhole(tries, 1)) fail('retries counts all tries: a whole number from 1.')
  if (waits.length === 0) fail('retries.waits must hold a length of time.')
  return { tries, waits: waits.map(toMilliseconds) }
}

const isRange = (delay: NonNullable<DeliveryOptions['delay']>): delay is readonly [Duration, Duration] =>
  Array.isArray(delay)

const delayOf = ({ delay = 0 }: DeliveryOptions): readonly [number, number] => {
  const [shortest, longest] = isRange(delay) ? delay : [delay, delay]
  const range = [toMilliseconds(shortest), toMilliseconds(longest)] as const
  if (range[0] > range[1]) fail('delay names the shortest time first.')
  return range
}

/** Reads the options of a connection. Throws a TypeError for what makes no sense. */
const createRules = (options: DeliveryOptions, random: () => number): ConnectionRules => {
  const unknown = Object.keys(options).find((name) => !NAMES.has(name))
  if (unknown !== undefined) fail(`there is no option ${unknown}; there are ${[...NAMES].join(', ')}.`)
  const { duplicate = false, shuffle = false, spelling = 'CANCELLED', concurrency = 1 } = options
  if (typeof duplicate === 'number' && !(duplicate >= 0 && duplicate <= 1)) {
    fail('duplicate is true, false or a probability from 0 to 1.')
  }
  if (!['CANCELLED', 'CANCELED', 'both'].includes(spelling)) {
    fail('spelling is "CANCELLED", "CANCELED" or "both".')
  }
  if (!isWhole(concurrency, 1)) fail('concurrency is a whole number from 1.')
  const { tries, waits } = triesOf(options)
  const [shortest, longest] = delayOf(options)

  const spelled = (message: NotificationBody): NotificationBody => {
    if (message.status !== 'CANCELLED' || spelling === 'CANCELLED') return message
    if (spelling === 'both' && random() < 0.5) return message
    // The sample message of the specification spells it so; the type names the list's spelling alone.
    return { ...message, status: 'CANCELED' as NotificationBody['status'] }
  }

  return {
    concurrency,
    shuffle,
    copies(message) {
      const twice = typeof duplicate === 'number' ? random() < duplicate : duplicate
      return twice ? [spelled(message), spelled(message)] : [spelled(message)]
    },
    delay: () => (longest === shortest ? shortest : shortest + Math.round(random() * (longest - shortest))),
    waitAfter: (attempt) => (attempt < tries ? (waits[Math.min(attempt, waits.length) - 1] ?? 0) : undefined),
  }
}

/** A queue of deliveries to one receiver. */
export interface Connection {
  readonly rules: ConnectionRules
  /** Delivers after what was added before. */
  add(deliveries: readonly Delivery[]): void
  /** Whether something waits or is under way. */
  busy(): boolean
  /** Forgets what waits. */
  drop(): void
}

/**
 * Makes the queue of a receiver.
 *
 * @param onSent told of every try, before the receiver counts as idle
 */
export const createConnection = (
  target: NotificationTarget,
  options: DeliveryOptions,
  parts: {
    readonly random: () => number
    readonly onSent: (delivery: Delivery, sent: Sent) => void
  },
): Connection => {
  const rules = createRules(options, parts.random)
  const send: Sender = createSender(target, options)
  let waiting: Delivery[] = []
  let underWay = 0

  const deliver = async (delivery: Delivery): Promise<void> => {
    const sent = await send(delivery.message)
    underWay -= 1
    parts.onSent(delivery, sent)
    pump()
  }

  const pump = (): void => {
    while (underWay < rules.concurrency) {
      const next = waiting.shift()
      if (next === undefined) return
      underWay += 1
      void deliver(next)
    }
  }

  return {
    rules,
    add(deliveries) {
      waiting.push(...deliveries)
      // What happens now is complete before a receiver hears of it.
      void Promise.resolve().then(pump)
    },
    busy: () => underWay > 0 || waiting.length > 0,
    drop() {
      waiting = []
    },
  }
}
