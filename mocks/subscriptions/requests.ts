import { CYCLES, dayNumber, isAbsoluteUrl } from '../../src/contract/formats.ts'
import { type Fields, invalid, ok, type Result, refused } from '../base/result.ts'
import { dateText, parseTimeOfDay } from '../time/calendar.ts'
import { type PointInTime, toInstantMilliseconds } from '../time/duration.ts'
import type { AreaContext, NewRequest } from './billing.ts'
import type { SeedSubscription, Seeds, SeedToken, SubscriptionsOptions } from './options.ts'
import type { Merchant, SubscriptionsState } from './state.ts'

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
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(texts, name))
  if (unknown === undefined || unknownFields === 'ignore') return ok(texts as Record<Name, string>)
  const explanation = 'Option subscriptions.unknownFields is "refuse".'
  return invalid(unknown, 'The request has an unknown field.', explanation)
}

const REQUEST_FIELDS = ['clientID', 'requestID', 'start', 'end', 'userReturnURL', 'cycle', 'amount'] as const

/** Creates the function that reads a subscription request and checks it against S1 and the limits (rows 14 to 21). */
export const createRequestReader = ({ options, schedule: { calendar }, agenda: { now } }: AreaContext) => {
  const { timeZone, startCutoff, maxEnd, merchants } = options
  const cutoff = parseTimeOfDay(startCutoff || '') ?? Number.POSITIVE_INFINITY
  // With flag g or y, `test` would start where the previous match ended, so the mock removes both flags.
  const { source, flags } = new RegExp(options.amountPattern)
  const amountPattern = new RegExp(source, flags.replace(/[gy]/g, ''))
  const isAmount = (text: string): boolean =>
    amountPattern.test(text) && Number(text) > 0 && Number.isFinite(Number(text))
  const mismatch = (message: string, explanation: string): Result<never> =>
    refused('client_mismatch', message, { field: 'clientID', explanation })

  return ({ clientId: owner }: Merchant, fields: Fields): Result<NewRequest> => {
    const texts = readTexts(fields, REQUEST_FIELDS, options.unknownFields)
    if (!texts.ok) return texts
    const { clientID, start, end, userReturnURL, amount } = texts.value
    const createdAt = now()
    const today = calendar.dayAt(createdAt)
    const [startDay, endDay] = [dayNumber(start), dayNumber(end)]
    const cycle = CYCLES.find((known) => known === texts.value.cycle)
    if (startDay === undefined) return invalid('start', 'start must be a calendar date as YYYY-MM-DD.')
    if (endDay === undefined) return invalid('end', 'end must be a calendar date as YYYY-MM-DD.')
    if (cycle === undefined) return invalid('cycle', `cycle must be one of ${CYCLES.join(', ')}.`)
    if (!isAbsoluteUrl(userReturnURL))
      return invalid('userReturnURL', 'userReturnURL must be an absolute URL.')
    if (!isAmount(amount)) {
      return invalid(
        'amount',
        'amount must be a decimal number above zero such as "25.00", written as a string.',
        `Option subscriptions.amountPattern is ${String(options.amountPattern)}; the amount must also be above zero.`,
      )
    }
    if (startDay < today && options.pastStart === 'refuse') {
      return invalid(
        'start',
        'start must not be in the past.',
        `Today is ${dateText(today)} in ${timeZone}; option subscriptions.pastStart is "refuse".`,
      )
    }
    if (startDay === today && calendar.secondOfDayAt(createdAt) > cutoff) {
      return invalid(
        'start',
        `start must be later than today, because it is after ${startCutoff}.`,
        `It is ${calendar.dateTimeText(createdAt)} in ${timeZone} (option subscriptions.timeZone), later than option subscriptions.startCutoff: the first possible start is ${dateText(today + 1)}.`,
      )
    }
    if (endDay < startDay) return invalid('end', 'end must not be before start.')
    if (maxEnd !== false) {
      const lastDay = (maxEnd.from === 'start' ? startDay : today) + maxEnd.days
      const limit = `${maxEnd.days} days after ${maxEnd.from}`
      if (endDay > lastDay) {
        return invalid(
          'end',
          `end must be at most ${limit}.`,
          `Option subscriptions.maxEnd allows ${limit}: the last possible end is ${dateText(lastDay)}.`,
        )
      }
    }
    if (!merchants.some(({ clientId }) => clientId === clientID)) {
      const explanation = 'No merchant of option subscriptions.merchants has this clientId.'
      return mismatch('clientID was not issued.', explanation)
    }
    if (clientID !== owner && options.clientMismatch === 'refuse') {
      const explanation = 'Option subscriptions.clientMismatch is "refuse".'
      return mismatch('clientID differs from the client that logged in.', explanation)
    }
    return ok({ owner, request: { ...texts.value, cycle }, createdAt })
  }
}

const refuse = (message: string): never => {
  throw new RangeError(`Impossible seed: ${message}`)
}

const instantOf = (time: PointInTime | undefined): number | undefined =>
  time === undefined ? undefined : toInstantMilliseconds(time)

/** Reads seeds: subscriptions and tokens that exist without API calls. Throws if one of them is impossible. */
export const readSeeds = (
  { subscriptions = [], tokens = [] }: Seeds,
  { merchants }: SubscriptionsOptions,
  { byInvoice, bySubscription }: SubscriptionsState,
  now: number,
) => {
  const merchantOf = (clientId: string | undefined) =>
    merchants.find((each) => clientId === undefined || each.clientId === clientId) ??
    refuse(`no merchant has the client id "${clientId}"`)

  const readSubscription = ({
    request,
    invoiceId,
    subscriptionId,
    payments = [],
    ...times
  }: SeedSubscription) => {
    const given = times.authorizedAt === false ? undefined : instantOf(times.authorizedAt)
    const createdAt = instantOf(times.createdAt) ?? Math.min(now, given ?? now)
    const authorizedAt = times.authorizedAt === false ? undefined : (given ?? createdAt)
    if (createdAt > now) refuse('createdAt must not be after the mock’s time')
    if (authorizedAt !== undefined && authorizedAt > now)
      refuse('authorizedAt must not be after the mock’s time')
    if (authorizedAt !== undefined && authorizedAt < createdAt) {
      refuse('authorizedAt must not be before createdAt')
    }
    const owner = merchantOf(request.clientID).clientId
    return { owner, request, createdAt, invoiceId, subscriptionId, authorizedAt, payments }
  }

  const readToken = ({ accessToken, refreshToken, clientId, username, expiresAt }: SeedToken) => {
    const merchant = merchantOf(clientId)
    const user =
      merchant.users.find((each) => username === undefined || each.username === username) ??
      refuse(`the merchant "${merchant.clientId}" has no user "${username}"`)
    const owner = { clientId: merchant.clientId, username: user.username }
    return { owner, accessToken, refreshToken, expiresAt: instantOf(expiresAt) }
  }

  const seeds = { subscriptions: subscriptions.map(readSubscription), tokens: tokens.map(readToken) }
  for (const [kind, taken] of [
    ['invoiceId', byInvoice],
    ['subscriptionId', bySubscription],
  ] as const) {
    const ids = subscriptions.map((one) => one[kind])
    const twice = ids.find((id, index) => id !== undefined && (taken.has(id) || ids.indexOf(id) < index))
    if (twice !== undefined) refuse(`the ${kind} "${twice}" exists already`)
  }
  return seeds
}
