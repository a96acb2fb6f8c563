import type { MockOptions, ReadOptions } from '../options.ts'
import { defaultMerchant, type MerchantOptions, type SeedToken } from '../subscriptions/options.ts'
import { type Decision, type Exchange, FOREVER, textOf } from './exchanges.ts'
import { gatewayDecisions } from './gateway-decisions.ts'
import { subscriptionDecisions } from './subscription-decisions.ts'

const UNKNOWN = 'unknown'

/** Returns the merchants and tokens with which the server accepted the recorded logins and calls. */
const credentialsOf = (exchanges: readonly Exchange[]) => {
  const merchants = new Map<string, { clientSecret: string; users: MerchantOptions['users'][number][] }>()
  const issued = new Set<string>()
  const tokens = new Map<string, SeedToken & { isRefused: boolean }>()
  const requests = exchanges.filter(
    ({ operation, succeeded }) => operation === 'subscriptions.subscribe' && succeeded,
  )
  for (const { operation, succeeded, fields, body, bearer, area, response, time } of exchanges) {
    if (operation === 'subscriptions.login' && succeeded) {
      issued.add(textOf(body, 'access_token'))
      if (fields.grant_type !== 'password') continue
      const merchant = merchants.get(textOf(fields, 'client_id'))
      const { clientSecret = textOf(fields, 'client_secret'), users = [] } = merchant ?? {}
      const [username, password] = [textOf(fields, 'username'), textOf(fields, 'password')]
      if (!users.some((user) => user.username === username)) users.push({ username, password })
      merchants.set(textOf(fields, 'client_id'), { clientSecret, users })
    } else if (area === 'subscriptions' && bearer !== '' && !issued.has(bearer)) {
      // The token was issued before the recordings began. It was valid until the first 401.
      const isRefused = response?.status === 401
      const known = tokens.get(bearer)
      if (known === undefined) tokens.set(bearer, { accessToken: bearer, expiresAt: FOREVER, isRefused })
      else if (isRefused && known.expiresAt === FOREVER) tokens.set(bearer, { ...known, expiresAt: time })
    }
  }
  for (const { fields } of requests) {
    const clientId = textOf(fields, 'clientID')
    const users = merchants.size === 0 ? [...defaultMerchant.users] : []
    if (!merchants.has(clientId)) merchants.set(clientId, { clientSecret: UNKNOWN, users })
  }
  const named = [...merchants].map(([clientId, merchant]) => ({ name: clientId, clientId, ...merchant }))
  const seeds = [...tokens.values()].flatMap(({ isRefused, ...token }) => (isRefused ? [] : [token]))
  return { merchants: named.length === 0 ? [defaultMerchant] : named, tokens: seeds }
}

/** Returns the options of the mock that replays the exchanges: the given options with the recorded credentials. */
export const replayOptions = (exchanges: readonly Exchange[], options: ReadOptions): MockOptions => {
  const keys = new Set<string>()
  const isKey = ({ area, bearer, response }: Exchange): boolean =>
    area === 'gateway' && bearer !== '' && ![undefined, 401, 429].includes(response?.status)
  for (const exchange of exchanges) if (isKey(exchange)) keys.add(exchange.bearer)
  return {
    ...options,
    clock: exchanges[0]?.time ?? 0,
    sleep: 'jump',
    rateLimitTime: 'mock',
    faults: [],
    subscriptions: { ...options.subscriptions, ...credentialsOf(exchanges), notify: [], existing: [] },
    gateway: { ...options.gateway, apiKeys: keys.size === 0 ? ['none'] : [...keys], charges: [] },
  }
}

/** Returns the one-time codes that the server accepted. A correct code for a settled charge gets 409 (row 77). */
export const acceptedCodes = (exchanges: readonly Exchange[]): readonly string[] =>
  exchanges.flatMap(({ operation, succeeded, fields, response }) =>
    operation === 'gateway.confirm' && (succeeded || response?.status === 409) ? [textOf(fields, 'otp')] : [],
  )

/** Infers what the payers did, in the order in which the mock has to do it. */
export const decisionsOf = (exchanges: readonly Exchange[], options: ReadOptions): readonly Decision[] =>
  [
    ...subscriptionDecisions(exchanges, options.subscriptions),
    ...gatewayDecisions(exchanges, options.gateway),
  ].sort((one, other) => one.time - other.time || one.before - other.before)
