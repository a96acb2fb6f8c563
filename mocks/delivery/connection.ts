import type { Check } from '../domain/check-options.ts'
import {
  anyText,
  assertPasses,
  fields,
  flag,
  length,
  listOf,
  oneOf,
  tableOf,
  text,
  wholeNumber,
} from '../domain/check-options.ts'
import type { Duration } from '../domain/duration.ts'
import { MINUTE, toMilliseconds } from '../domain/duration.ts'
import type { NotificationBody } from '../domain/subscriptions/types.ts'
import type { ReceiversOwnCalls } from './receivers-own-calls.ts'
import type { Sender, Sent } from './sender.ts'
import { createSender } from './sender.ts'
import type { DeliveryOptions, NotificationTarget, Signing } from './types.ts'

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

const DEFAULT_TRIES = 6
const DEFAULT_WAITS = [1, 5, 30, 120, 360].map((minutes) => minutes * MINUTE)

const probability: Check = (value) =>
  typeof value === 'boolean' || (typeof value === 'number' && value >= 0 && value <= 1)
    ? undefined
    : { at: '', must: 'true, false or a probability from 0 to 1', not: String(value), isType: true }

const delays: Check = (value) => {
  if (!Array.isArray(value)) return length(value)
  if (value.length !== 2)
    return { at: '', must: 'the shortest and the longest time', not: 'a list', isType: false }
  const found = listOf(length)(value)
  if (found !== undefined || toMilliseconds(value[0]) <= toMilliseconds(value[1])) return found
  return { at: '', must: 'the shortest and the longest time', not: 'the longest first', isType: false }
}

const tries: Check = (value) => {
  if (typeof value === 'boolean') return undefined
  if (typeof value === 'object') return fields({ tries: wholeNumber(1) }, { waits: listOf(length, 1) })(value)
  const found = wholeNumber(1)(value)
  return found && { ...found, must: 'true, false, how many tries there are, or { tries, waits }' }
}

const headerLines: Check = (value) => {
  const found = tableOf(anyText, anyText)(value)
  if (found !== undefined) return found
  try {
    new Headers(value as Record<string, string>)
    return undefined
  } catch {
    // The platform's words quote the value.
    return { at: '', must: 'names and values that a header can have', not: 'these', isType: true }
  }
}

const OPTIONS: { readonly [Name in keyof DeliveryOptions]-?: Check } = {
  duplicate: probability,
  shuffle: flag,
  spelling: oneOf('CANCELLED', 'CANCELED', 'both'),
  retries: tries,
  delay: delays,
  signing: fields({ secret: text }, {
    header: text,
    encoding: oneOf('hex', 'base64', 'base64url'),
    prefix: anyText,
  } satisfies {
    readonly [Name in Exclude<keyof Signing, 'secret'>]-?: Check
  }),
  method: oneOf('POST', 'PUT'),
  format: oneOf('json', 'form'),
  concurrency: wholeNumber(1),
  headers: headerLines,
}

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

/** Reads the options of a connection. Throws a TypeError or RangeError for what makes no sense. */
const createRules = (options: DeliveryOptions, random: () => number): ConnectionRules => {
  assertPasses('notifications.connect: options', options, fields({}, OPTIONS))
  const { duplicate = false, shuffle = false, spelling = 'CANCELLED', concurrency = 1 } = options
  const { tries: all, waits } = triesOf(options)
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
    waitAfter: (attempt) => (attempt < all ? (waits[Math.min(attempt, waits.length) - 1] ?? 0) : undefined),
  }
}

/** A queue of deliveries to one receiver. */
export interface Connection {
  readonly rules: ConnectionRules
  /** Delivers after what was added before. */
  add(deliveries: readonly Delivery[]): void
  /** Whether something waits or is under way. */
  busy(): boolean
  /** What is under way and what waits, in order. */
  pending(): readonly Delivery[]
  /** Forgets what waits, and what becomes of what is under way. */
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
    readonly ownCalls: ReceiversOwnCalls
  },
): Connection => {
  const rules = createRules(options, parts.random)
  const send: Sender = createSender(target, options, parts.ownCalls)
  let waiting: Delivery[] = []
  let underWay = new Set<Delivery>()

  const deliver = async (delivery: Delivery): Promise<void> => {
    const sent = await send(delivery.message)
    // One that was dropped in the meantime counts no more.
    if (!underWay.delete(delivery)) return
    parts.onSent(delivery, sent)
    pump()
  }

  const pump = (): void => {
    while (underWay.size < rules.concurrency) {
      const next = waiting.shift()
      if (next === undefined) return
      underWay.add(next)
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
    busy: () => underWay.size > 0 || waiting.length > 0,
    pending: () => [...underWay, ...waiting],
    drop() {
      waiting = []
      underWay = new Set()
    },
  }
}
