import { parseDate } from '../calendar.ts'
import { assertPasses, fields, listOf } from '../check-options.ts'
import { toInstantMilliseconds } from '../duration.ts'
import type { Ids } from '../ids.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { MerchantOptions, SeedSubscription, SeedToken, SubscriptionsOptions } from './options.ts'
import { seedSubscription, seedToken } from './options.ts'
import { CYCLE_DAYS } from './schedule.ts'
import type { State, SubscriptionRecord } from './state.ts'
import type { Tokens } from './tokens.ts'

/** What seeds a mock of area S. */
export interface Seeding {
  /** Throws when one of the seeds is impossible; then none of them is to be made. */
  check(seeds: Seeds): void
  subscription(seed: SeedSubscription): SubscriptionRecord
  token(seed: SeedToken): void
}

/** What `add` takes. */
export interface Seeds {
  readonly subscriptions?: readonly SeedSubscription[] | undefined
  readonly tokens?: readonly SeedToken[] | undefined
}

interface SeedTimes {
  readonly created: number
  readonly authorized: number | undefined
}

const REQUEST_ID_LENGTH = 12

const seedsCheck = fields({}, { subscriptions: listOf(seedSubscription), tokens: listOf(seedToken) })

/** A day that has been checked. */
const dayOf = (text: string): number => parseDate(text) ?? 0

/** Makes what turns seeds into state. */
export const createSeeding = (parts: {
  readonly options: SubscriptionsOptions
  readonly ids: Ids
  readonly state: State
  readonly lifecycle: Lifecycle
  readonly tokens: Tokens
  readonly now: () => number
}): Seeding => {
  const { options, ids, state, lifecycle, tokens, now } = parts

  const merchantOf = (clientId: string | undefined): MerchantOptions => {
    const merchant = options.merchants.find((each) => clientId === undefined || each.clientId === clientId)
    if (merchant === undefined) throw new Error(`No merchant of the mock has the client id "${clientId}".`)
    return merchant
  }

  const userOf = ({
    clientId,
    username,
  }: SeedToken): { readonly clientId: string; readonly username: string } => {
    const merchant = merchantOf(clientId)
    const user = merchant.users.find((each) => username === undefined || each.username === username)
    if (user === undefined) {
      throw new Error(`The merchant "${merchant.clientId}" of the mock has no user "${username}".`)
    }
    return { clientId: merchant.clientId, username: user.username }
  }

  const refuseKnown = (
    kind: string,
    ids: readonly (string | undefined)[],
    find: (id: string) => unknown,
  ): void => {
    const given = ids.filter((id) => id !== undefined)
    const known = given.find((id, index) => find(id) !== undefined || given.indexOf(id) < index)
    if (known !== undefined) throw new Error(`The ${kind} "${known}" exists already.`)
  }

  /** When a seed was created, and when authorized; `undefined`: it has not been. */
  const timesOf = ({ createdAt, authorizedAt }: SeedSubscription): SeedTimes => {
    const given = authorizedAt === undefined || authorizedAt === false ? undefined : authorizedAt
    const authorized = given === undefined ? undefined : toInstantMilliseconds(given)
    const created =
      createdAt === undefined ? Math.min(now(), authorized ?? now()) : toInstantMilliseconds(createdAt)
    return { created, authorized: authorizedAt === false ? undefined : (authorized ?? created) }
  }

  const refuseOrder = (seed: SeedSubscription): void => {
    const { created, authorized = created } = timesOf(seed)
    if (created > now()) throw new RangeError('The createdAt of a seed must not be after the mock’s time.')
    if (authorized > now())
      throw new RangeError('The authorizedAt of a seed must not be after the mock’s time.')
    if (authorized < created)
      throw new RangeError('The authorizedAt of a seed must not be before its createdAt.')
  }

  return {
    check(seeds) {
      assertPasses('add: seeds', seeds, seedsCheck)
      const { subscriptions = [], tokens: seedTokens = [] } = seeds
      for (const seed of subscriptions) {
        const { request } = seed
        if (dayOf(request.end) < dayOf(request.start)) {
          throw new RangeError('The end of a seed must not be before its start.')
        }
        refuseOrder(seed)
        merchantOf(request.clientID)
      }
      for (const seed of seedTokens) userOf(seed)
      const invoiceIds = subscriptions.map(({ invoiceId }) => invoiceId)
      const subscriptionIds = subscriptions.map(({ subscriptionId }) => subscriptionId)
      refuseKnown('invoiceId', invoiceIds, state.byInvoice)
      refuseKnown('subscriptionId', subscriptionIds, state.bySubscription)
    },
    subscription(seed) {
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
    token(seed) {
      const { accessToken, refreshToken, expiresAt } = seed
      tokens.add(
        userOf(seed),
        accessToken,
        refreshToken,
        expiresAt === undefined ? undefined : toInstantMilliseconds(expiresAt),
      )
    },
  }
}
