import type { Duration } from '../domain/duration.ts'
import type { NotificationBody } from '../domain/subscriptions/types.ts'

/** A receiver in this process. */
export type NotificationReceiver = (request: Request) => Promise<Response> | Response

/** Where notifications go: a receiver in this process, or an address. */
export type NotificationTarget = NotificationReceiver | string | URL

/** How bodies are signed: HMAC-SHA256 over the raw bytes (row 46). */
export interface Signing {
  /** The key that you share with the receiver: text, its UTF-8 bytes are used. */
  readonly secret: string
  /** The header that carries the signature. Default: `x-signature`. */
  readonly header?: string
  /** How the signature's bytes are written. Default: `hex`. */
  readonly encoding?: 'hex' | 'base64' | 'base64url'
  /** Text before the signature, for example `sha256=`. Default: none. */
  readonly prefix?: string
}

/** How notifications are delivered. Nothing given: once, in order, at once, not signed. */
export interface DeliveryOptions {
  /** Delivers twice: always, or with this probability, from 0 to 1. Default: never. */
  readonly duplicate?: boolean | number
  /** Delivers in another order: messages wait for `flush()`, or for the end of a move of the clock. Default: in order. */
  readonly shuffle?: boolean
  /** How a cancellation is written (Events, note 1): `CANCELLED` (default), `CANCELED`, or now one, now the other. */
  readonly spelling?: 'CANCELLED' | 'CANCELED' | 'both'
  /**
   * Delivers again, on the mock's clock, what was not answered 2xx: `true` for six tries, or their number, or with
   * one's own waits (the last one repeats). Default: one try.
   */
  readonly retries?:
    | boolean
    | number
    | {
        /** How many tries there are, the first included: a whole number from 1. */
        readonly tries: number
        /** How long to wait after each try that failed. Default: 1, 5, 30, 120 and 360 minutes. */
        readonly waits?: readonly Duration[]
      }
  /** How much later than the event, on the mock's clock: a length of time, or the shortest and the longest. Default: 0. */
  readonly delay?: Duration | readonly [Duration, Duration]
  /** Signs the body. Default: no signature, as the specification shows none. */
  readonly signing?: Signing
  /** HTTP method of a delivery. Default: `POST`. */
  readonly method?: 'POST' | 'PUT'
  /** How the body is written: JSON, or form fields. Default: `json`. */
  readonly format?: 'json' | 'form'
  /** How many deliveries are under way at once. Default: 1. */
  readonly concurrency?: number
  /** Further headers. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
}

/** One try to deliver a notification. */
export interface DeliveryRecord {
  /** The notification that was sent (S8). */
  readonly notificationId: string
  /** Counts from 1. */
  readonly attempt: number
  /** The mock's time. */
  readonly at: Date
  /** Whether it was answered with a status from 200 to 299. */
  readonly delivered: boolean
  /** Absent when no answer came. */
  readonly status?: number
  /** What the receiver threw, or why it could not be reached. */
  readonly error?: string
}

/** The notifications of a mock: what arose, and where it goes. */
export interface Notifications {
  /** What arose, oldest first: copies of the messages as they are on the wire (S8). */
  all(): readonly NotificationBody[]
  /** The tries to deliver, oldest first. */
  deliveries(): readonly DeliveryRecord[]
  /** How many messages and tries were dropped because the list was full. */
  readonly dropped: number
  /** Forgets what arose; connections stay. */
  clear(): void
  /**
   * Delivers from now on to a handler or an address; the function given back ends it. A delivery that fails is
   * recorded and, with `retries`, repeated; it never makes the mock fail.
   *
   * A receiver must not move the clock, or flush, before it has answered: both wait for its answer. It is told so by an
   * error wherever the platform knows whose a call is (Node, Bun, Deno); elsewhere neither ends. Sleeping is fine.
   *
   * Throws a TypeError or RangeError for options that cannot be.
   */
  connect(target: NotificationTarget, options?: DeliveryOptions): () => void
  /** Resolves when everything that is due by now is delivered. */
  flush(): Promise<void>
}
