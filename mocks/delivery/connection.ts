import { urlText } from '../../src/contract/fields.ts'
import { check, headers as headerSchema, withHeaders } from '../base/fields.ts'
import type { NotificationBody } from '../subscriptions/billing.ts'
import { type Duration, MINUTE, toMilliseconds } from '../time/duration.ts'
import { LateError, machineNow, withinRealTime } from '../time/machine.ts'
import {
  type DeliveryOptions,
  type DeliveryRecord,
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

const CALLER = 'notifications.connect: '

/** Returns a function that signs a body and returns the signature header. */
const createSigner = ({ secret, header = 'x-signature', encoding = 'hex', prefix = '' }: Signing) => {
  const encoder = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  check(headerSchema, { [header]: `${prefix}.` }, CALLER, 'signing')
  let key: Promise<CryptoKey> | undefined
  return async (body: string): Promise<Readonly<Record<string, string>>> => {
    key ??= crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign'])
    const signature = await crypto.subtle.sign('HMAC', await key, encoder.encode(body))
    return { [header]: `${prefix}${ENCODERS[encoding](new Uint8Array(signature))}` }
  }
}

/** The result of one delivery attempt. */
export interface Sent extends Omit<DeliveryRecord, 'notificationId' | 'attempt' | 'at' | 'to'> {
  /** Real time of the attempt, in milliseconds. */
  readonly durationMs: number
  /** True if the receiver exceeded the time limit. */
  readonly isLate?: boolean
}

/** The URL of the requests that a handler in this process receives. */
const HANDLER_URL = 'https://merchant.mandatekit.test/notifications'

/** How long a receiver may take to respond, in real time. */
const LIMITS = {
  handler: {
    milliseconds: 4_000,
    tooSlow:
      "The receiver did not respond within 4 s. A receiver that moves the mock's clock, or flushes, must respond first, because both wait for its response.",
  },
  url: { milliseconds: 10_000, tooSlow: 'The receiver did not respond within 10 s.' },
}

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

const post = async (url: string, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, { ...init, redirect: 'manual' })
  // An unread body would keep the connection busy.
  await response.arrayBuffer()
  return response
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

export const shuffled = (deliveries: readonly Delivery[], random: () => number): readonly Delivery[] =>
  deliveries
    .map((delivery) => ({ delivery, place: random() }))
    .sort((left, right) => left.place - right.place)
    .map(({ delivery }) => delivery)

const DEFAULT_ATTEMPTS = 6
const DEFAULT_DELAYS = [1, 5, 30, 120, 360].map((minutes) => minutes * MINUTE)

const isRange = (delay: NonNullable<DeliveryOptions['delay']>): delay is readonly [Duration, Duration] =>
  Array.isArray(delay)

/** Returns the options that decide what is delivered when, with their defaults. */
const readRules = ({
  duplicate = false,
  shuffle = false,
  spelling = 'CANCELLED',
  concurrency = 1,
  retries = false,
  delay = 0,
}: DeliveryOptions) => {
  const { attempts, delays = DEFAULT_DELAYS } =
    typeof retries === 'object' ? retries : { attempts: retries === true ? DEFAULT_ATTEMPTS : retries || 1 }
  const [shortest, longest] = isRange(delay) ? delay : [delay, delay]
  return {
    duplicate,
    shuffle,
    spelling,
    concurrency,
    attempts,
    delays: delays.map(toMilliseconds),
    shortest: toMilliseconds(shortest),
    longest: toMilliseconds(longest),
  }
}
type Rules = ReturnType<typeof readRules>

/** Returns the deliveries of a message to one receiver, each with its delay in milliseconds. */
export const deliveriesOf = (
  message: NotificationBody,
  { duplicate, spelling, shortest, longest }: Rules,
  random: () => number,
) => {
  const spelled = (copy: NotificationBody): NotificationBody => {
    if (copy.status !== 'CANCELLED' || spelling === 'CANCELLED') return copy
    if (spelling === 'both' && random() < 0.5) return copy
    // The specification's sample message has `CANCELED`, but its list of values has `CANCELLED`.
    return { ...copy, status: 'CANCELED' as NotificationBody['status'] }
  }
  const isTwice = typeof duplicate === 'number' ? random() < duplicate : duplicate
  const copies = (isTwice ? [message, message] : [message]).map(spelled)
  return copies.map((copy) => ({
    delivery: { message: copy, attempt: 1 },
    delay: longest === shortest ? shortest : shortest + Math.round(random() * (longest - shortest)),
  }))
}

const MAX_LATE = 2
const GIVEN_UP = `Not sent: in this move of the clock, the receiver did not respond in time to ${MAX_LATE} deliveries.`

/** The connection to one receiver. */
export type Connection = ReturnType<typeof createConnection>

/**
 * Creates the connection to a receiver. Throws a TypeError if an option is wrong; the message names the option.
 *
 * @param isClockSlept returns whether a `clock.sleep` is in progress; if so, a handler may take longer than 4 s
 */
export const createConnection = (
  number: number,
  receiver: NotificationTarget,
  given: DeliveryOptions,
  isClockSlept: () => boolean,
) => {
  const options = check(deliverySchema, given, CALLER)
  const handlerOrUrl = check(target, receiver, CALLER, 'target')
  const handler = typeof handlerOrUrl === 'function' ? handlerOrUrl : undefined
  const url = handler === undefined ? String(urlText(handlerOrUrl)) : HANDLER_URL
  const { protocol, host, pathname } = new URL(url)
  const { method = 'POST', format = 'json', signing } = options
  const sign = signing && createSigner(signing)
  const unsigned = withHeaders({ 'Content-Type': CONTENT_TYPES[format] }, options.headers ?? {})

  const { milliseconds, tooSlow } = handler === undefined ? LIMITS.url : LIMITS.handler
  const isPaused = (): boolean => handler !== undefined && isClockSlept()
  // A handler written in JavaScript may return a value that is not a Response.
  const respond = async (
    init: RequestInit,
    signal: AbortSignal,
  ): Promise<{ readonly status?: unknown } | undefined> =>
    handler === undefined ? post(url, { ...init, signal }) : handler(new Request(url, init))

  const connection = {
    /** The number of the connection, in the order of `connect`. */
    number,
    options,
    rules: readRules(options),
    /** The receiver's URL without the query, which may contain a secret. `undefined` for a function in this process. */
    to: handler === undefined ? `${protocol}//${host}${pathname}` : undefined,
    /** The deliveries in progress, each with the controller that aborts it. */
    running: new Map<Delivery, AbortController>(),
    /** How many deliveries of the present move of the clock failed because the receiver did not respond in time. */
    lateCount: 0,
    /** Sends one message; `stop` aborts the request. The promise never rejects: `error` has the reason of a failure. */
    async send(message: NotificationBody, stop: AbortSignal): Promise<Sent> {
      if (connection.lateCount >= MAX_LATE) {
        const body = JSON.stringify(message)
        return { delivered: false, error: GIVEN_UP, headers: {}, body, durationMs: 0 }
      }
      const startedAt = machineNow()
      const body = format === 'json' ? JSON.stringify(message) : String(new URLSearchParams({ ...message }))
      let headers = unsigned
      const ended = (result: Pick<Sent, 'delivered' | 'status' | 'error' | 'isLate'>): Sent => ({
        ...result,
        headers: withoutSecretValues(headers),
        body,
        durationMs: machineNow() - startedAt,
      })
      try {
        if (sign !== undefined) headers = withHeaders(headers, await sign(body))
        // The signal may have been aborted while the body was signed.
        stop.throwIfAborted()
        const init = { method, body, headers }
        const work = (signal: AbortSignal) => respond(init, signal)
        const { status } = (await withinRealTime(milliseconds, tooSlow, work, isPaused, stop)) ?? {}
        if (typeof status !== 'number') throw new TypeError('The handler returned no Response.')
        return ended({ delivered: status >= 200 && status < 300, status })
      } catch (error) {
        const failure = { delivered: false, error: reasonOf(error) }
        return ended(error instanceof LateError ? { ...failure, isLate: true } : failure)
      }
    },
  }
  return connection
}
