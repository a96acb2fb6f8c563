import { DETAILS } from './bodies.ts'
import type { Script } from './scripted-server.ts'
import { skippingClock } from './skipping-clock.ts'

/** The time of the clients' clock. */
export const NOW = skippingClock().now()

export const httpDate = (time: number): string => new Date(time).toUTCString()

/** A response that leaves so many requests until a reset in so many seconds. It names no record, so it fits every read. */
export const limited = (remaining: number, seconds: number, now = NOW, limit = 100): Script => ({
  body: { ...DETAILS, id: 'NA' },
  headers: {
    date: httpDate(now),
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.floor(now / 1000) + seconds),
  },
})
