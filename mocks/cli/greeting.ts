import { isRecord } from '../domain/check-options.ts'
import type { BehaviorName } from '../domain/gateway/behaviors.ts'
import { behaviors, testNumberTable } from '../domain/gateway/behaviors.ts'
import type { RollingLimit } from '../domain/gateway/options.ts'
import { gatewayDefaults } from '../domain/gateway/options.ts'
import { defaultMerchant, subscriptionsDefaults } from '../domain/subscriptions/options.ts'
import type { MockOptions } from '../options.ts'
import { PANEL_PATH } from '../panel/access.ts'

/** Whether a mock with these options has a clock that moves only when it is moved. */
export const standsStill = ({ clock = 'system' }: MockOptions): boolean => clock !== 'system'

/** What is no object is left for the mock to refuse. */
const unlimited = <Area extends { readonly rateLimit?: unknown }>(area: Area | undefined) =>
  area === undefined || (isRecord(area) && area.rateLimit === undefined)
    ? { ...area, rateLimit: false as const }
    : area

/**
 * Fits rate limits to clients that live in other processes, on the machine's time: they count its minutes, wherever the
 * clock was moved to, or a client would be told to come back in months. Under a clock that stands still they are off
 * unless they were asked for.
 */
export const withFittingLimits = (options: MockOptions, isAskedFor: boolean): MockOptions => {
  const { rateLimitTime = 'machine', subscriptions, gateway } = options
  const isLimited = isAskedFor || !standsStill(options)
  return {
    ...options,
    rateLimitTime,
    ...(isLimited ? {} : { subscriptions: unlimited(subscriptions), gateway: unlimited(gateway) }),
  }
}

const limitText = ({ limit, windowMs }: RollingLimit): string => `${limit} calls in ${windowMs / 1_000} s`

/**
 * How many calls an area takes, in words.
 *
 * @param asked the options before limits were fitted
 */
export const limitInWords = (
  area: 'subscriptions' | 'gateway',
  options: MockOptions,
  asked: MockOptions,
): string => {
  const standard = (area === 'gateway' ? gatewayDefaults : subscriptionsDefaults).rateLimit
  const { rateLimit = standard } = options[area] ?? {}
  if (rateLimit === false) {
    return asked[area]?.rateLimit === false
      ? 'none'
      : `none, as the clock stands still; --limits sets ${limitText(standard)}`
  }
  const isMachines = standsStill(options) && options.rateLimitTime === 'machine'
  return `${limitText(rateLimit)}${isMachines ? ' of this machine’s time' : ''}`
}

/** What the command knows once the server is up. */
export interface Started {
  readonly url: string
  readonly version: string
  /** What the mock was made with. */
  readonly options: MockOptions
  /** What was asked for, before rate limits were fitted to the clock. */
  readonly asked: MockOptions
  /** The file that the options come from. */
  readonly config: string | undefined
  /** Addresses that notifications go to by the command's own option. */
  readonly notify: readonly string[]
  readonly notifyOnce: boolean
  readonly panel: boolean
  readonly isLocal: boolean
}

type Line = readonly [name: string, value: string]

/** Names of a file may hold what moves a terminal's cursor. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, '?')

const table = (lines: readonly Line[]): string => {
  const width = Math.max(...lines.map(([name]) => name.length))
  return lines.map(([name, value]) => `  ${name.padEnd(width)}  ${printable(value)}`).join('\n')
}

const section = (title: string, lines: readonly Line[]): string => `${title}\n${table(lines)}`

/** The built-in merchant's credentials protect nothing and are shown; those of a file are the user's own. */
const credentials = ({ options, config = 'the options' }: Started): readonly Line[] => {
  const merchants = options.subscriptions?.merchants
  if (merchants === undefined) {
    const [user] = defaultMerchant.users
    return [
      ['client_id', defaultMerchant.clientId],
      ['client_secret', defaultMerchant.clientSecret],
      ['username', user.username],
      ['password', user.password],
    ]
  }
  return [
    ['credentials', `subscriptions.merchants in ${config}`],
    ...merchants.map(({ name, clientId }): Line => ['client_id', `${clientId} (${name})`]),
  ]
}

/** An address without what may be secret in it. */
const addressOf = (target: unknown): string => {
  if (!URL.canParse(String(target))) return 'a function of the file'
  const { origin, pathname } = new URL(String(target))
  return `${origin}${pathname}`
}

const redelivery = (repeats: boolean): string =>
  repeats ? 'again when it is not answered 2xx, on the mock’s clock' : 'once, whatever is answered'

/** Where notifications go, and whether they come again. */
const receivers = ({ options, notify, notifyOnce }: Started): readonly Line[] => [
  ...notify.map((url): Line => [addressOf(url), redelivery(!notifyOnce)]),
  ...(options.subscriptions?.notify ?? []).map(({ to, retries = false }): Line => {
    const tries = typeof retries === 'object' ? retries.tries : retries
    return [addressOf(to), redelivery(tries !== false && tries !== 1)]
  }),
]

const keys = ({ options, config = 'the options' }: Started): readonly Line[] => [
  [
    'API key',
    options.gateway?.apiKeys === undefined ? gatewayDefaults.apiKeys[0] : `gateway.apiKeys in ${config}`,
  ],
  ['one-time code', options.gateway?.otp === undefined ? gatewayDefaults.otp : `gateway.otp in ${config}`],
]

const behaviorText = (name: BehaviorName): string =>
  `${name.padEnd(Math.max(...Object.keys(behaviors).map(({ length }) => length)))}  ${behaviors[name].description}`

const numbers = ({ options }: Started): readonly Line[] => {
  const {
    testNumbers = testNumberTable,
    defaultBehavior = 'succeeds',
    unlistedNumbers,
  } = options.gateway ?? {}
  const refuses = (unlistedNumbers ?? (options.rules === 'strict' ? 'refuse' : 'accept')) === 'refuse'
  return [
    ...Object.entries(testNumbers).map(([msisdn, name]): Line => [msisdn, behaviorText(name)]),
    ['any other', refuses ? 'is refused' : behaviorText(defaultBehavior)],
  ]
}

const clockOf = ({ options: { clock = 'system' }, panel }: Started): string => {
  if (clock === 'system') return 'follows this machine'
  const mover = panel
    ? 'until you move it at the panel: payments, expiries and lockouts (403) wait for that'
    : 'for good: without the panel nothing moves it'
  return `stands still at ${new Date(clock).toISOString()}, ${mover}`
}

/** What the command prints once the server is up. */
export const greeting = (started: Started): string => {
  const { url, version, options, asked, panel, isLocal } = started
  const notified = receivers(started)
  const parts = [
    section(`mandatekit ${version}: a mock for tests, no money moves`, [
      ['both APIs', url],
      ...(panel ? [['control panel', `${url}${PANEL_PATH}`] as const] : []),
      ['clock', clockOf(started)],
      ['rules', options.rules ?? 'spec'],
    ]),
    section('Subscriptions', [
      ...credentials(started),
      ['rate limit', limitInWords('subscriptions', options, asked)],
    ]),
    section('Gateway', [...keys(started), ['rate limit', limitInWords('gateway', options, asked)]]),
    ...(notified.length === 0 ? [] : [section('Notifications', notified)]),
    section('Test numbers', numbers(started)),
    ...(isLocal ? [] : ['Whoever reaches this machine can use this mock and its panel.']),
    'Stop it with Ctrl-C.',
  ]
  return `${parts.join('\n\n')}\n`
}
