import type { RateLimit } from '../errors.ts'
import type { AnswerHeaders } from './answer-headers.ts'

const WHOLE_NUMBER = /^\d{1,15}$/
// Between the years 2001 and 2286 a time in seconds has 10 digits, and a time in milliseconds has 13.
const SECONDS_DIGITS = 10
const MILLISECONDS_DIGITS = 13

const wholeNumber = (text: string | undefined): number | undefined => {
  const trimmed = text?.trim()
  return trimmed !== undefined && WHOLE_NUMBER.test(trimmed) ? Number(trimmed) : undefined
}

const resetTime = (text: string | undefined): Date | undefined => {
  const digits = text?.trim() ?? ''
  const value = wholeNumber(digits)
  if (value === undefined) return undefined
  if (digits.length === SECONDS_DIGITS) return new Date(value * 1000)
  return digits.length === MILLISECONDS_DIGITS ? new Date(value) : undefined
}

/**
 * Reads X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset (Limits, area S). What is missing or makes no
 * sense is left out; a reset in milliseconds is understood.
 */
export const readRateLimit = (headers: AnswerHeaders): RateLimit | undefined => {
  const limit = wholeNumber(headers['x-ratelimit-limit'])
  const remaining = wholeNumber(headers['x-ratelimit-remaining'])
  const resetAt = resetTime(headers['x-ratelimit-reset'])
  if (limit === undefined && remaining === undefined && resetAt === undefined) return undefined
  return {
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(resetAt !== undefined && { resetAt }),
  }
}
