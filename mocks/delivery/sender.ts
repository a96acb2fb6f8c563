import { deliveryTimeout } from '../domain/machine-time.ts'
import type { NotificationBody } from '../domain/subscriptions/types.ts'
import type { ReceiversOwnCalls } from './receivers-own-calls.ts'
import type { DeliveryOptions, NotificationTarget, Signing } from './types.ts'

const ENCODERS = {
  hex: (bytes: Uint8Array): string =>
    Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  base64: (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes)),
  base64url: (bytes: Uint8Array): string =>
    ENCODERS.base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
}

/** Makes the header that signs a body; no header without a secret. */
export const createSigner = (
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

/** How one try went. */
export interface Sent {
  readonly delivered: boolean
  readonly status?: number
  readonly error?: string
}

/** Sends one message, and never throws. */
export type Sender = (message: NotificationBody) => Promise<Sent>

/** Where a handler in this process is told that it stands. */
const HANDLER_URL = 'https://merchant.mandatekit.test/notifications'

const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

const CONTENT_TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' } as const

/** The text of an address, also of a URL of another realm; of what is none, nothing. */
const addressOf = (target: unknown): string => {
  const text = typeof target === 'object' && target !== null && 'href' in target ? target.href : target
  return typeof text === 'string' ? text : ''
}

/** The platform's own words, "fetch failed", leave the reason to the cause. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message !== '' ? `${error.message}: ${cause.message}` : error.message
}

/** Makes the sender of a target. Throws a TypeError when the target is neither a function nor an http(s) address. */
export const createSender = (
  target: NotificationTarget,
  options: DeliveryOptions,
  ownCalls: ReceiversOwnCalls,
): Sender => {
  const { method = 'POST', format = 'json', headers = {} } = options
  const sign = createSigner(options.signing)
  const handler = typeof target === 'function' ? target : undefined
  const url = handler === undefined ? addressOf(target) : HANDLER_URL
  if (!isHttpUrl(url)) {
    throw new TypeError('notifications.connect: the target is a handler or an http(s) address.')
  }

  return async (message) => {
    const body = format === 'json' ? JSON.stringify(message) : new URLSearchParams({ ...message }).toString()
    try {
      const init = {
        method,
        body,
        headers: { ...headers, 'Content-Type': CONTENT_TYPES[format], ...(await sign(body)) },
      }
      const response =
        handler === undefined
          ? await globalThis.fetch(url, { ...init, redirect: 'manual', signal: deliveryTimeout() })
          : await ownCalls.during(async () => handler(new Request(url, init)))
      // Written in JavaScript, a handler may give back anything.
      const { status }: { readonly status?: unknown } = response ?? {}
      if (typeof status !== 'number') throw new TypeError('The handler gave back no Response.')
      // The answer's body says nothing to us; read, it frees the connection.
      if (handler === undefined) await response.arrayBuffer()
      return { delivered: status >= 200 && status < 300, status }
    } catch (error) {
      return { delivered: false, error: reasonOf(error) }
    }
  }
}
