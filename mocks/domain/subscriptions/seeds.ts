import { dayNumber } from '../../../src/contract/formats.ts'
import { type PointInTime, toInstantMilliseconds } from '../duration.ts'
import type { Ids } from '../ids.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { MerchantOptions, SeedSubscription, Seeds, SeedToken, SubscriptionsOptions } from './options.ts'
import { CYCLE_DAYS } from './schedule.ts'
import type { State, SubscriptionRecord } from './state.ts'
import type { Tokens } from './tokens.ts'
import type { Merchant } from './types.ts'

const REQUEST_ID_LENGTH = 12

/** Returns the day number of a date, which must be a valid calendar date. */
const dayOf = (text: string): number => dayNumber(text) ?? 0

const instantOf = (time: PointInTime | undefined): number | undefined =>
  time === undefined ? undefined : toInstantMilliseconds(time)

const refuse = (message: string): never => {
  throw new RangeError(`Impossible seed: ${message}`)
}

/** Creates the functions that check seeds (initial subscriptions and tokens) and add them to the state. */
export const createSeeding = (parts: {
  readonly options: SubscriptionsOptions
  readonly ids: Ids
  readonly state: State
  readonly lifecycle: Lifecycle
  readonly tokens: Tokens
  readonly now: () => number
}) => {
  const { options, ids, state, lifecycle, tokens, now } = parts

  const merchantOf = (clientId: string | undefined): MerchantOptions =>
    options.merchants.find((each) => clientId === undefined || each.clientId === clientId) ??
    refuse(`no merchant has the client id "${clientId}"`)

  const userOf = ({ clientId, username }: SeedToken): Merchant => {
    const merchant = merchantOf(clientId)
    const user =
      merchant.users.find((each) => username === undefined || each.username === username) ??
      refuse(`the merchant "${merchant.clientId}" has no user "${username}"`)
    return { clientId: merchant.clientId, username: user.username }
  }

  /** Returns when a subscription was created and authorized. Without an authorization, `authorized` is undefined. */
  const timesOf = ({ createdAt, authorizedAt }: SeedSubscription) => {
    const given = authorizedAt === false ? undefined : instantOf(authorizedAt)
    const created = instantOf(createdAt) ?? Math.min(now(), given ?? now())
    return { created, authorized: authorizedAt === false ? undefined : (given ?? created) }
  }

  const checkOrder = (seed: SeedSubscription): void => {
    const { created, authorized = created } = timesOf(seed)
    if (created > now()) refuse('createdAt must not be after the mock’s time')
    if (authorized > now()) refuse('authorizedAt must not be after the mock’s time')
    if (authorized < created) refuse('authorizedAt must not be before createdAt')
  }

  const checkNew = (kind: 'invoiceId' | 'subscriptionId', seeds: readonly SeedSubscription[]): void => {
    const find = kind === 'invoiceId' ? state.byInvoice : state.bySubscription
    const ids = seeds.flatMap((seed) => seed[kind] ?? [])
    const known = ids.find((id, index) => find(id) !== undefined || ids.indexOf(id) < index)
    if (known !== undefined) refuse(`the ${kind} "${known}" exists already`)
  }

  return {
    /** Throws if a seed is impossible, such as an authorization in the future. Call `check` before you add any seed. */
    check({ subscriptions = [], tokens: seedTokens = [] }: Seeds): void {
      for (const seed of subscriptions) {
        checkOrder(seed)
        merchantOf(seed.request.clientID)
      }
      for (const seed of seedTokens) userOf(seed)
      checkNew('invoiceId', subscriptions)
      checkNew('subscriptionId', subscriptions)
    },
    subscription(seed: SeedSubscription): SubscriptionRecord {
      const { request, invoiceId, subscriptionId, payments = [] } = seed
      const { created, authorized } = timesOf(seed)
      const { start, end, cycle, amount } = request
      const terms = { startDay: dayOf(start), endDay: dayOf(end), step: CYCLE_DAYS[cycle] }
      const owner = merchantOf(request.clientID).clientId
      const record = lifecycle.create({
        owner,
        request: {
          clientID: owner,
          requestID: request.requestID ?? ids.text('seed-request', REQUEST_ID_LENGTH),
          start,
          end,
          userReturnURL: request.userReturnURL ?? 'https://merchant.example/return',
          cycle,
          amount,
        },
        terms,
        createdAt: created,
        invoiceId,
        subscriptionId,
      })
      if (authorized !== undefined) lifecycle.backdate(record, payments, authorized)
      return record
    },
    token(seed: SeedToken): void {
      tokens.add(userOf(seed), seed.accessToken, seed.refreshToken, instantOf(seed.expiresAt))
    },
  }
}
