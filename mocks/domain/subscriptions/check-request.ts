import type { SubscriptionRequestBody } from '../../../src/contract/subscriptions.ts'
import type { Calendar } from '../calendar.ts'
import { dateText, parseDate, parseTimeOfDay } from '../calendar.ts'
import type { Fields, Result } from '../result.ts'
import { accepted, invalid, refused } from '../result.ts'
import type { SubscriptionsOptions } from './options.ts'
import type { Terms } from './schedule.ts'
import { CYCLE_DAYS, isCycle } from './schedule.ts'
import type { Merchant } from './types.ts'

/** A subscription request that has passed its checks. */
export interface CheckedRequest {
  readonly request: SubscriptionRequestBody
  readonly terms: Terms
}

const REQUEST_FIELDS = [
  'clientID',
  'requestID',
  'start',
  'end',
  'userReturnURL',
  'cycle',
  'amount',
] as const satisfies readonly (keyof SubscriptionRequestBody)[]

/** Reads fields that must be text with something in it, and refuses others when the option says so (row 4). */
export const readTexts = <const Name extends string>(
  fields: Fields,
  names: readonly Name[],
  unknownFields: SubscriptionsOptions['unknownFields'],
): Result<Readonly<Record<Name, string>>> => {
  const texts: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (value === undefined || value === null) return invalid(name, `${name} is required.`)
    if (typeof value !== 'string') return invalid(name, `${name} must be a string.`)
    if (value.trim() === '') return invalid(name, `${name} must not be empty.`)
    texts[name] = value
  }
  const known: readonly string[] = names
  const unknown =
    unknownFields === 'refuse' ? Object.keys(fields).find((name) => !known.includes(name)) : undefined
  if (unknown !== undefined) {
    return invalid(
      unknown,
      'The request has a field that is not known.',
      'Option subscriptions.unknownFields is "refuse".',
    )
  }
  return accepted(texts as Record<Name, string>)
}

const ABSOLUTE_URL = /^([a-z][a-z\d+.-]*):\/\/[^\s\\]+$/i
// The payer's browser goes there: addresses that run or reveal something local are never a merchant's page.
const FORBIDDEN_SCHEMES = new Set(['javascript', 'data', 'vbscript', 'file', 'blob', 'about'])

const isReturnUrl = (text: string): boolean => {
  const scheme = ABSOLUTE_URL.exec(text)?.[1]?.toLowerCase()
  return scheme !== undefined && !FORBIDDEN_SCHEMES.has(scheme) && URL.canParse(text)
}

const amountProblem = (amount: string, pattern: RegExp): Result<never> | undefined => {
  // A pattern with the flag g would remember where it stopped.
  const matches = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(amount)
  if (matches && Number(amount) > 0 && Number.isFinite(Number(amount))) return undefined
  return invalid(
    'amount',
    'amount must be a decimal number above zero, written as a string.',
    `Option subscriptions.amountPattern is ${String(pattern)}; besides, the amount must be above zero.`,
  )
}

/** The rules of S1 and of the limits (rows 14 to 19), on a zone's calendar. */
export const createRequestCheck = (
  options: SubscriptionsOptions,
  calendar: Calendar,
  now: () => number,
): ((merchant: Merchant, fields: Fields) => Result<CheckedRequest>) => {
  const cutoff = options.startCutoff === false ? undefined : parseTimeOfDay(options.startCutoff)
  const { maxEnd, timeZone } = options

  const startProblem = (startDay: number, today: number): Result<never> | undefined => {
    if (startDay < today && options.pastStart === 'refuse') {
      return invalid(
        'start',
        'start must not be in the past.',
        `Today is ${dateText(today)} in ${timeZone}; option subscriptions.pastStart is "refuse".`,
      )
    }
    if (startDay === today && cutoff !== undefined && calendar.secondOfDayAt(now()) > cutoff) {
      return invalid(
        'start',
        `After ${options.startCutoff || ''} today cannot be the start date.`,
        `It is ${calendar.dateTimeText(now())} in ${timeZone} (options subscriptions.timeZone and startCutoff): the first possible start is ${dateText(today + 1)}.`,
      )
    }
    return undefined
  }

  const endProblem = (startDay: number, endDay: number, today: number): Result<never> | undefined => {
    if (endDay < startDay) return invalid('end', 'end must not be before start.')
    if (maxEnd === false) return undefined
    const lastDay = (maxEnd.from === 'start' ? startDay : today) + maxEnd.days
    if (endDay <= lastDay) return undefined
    return invalid(
      'end',
      `end must not be later than ${maxEnd.days} days.`,
      `Option subscriptions.maxEnd counts ${maxEnd.days} days from ${maxEnd.from}: the last possible end is ${dateText(lastDay)}.`,
    )
  }

  return (merchant, fields) => {
    const texts = readTexts(fields, REQUEST_FIELDS, options.unknownFields)
    if (!texts.ok) return texts
    const { clientID, requestID, start, end, userReturnURL, cycle, amount } = texts.value
    const startDay = parseDate(start)
    if (startDay === undefined) return invalid('start', 'start must be a day of the calendar as YYYY-MM-DD.')
    const endDay = parseDate(end)
    if (endDay === undefined) return invalid('end', 'end must be a day of the calendar as YYYY-MM-DD.')
    if (!isCycle(cycle)) return invalid('cycle', 'cycle must be one of DAILY, WEEKLY, FIFTEEN_DAYS.')
    if (!isReturnUrl(userReturnURL)) return invalid('userReturnURL', 'userReturnURL must be an absolute URL.')
    const today = calendar.dayAt(now())
    const problem =
      amountProblem(amount, options.amountPattern) ??
      startProblem(startDay, today) ??
      endProblem(startDay, endDay, today)
    if (problem !== undefined) return problem
    if (clientID !== merchant.clientId && options.clientMismatch === 'refuse') {
      return refused('client_mismatch', 'clientID is not the one that logged in.', {
        field: 'clientID',
        explanation: 'Option subscriptions.clientMismatch is "refuse".',
      })
    }
    return accepted({
      request: { clientID, requestID, start, end, userReturnURL, cycle, amount },
      terms: { startDay, endDay, step: CYCLE_DAYS[cycle] },
    })
  }
}
