import { type Duration, MINUTE, toMilliseconds } from '../domain/duration.ts'
import { check } from '../domain/fields.ts'
import type { NotificationBody } from '../subscriptions/billing.ts'
import { createSender, type Sent } from './sender.ts'
import { type DeliveryOptions, deliverySchema, type NotificationTarget, target } from './types.ts'

/** A message for one receiver, as plain data. */
export interface Delivery {
  readonly message: NotificationBody
  readonly attempt: number
}

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

/** A queue of deliveries to one receiver. */
export type Connection = ReturnType<typeof createConnection>

/**
 * Creates the queue of a receiver. Throws a TypeError if an option is wrong; the message names the option.
 *
 * @param onSent a function that is called after every attempt, before the next delivery starts
 */
export const createConnection = (
  receiver: NotificationTarget,
  given: DeliveryOptions,
  parts: {
    readonly random: () => number
    readonly onSent: (delivery: Delivery, sent: Sent) => void
    readonly isClockSlept: () => boolean
  },
) => {
  const options = check(deliverySchema, given, CALLER)
  const rules = createRules(options, parts.random)
  const send = createSender(check(target, receiver, CALLER, 'target'), options, parts.isClockSlept)
  let waiting: Delivery[] = []
  /** The deliveries in progress, each with the controller that aborts it. */
  let underWay = new Map<Delivery, AbortController>()

  const deliver = async (delivery: Delivery): Promise<void> => {
    const controller = new AbortController()
    underWay.set(delivery, controller)
    const sent = await send(delivery.message, controller.signal)
    // The delivery was dropped while it was in progress.
    if (!underWay.delete(delivery)) return
    parts.onSent(delivery, sent)
    pump()
  }

  const pump = (): void => {
    while (underWay.size < rules.concurrency) {
      const next = waiting.shift()
      if (next === undefined) return
      void deliver(next)
    }
  }

  const pending = (): readonly Delivery[] => [...underWay.keys(), ...waiting]

  /** Drops the waiting deliveries, and ignores the results of deliveries in progress. */
  const drop = (): void => {
    waiting = []
    underWay = new Map()
  }

  return {
    rules,
    options,
    /** The receiver's URL without the query, which may contain a secret. `undefined` for a function in this process. */
    to: typeof receiver === 'function' ? undefined : addressOf(new URL(receiver)),
    /** Adds deliveries to the end of the queue. */
    add(deliveries: readonly Delivery[]): void {
      waiting.push(...deliveries)
      // Starts in a microtask, so that the mock finishes the current change of its state before it calls the receiver.
      void Promise.resolve().then(pump)
    },
    /** Returns whether a delivery is waiting or in progress. */
    busy: (): boolean => underWay.size > 0 || waiting.length > 0,
    /** Returns the deliveries in progress, followed by the waiting deliveries, in order. */
    pending,
    drop,
    /** Aborts the deliveries in progress, and drops all deliveries. Returns the dropped deliveries, in order. */
    stop(): readonly Delivery[] {
      const stopped = pending()
      const controllers = [...underWay.values()]
      drop()
      for (const controller of controllers) controller.abort()
      return stopped
    },
  }
}
