import type { PaymentScript } from '../api.ts'
import { parseDate } from '../calendar.ts'
import { toInstantMilliseconds } from '../duration.ts'
import type { Ids } from '../ids.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { MerchantOptions, SubscriptionsOptions } from './options.ts'
import { CYCLE_DAYS, isCycle } from './schedule.ts'
import type { SeedSubscription, SeedToken } from './seeds.ts'
import type { State, SubscriptionRecord } from './state.ts'
import type { Tokens } from './tokens.ts'

/** What seeds a mock of area S. */
export interface Seeding {
  subscription(seed: SeedSubscription): SubscriptionRecord
  token(seed: SeedToken): void
}

const REQUEST_ID_LENGTH = 12

const dayOf = (name: string, text: string): number => {
  const day = parseDate(text)
  if (day === undefined) throw new RangeError(`The ${name} of a seed is a day as YYYY-MM-DD, not "${text}".`)
  return day
}

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

  const refuseKnown = (kind: string, id: string | undefined, known: unknown): void => {
    if (id !== undefined && known !== undefined) throw new Error(`The ${kind} "${id}" exists already.`)
  }

  return {
    subscription({ request, invoiceId, subscriptionId, createdAt, authorizedAt, payments = [] }) {
      const { start, end, cycle, amount } = request
      const terms = { startDay: dayOf('start', start), endDay: dayOf('end', end), step: 0 }
      if (terms.endDay < terms.startDay) throw new RangeError('The end of a seed is not before its start.')
      if (!isCycle(cycle)) throw new RangeError(`The cycle of a seed is DAILY, WEEKLY or FIFTEEN_DAYS.`)
      if (!(Number(amount) > 0)) throw new RangeError('The amount of a seed is decimal text above zero.')
      refuseKnown('invoiceId', invoiceId, invoiceId && state.byInvoice(invoiceId))
      refuseKnown('subscriptionId', subscriptionId, subscriptionId && state.bySubscription(subscriptionId))
      const owner = merchantOf(request.clientID).clientId
      const created = createdAt === undefined ? now() : toInstantMilliseconds(createdAt)
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
        terms: { ...terms, step: CYCLE_DAYS[cycle] },
        createdAt: created,
        invoiceId,
        subscriptionId,
      })
      if (authorizedAt !== false) {
        const authorized = authorizedAt === undefined ? created : toInstantMilliseconds(authorizedAt)
        const script: readonly PaymentScript[] = payments
        lifecycle.backdate(record, script, authorized)
      }
      return record
    },
    token({ accessToken, refreshToken, clientId, username, expiresAt }) {
      const merchant = merchantOf(clientId)
      const user = username ?? merchant.users[0]?.username
      if (user === undefined) throw new Error(`The merchant "${merchant.clientId}" has no user.`)
      tokens.add(
        { clientId: merchant.clientId, username: user },
        accessToken,
        refreshToken,
        expiresAt === undefined ? undefined : toInstantMilliseconds(expiresAt),
      )
    },
  }
}
