import { check } from '../base/fields.ts'
import type { NotificationBody } from '../subscriptions/billing.ts'
import { type Duration, MINUTE, toMilliseconds } from '../time/duration.ts'
import { createSender, type Sent } from './sender.ts'
import { type DeliveryOptions, deliverySchema, type NotificationTarget, target } from './types.ts'

/** A message for one receiver, as plain data. */
export interface Delivery {
  readonly message: NotificationBody
  readonly attempt: number
}

/** The deliveries of one receiver, as plain data. */
export interface Queue {
  /** The deliveries in progress, followed by the waiting ones, in order. */
  readonly waiting: Delivery[]
  /** The deliveries that wait for `flush()`. */
  readonly held: Delivery[]
}

/** Returns an empty queue. */
export const newQueue = (): Queue => ({ waiting: [], held: [] })

const DEFAULT_TRIES = 6
const DEFAULT_WAITS = [1, 5, 30, 120, 360].map((minutes) => minutes * MINUTE)

const triesOf = ({ retries = false }: DeliveryOptions): { tries: number; waits: readonly number[] } => {
  if (typeof retries === 'boolean') return { tries: retries ? DEFAULT_TRIES : 1, waits: DEFAULT_WAITS }
  const { tries: all, waits = DEFAULT_WAITS } = typeof retries === 'number' ? { tries: retries } : retries
  return { tries: all, waits: waits.map(toMilliseconds) }
}

const isRange = (delay: NonNullable<DeliveryOptions['delay']>): delay is readonly [Duration, Duration] =>
  Array.isArray(delay)

const delayOf = ({ delay = 0 }: DeliveryOptions): readonly [number, number] => {
  const [shortest, longest] = isRange(delay) ? delay : [delay, delay]
  return [toMilliseconds(shortest), toMilliseconds(longest)]
}

const createRules = (options: DeliveryOptions, random: () => number) => {
  const { duplicate = false, shuffle = false, spelling = 'CANCELLED', concurrency = 1 } = options
  const { tries: all, waits } = triesOf(options)
  const [shortest, longest] = delayOf(options)

  const spelled = (message: NotificationBody): NotificationBody => {
    if (message.status !== 'CANCELLED' || spelling === 'CANCELLED') return message
    if (spelling === 'both' && random() < 0.5) return message
    // The specification's sample message has `CANCELED`, but its list of values has `CANCELLED`.
    return { ...message, status: 'CANCELED' as NotificationBody['status'] }
  }

  return {
    concurrency,
    shuffle,
    /** Returns one copy of a message, or two copies if the message is delivered twice. */
    copies(message: NotificationBody): readonly NotificationBody[] {
      const twice = typeof duplicate === 'number' ? random() < duplicate : duplicate
      return twice ? [spelled(message), spelled(message)] : [spelled(message)]
    },
    /** Returns the time from an event to its notification, in milliseconds. */
    delay: (): number =>
      longest === shortest ? shortest : shortest + Math.round(random() * (longest - shortest)),
    /** Returns how many milliseconds to wait before the next attempt. Returns `undefined` after the last attempt. */
    waitAfter: (attempt: number): number | undefined =>
      attempt < all ? (waits[Math.min(attempt, waits.length) - 1] ?? 0) : undefined,
  }
}

const addressOf = ({ protocol, host, pathname }: URL): string => `${protocol}//${host}${pathname}`

const CALLER = 'notifications.connect: '
const MAX_LATE = 2
const GIVEN_UP = `Not sent: in this move of the clock, the receiver did not respond in time to ${MAX_LATE} deliveries.`

/** The connection to one receiver. */
export type Connection = ReturnType<typeof createConnection>

/** Creates the connection to a receiver. Throws a TypeError if an option is wrong; the message names the option. */
export const createConnection = (
  receiver: NotificationTarget,
  given: DeliveryOptions,
  context: {
    /** Returns the receiver's current queue, which a reset or `restore` replaces. */
    readonly queue: () => Queue
    readonly random: () => number
    /** Called after every attempt, before the next delivery starts. */
    readonly onSent: (delivery: Delivery, sent: Sent) => void
    readonly isClockSlept: () => boolean
  },
) => {
  const { queue, random, onSent, isClockSlept } = context
  const options = check(deliverySchema, given, CALLER)
  const rules = createRules(options, random)
  const send = createSender(check(target, receiver, CALLER, 'target'), options, isClockSlept)
  /** The deliveries in progress, each with the controller that aborts it. */
  let running = new Map<Delivery, AbortController>()
  /** How many deliveries of the present move of the clock failed because the receiver did not respond in time. */
  let lateCount = 0
  let isClosed = false

  const deliver = async (delivery: Delivery): Promise<void> => {
    const controller = new AbortController()
    running.set(delivery, controller)
    const sent: Sent =
      lateCount < MAX_LATE
        ? await send(delivery.message, controller.signal)
        : {
            delivered: false,
            error: GIVEN_UP,
            headers: {},
            body: JSON.stringify(delivery.message),
            durationMs: 0,
          }
    // The delivery was dropped while it was in progress.
    if (!running.delete(delivery)) return
    const { waiting } = queue()
    waiting.splice(waiting.indexOf(delivery), 1)
    if (sent.isLate === true) lateCount += 1
    onSent(delivery, sent)
    pump()
  }

  const pump = (): void => {
    // The deliveries in progress are the first of the queue.
    while (!isClosed && running.size < rules.concurrency) {
      const next = queue().waiting.find((delivery) => !running.has(delivery))
      if (next === undefined) return
      void deliver(next)
    }
  }

  /** Ignores the results of the deliveries in progress. */
  const drop = (): void => {
    running = new Map()
    lateCount = 0
  }

  return {
    rules,
    options,
    /** The receiver's URL without the query, which may contain a secret. `undefined` for a function in this process. */
    to: typeof receiver === 'function' ? undefined : addressOf(new URL(receiver)),
    /** Adds deliveries to the end of the queue. */
    add(deliveries: readonly Delivery[]): void {
      queue().waiting.push(...deliveries)
      // Starts in a microtask, so that the mock finishes the current change of its state before it calls the receiver.
      void Promise.resolve().then(pump)
    },
    /** Returns whether a delivery is waiting or in progress. */
    busy: (): boolean => queue().waiting.length > 0,
    drop,
    /** Ends the connection: no delivery starts any more. */
    close(): void {
      isClosed = true
      drop()
    },
    moveBegins(): void {
      lateCount = 0
    },
    /** Aborts the deliveries in progress. All deliveries are held. */
    stop(): void {
      const { waiting, held } = queue()
      held.unshift(...waiting.splice(0))
      const controllers = [...running.values()]
      drop()
      for (const controller of controllers) controller.abort()
    },
  }
}
