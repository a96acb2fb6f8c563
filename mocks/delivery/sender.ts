import { urlText } from '../../src/contract/fields.ts'
import type { NotificationBody } from '../subscriptions/billing.ts'
import { LateError, machineNow, withinRealTime } from '../time/machine.ts'
import type { DeliveryOptions, NotificationTarget, Signing } from './types.ts'

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
export type Sender = (message: NotificationBody, stop: AbortSignal) => Promise<Sent>

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
export const createSender = (
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
