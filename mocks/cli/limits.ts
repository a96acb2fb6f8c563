import { isRecord } from '../domain/checking.ts'
import type { RollingLimit } from '../domain/gateway/options.ts'
import { gatewayDefaults } from '../domain/gateway/options.ts'
import { subscriptionsDefaults } from '../domain/subscriptions/options.ts'
import type { MockOptions } from '../options.ts'

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

const described = ({ limit, windowMs }: RollingLimit): string => `${limit} calls in ${windowMs / 1_000} s`

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
      : `none, as the clock stands still; --limits sets ${described(standard)}`
  }
  const isMachines = standsStill(options) && options.rateLimitTime === 'machine'
  return `${described(rateLimit)}${isMachines ? ' of this machine’s time' : ''}`
}
