import { type BehaviorName, behaviors, testNumberTable } from '../gateway/behaviors.ts'
import { gatewayDefaults, type RollingLimit } from '../gateway/options.ts'
import type { MockOptions } from '../options.ts'
import { API_PAGE_PATH, PANEL_PATH } from '../panel/access.ts'
import { defaultMerchant, subscriptionsDefaults } from '../subscriptions/options.ts'

/** Returns whether the mock's clock is frozen. */
const isFrozen = ({ clock = 'system' }: MockOptions): boolean => clock !== 'system'

/** The values that the greeting prints. */
export interface Started {
  readonly url: string
  readonly version: string
  readonly publicUrl: string | undefined
  /** The options of the mock. */
  readonly options: MockOptions
  /** The path of the options file. */
  readonly config: string | undefined
  /** The path of the state file. */
  readonly state: string | undefined
  /** The mock's time. */
  readonly now: number
  readonly panel: boolean
  readonly isLocal: boolean
}

type Line = readonly [name: string, value: string]

const section = (title: string, lines: readonly Line[]): string => {
  const width = Math.max(...lines.map(([name]) => name.length))
  const rows = lines.map(([name, value]) => {
    // Text from the options file may contain control characters, which would move the terminal's cursor.
    const printable = value.replace(/\p{Cc}/gu, '?')
    return `  ${name.padEnd(width)}  ${printable}`
  })
  return [title, ...rows].join('\n')
}

const clockOf = ({ options, now, panel }: Started): string => {
  if (!isFrozen(options)) return 'follows this machine'
  const time = new Date(now).toISOString()
  return panel
    ? `frozen at ${time}: payments, expiries and the end of a lockout (403) happen only when you move the clock in the panel`
    : `frozen at ${time}: without the panel, nothing can move the clock`
}

const limitText = ({ limit, windowMs }: RollingLimit): string => `${limit} calls in ${windowMs / 1_000} s`

const limitOf = (area: 'subscriptions' | 'gateway', { options }: Started): Line => {
  const standard = (area === 'gateway' ? gatewayDefaults : subscriptionsDefaults).rateLimit
  const rateLimit = options[area]?.rateLimit ?? (isFrozen(options) ? undefined : standard)
  if (rateLimit === false) return ['rate limit', 'none']
  if (rateLimit === undefined) {
    return ['rate limit', `none while the clock is frozen; with --limits: ${limitText(standard)}`]
  }
  const isMachines = isFrozen(options) && options.rateLimitTime === 'machine'
  return ['rate limit', `${limitText(rateLimit)}${isMachines ? ' of this machine’s time' : ''}`]
}

/** Lists the credentials. Only the built-in merchant's secrets are shown, because they are public. */
const credentials = ({ options, config = 'the options' }: Started): readonly Line[] => {
  const merchants = options.subscriptions?.merchants
  if (merchants === undefined) {
    const { clientId, clientSecret, users } = defaultMerchant
    return [
      ['client_id', clientId],
      ['client_secret', clientSecret],
      ['username', users[0].username],
      ['password', users[0].password],
    ]
  }
  return [
    ['credentials', `subscriptions.merchants in ${config}`],
    ...merchants.map(({ name, clientId }): Line => ['client_id', `${clientId} (${name})`]),
  ]
}

const keys = ({ options, config = 'the options' }: Started): readonly Line[] => {
  const { apiKeys, otp } = options.gateway ?? {}
  return [
    ['API key', apiKeys === undefined ? gatewayDefaults.apiKeys[0] : `gateway.apiKeys in ${config}`],
    ['one-time code', otp === undefined ? gatewayDefaults.otp : `gateway.otp in ${config}`],
  ]
}

/** Returns a receiver's URL without its query, which may contain a secret. */
const addressOf = (target: unknown): string => {
  if (!URL.canParse(String(target))) return 'a function in the configuration file'
  const { origin, pathname } = new URL(String(target))
  return `${origin}${pathname}`
}

const deliveryText = (retries: boolean): string =>
  retries
    ? 'the mock retries a delivery without a 2xx response; the mock’s clock measures each pause'
    : 'each notification is delivered once, whatever the response is'

const receivers = ({ options }: Started): readonly Line[] =>
  (options.subscriptions?.notify ?? []).map(({ to, retries = false }) => {
    const attempts = typeof retries === 'object' ? retries.attempts : retries
    return [addressOf(to), deliveryText(attempts !== false && attempts !== 1)]
  })

const nameWidth = Math.max(...Object.keys(behaviors).map(({ length }) => length))

const behaviorText = (name: BehaviorName): string =>
  `${name.padEnd(nameWidth)}  ${behaviors[name].description}`

const numbers = ({ options: { gateway = {}, rules } }: Started): readonly Line[] => {
  const { testNumbers = testNumberTable, defaultBehavior = 'succeeds', unlistedNumbers } = gateway
  const refuses = (unlistedNumbers ?? (rules === 'strict' ? 'refuse' : 'accept')) === 'refuse'
  return [
    ...Object.entries(testNumbers).map(([msisdn, name]): Line => [msisdn, behaviorText(name)]),
    ['any other', refuses ? 'is refused' : behaviorText(defaultBehavior)],
  ]
}

/** Returns the text that the command prints when the server has started. */
export const greeting = (started: Started): string => {
  const { url, publicUrl, version, options, state, panel, isLocal } = started
  const notified = receivers(started)
  const parts = [
    section(`mandatekit ${version}: a mock for tests; no money moves`, [
      ['both APIs', url],
      ...(publicUrl === undefined ? [] : [['public URL', publicUrl] as const]),
      ...(panel ? [['control panel', `${url}${PANEL_PATH}`] as const] : []),
      ['OpenAPI', `${url}${API_PAGE_PATH}`],
      ['clock', clockOf(started)],
      ...(state === undefined ? [] : [['state', `kept in ${state}`] as const]),
      ['rules', options.rules ?? 'spec'],
    ]),
    section('Subscriptions', [...credentials(started), limitOf('subscriptions', started)]),
    section('Gateway', [...keys(started), limitOf('gateway', started)]),
    ...(notified.length === 0 ? [] : [section('Notifications', notified)]),
    section('Test numbers', numbers(started)),
    ...(isLocal ? [] : ['Anyone who can reach this machine can use this mock and its panel.']),
    'Stop it with Ctrl-C.',
  ]
  return `${parts.join('\n\n')}\n`
}
