import { urlText } from '../../src/contract/fields.ts'
import { check } from '../base/fields.ts'
import type { NotificationBody } from '../subscriptions/billing.ts'
import { type Duration, MINUTE, toMilliseconds } from '../time/duration.ts'
import { LateError, machineNow, withinRealTime } from '../time/machine.ts'
import {
  type DeliveryOptions,
  deliverySchema,
  type NotificationTarget,
  type Signing,
  target,
} from './types.ts'

const ENCODERS = {
  hex: (bytes: Uint8Array): string =>
    Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  base64: (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes)),
  base64url: (bytes: Uint8Array): string =>
    ENCODERS.base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
}

/** Returns a function that signs a body and returns the signature header. */
const createSigner = (
  signing: Signing | undefined,
): ((body: string) => Promise<Readonly<Record<string, string>>>) => {
  if (signing === undefined) return async () => ({})
  const { secret, header = 'x-signature', encoding = 'hex', prefix = '' } = signing
  const encoder = new TextEncoder()
  let key: Promise<CryptoKey> | undefined
  return async (body) => {
    key ??= crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
      'sign',
    ])
    const signature = await crypto.subtle.sign('HMAC', await key, encoder.encode(body))
    return { [header]: `${prefix}${ENCODERS[encoding](new Uint8Array(signature))}` }
  }
}

/** The result of one delivery attempt. */
export interface Sent {
  readonly delivered: boolean
  readonly status?: number
  readonly error?: string
  /** Headers of the request, without secrets. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Real time of the attempt, in milliseconds. */
  readonly durationMs: number
  /** True if the receiver exceeded the time limit. */
  readonly isLate?: boolean
}

/** Sends one message; `stop` aborts the request. The promise never rejects: `error` has the reason of a failure. */
type Sender = (message: NotificationBody, stop: AbortSignal) => Promise<Sent>

/** The URL of the requests that a handler in this process receives. */
const HANDLER_URL = 'https://merchant.mandatekit.test/notifications'

const HANDLER_LIMIT_MS = 4_000
const HANDLER_TOO_SLOW =
  "The receiver did not respond within 4 s. A receiver that moves the mock's clock, or flushes, must respond first, because both wait for its response."
const URL_LIMIT_MS = 10_000
const URL_TOO_SLOW = 'The receiver did not respond within 10 s.'

const CONTENT_TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' } as const

const SECRET_HEADER = /auth|cookie|key|pass|secret|token/i

const withoutSecretValues = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET_HEADER.test(name) ? '[redacted]' : value]),
  )

/** Returns the messages of an error and its cause, because Node's message "fetch failed" does not state the cause. */
const messagesOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message !== '' ? `${error.message}: ${cause.message}` : error.message
}

/** Returns the reason of a failure. Hides every URL, because its query may contain a secret. */
const reasonOf = (error: unknown): string => messagesOf(error).replace(/\bhttps?:[^\s"'<>]+/gi, '[URL]')

/**
 * Creates the function that sends messages to a target.
 *
 * @param isClockSlept returns whether a `clock.sleep` is in progress; if so, a handler may take longer than 4 s
 */
const createSender = (
  target: NotificationTarget,
  options: DeliveryOptions,
  isClockSlept: () => boolean,
): Sender => {
  const { method = 'POST', format = 'json', headers = {} } = options
  const sign = createSigner(options.signing)
  const handler = typeof target === 'function' ? target : undefined
  const url = handler === undefined ? String(urlText(target)) : HANDLER_URL

  const respond = async (
    init: RequestInit,
    stop: AbortSignal,
  ): Promise<{ readonly status?: unknown } | undefined> => {
    // The signal may have been aborted while the body was signed.
    stop.throwIfAborted()
    if (handler !== undefined) {
      return withinRealTime(
        HANDLER_LIMIT_MS,
        HANDLER_TOO_SLOW,
        async () => handler(new Request(url, init)),
        isClockSlept,
        stop,
      )
    }
    const call = async (signal: AbortSignal): Promise<Response> => {
      const response = await fetch(url, { ...init, redirect: 'manual', signal })
      // An unread body would keep the connection busy.
      await response.arrayBuffer()
      return response
    }
    return withinRealTime(URL_LIMIT_MS, URL_TOO_SLOW, call, undefined, stop)
  }

  return async (message, stop) => {
    const startedAt = machineNow()
    const durationMs = (): number => machineNow() - startedAt
    const body = format === 'json' ? JSON.stringify(message) : new URLSearchParams({ ...message }).toString()
    const unsigned = { ...headers, 'Content-Type': CONTENT_TYPES[format] }
    let request = { headers: withoutSecretValues(unsigned), body }
    try {
      const signed = { ...unsigned, ...(await sign(body)) }
      request = { headers: withoutSecretValues(signed), body }
      const response = await respond({ method, body, headers: signed }, stop)
      // A handler written in JavaScript may return a value that is not a Response.
      const { status } = response ?? {}
      if (typeof status !== 'number') throw new TypeError('The handler returned no Response.')
      return { delivered: status >= 200 && status < 300, status, ...request, durationMs: durationMs() }
    } catch (error) {
      const isLate = error instanceof LateError
      const failure = { delivered: false, error: reasonOf(error), ...request, durationMs: durationMs() }
      return { ...failure, ...(isLate && { isLate }) }
    }
  }
}

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

const DEFAULT_ATTEMPTS = 6
const DEFAULT_DELAYS = [1, 5, 30, 120, 360].map((minutes) => minutes * MINUTE)

const attemptsOf = ({
  retries = false,
}: DeliveryOptions): { attempts: number; delays: readonly number[] } => {
  if (typeof retries === 'boolean')
    return { attempts: retries ? DEFAULT_ATTEMPTS : 1, delays: DEFAULT_DELAYS }
  const { attempts: all, delays = DEFAULT_DELAYS } =
    typeof retries === 'number' ? { attempts: retries } : retries
  return { attempts: all, delays: delays.map(toMilliseconds) }
}

const isRange = (delay: NonNullable<DeliveryOptions['delay']>): delay is readonly [Duration, Duration] =>
  Array.isArray(delay)

const delayOf = ({ delay = 0 }: DeliveryOptions): readonly [number, number] => {
  const [shortest, longest] = isRange(delay) ? delay : [delay, delay]
  return [toMilliseconds(shortest), toMilliseconds(longest)]
}

const createRules = (options: DeliveryOptions, random: () => number) => {
  const { duplicate = false, shuffle = false, spelling = 'CANCELLED', concurrency = 1 } = options
  const { attempts: all, delays } = attemptsOf(options)
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
      attempt < all ? (delays[Math.min(attempt, delays.length) - 1] ?? 0) : undefined,
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
