import { CYCLES, dayNumber, isAbsoluteUrl } from '../../../src/contract/formats.ts'
import type { SubscriptionRequestBody } from '../../../src/contract/subscriptions.ts'
import { type Calendar, dateText, parseTimeOfDay } from '../calendar.ts'
import { accepted, type Fields, invalid, type Result, refused } from '../result.ts'
import type { SubscriptionsOptions } from './options.ts'
import { CYCLE_DAYS, type Terms } from './schedule.ts'
import type { Merchant } from './types.ts'

const REQUEST_FIELDS = [
  'clientID',
  'requestID',
  'start',
  'end',
  'userReturnURL',
  'cycle',
  'amount',
] as const satisfies readonly (keyof SubscriptionRequestBody)[]

/** Reads fields that must be non-empty text. Refuses unknown fields if `unknownFields` is `refuse` (row 4). */
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
      'The request has an unknown field.',
      'Option subscriptions.unknownFields is "refuse".',
    )
  }
  return accepted(texts as Record<Name, string>)
}

/** Returns a function that checks a subscription request against S1 and the limits (rows 14 to 19). */
export const createRequestCheck = (options: SubscriptionsOptions, calendar: Calendar, now: () => number) => {
  const cutoff = options.startCutoff === false ? undefined : parseTimeOfDay(options.startCutoff)
  const { maxEnd, timeZone } = options
  // With flag g or y, `test` would start where the previous match ended, so the mock removes both flags.
  const amountPattern = new RegExp(
    options.amountPattern.source,
    options.amountPattern.flags.replace(/[gy]/g, ''),
  )

  const amountProblem = (amount: string): Result<never> | undefined => {
    if (amountPattern.test(amount) && Number(amount) > 0 && Number.isFinite(Number(amount))) return undefined
    return invalid(
      'amount',
      'amount must be a decimal number above zero, written as a string.',
      `Option subscriptions.amountPattern is ${String(options.amountPattern)}; the amount must also be above zero.`,
    )
  }

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
        `It is ${calendar.dateTimeText(now())} in ${timeZone} (option subscriptions.timeZone), later than option subscriptions.startCutoff: the first possible start is ${dateText(today + 1)}.`,
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
      `end must be at most ${maxEnd.days} days after ${maxEnd.from}.`,
      `Option subscriptions.maxEnd allows ${maxEnd.days} days after ${maxEnd.from}: the last possible end is ${dateText(lastDay)}.`,
    )
  }

  return (
    merchant: Merchant,
    fields: Fields,
  ): Result<{ readonly request: SubscriptionRequestBody; readonly terms: Terms }> => {
    const texts = readTexts(fields, REQUEST_FIELDS, options.unknownFields)
    if (!texts.ok) return texts
    const { clientID, requestID, start, end, userReturnURL, amount } = texts.value
    const startDay = dayNumber(start)
    if (startDay === undefined) return invalid('start', 'start must be a calendar date as YYYY-MM-DD.')
    const endDay = dayNumber(end)
    if (endDay === undefined) return invalid('end', 'end must be a calendar date as YYYY-MM-DD.')
    const cycle = CYCLES.find((known) => known === texts.value.cycle)
    if (cycle === undefined) return invalid('cycle', `cycle must be one of ${CYCLES.join(', ')}.`)
    if (!isAbsoluteUrl(userReturnURL)) {
      return invalid('userReturnURL', 'userReturnURL must be an absolute URL.')
    }
    const today = calendar.dayAt(now())
    const problem =
      amountProblem(amount) ?? startProblem(startDay, today) ?? endProblem(startDay, endDay, today)
    if (problem !== undefined) return problem
    if (!options.merchants.some(({ clientId }) => clientId === clientID)) {
      return refused('client_mismatch', 'clientID was not issued.', {
        field: 'clientID',
        explanation: 'No merchant of option subscriptions.merchants has this clientId.',
      })
    }
    if (clientID !== merchant.clientId && options.clientMismatch === 'refuse') {
      return refused('client_mismatch', 'clientID differs from the client that logged in.', {
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
