import type { Rules } from '../../mocks/domain/check-options.ts'
import { createGatewayDomain } from '../../mocks/domain/gateway/domain.ts'
import type { GatewayOptions } from '../../mocks/domain/gateway/options.ts'
import type { GatewayDomain } from '../../mocks/domain/gateway/types.ts'
import { createIds } from '../../mocks/domain/ids.ts'
import type { Refusal, Result } from '../../mocks/domain/result.ts'
import { createTimeline } from '../../mocks/domain/timeline.ts'

const START = Date.UTC(2026, 10, 28, 12)
export const HOUR = 3_600_000
export const CREDENTIAL = 'key-1'

export const request = (msisdn: string, more: Record<string, unknown> = {}) => ({
  msisdn,
  amount: 2500,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/return',
  ...more,
})

export const value = <Value>(result: Result<Value>): Value => {
  if (result.ok) return result.value
  throw new Error(`refused: ${JSON.stringify(result.refusal)}`)
}

export const refusal = (result: Result<unknown>): Refusal => {
  if (!result.ok) return result.refusal
  throw new Error(`accepted: ${JSON.stringify(result.value)}`)
}

/** A domain on a clock that the test moves. */
export const createFixture = (options: Partial<GatewayOptions> = {}, rules: Rules = 'spec') => {
  let now = START
  const timeline = createTimeline(() => now)
  const gateway: GatewayDomain = createGatewayDomain({
    timeline,
    ids: createIds('test'),
    options,
    rules,
    baseUrl: () => 'https://gateway.mandatekit.test/',
  })
  return {
    gateway,
    timeline,
    /** Moves the clock and runs what falls due, each at its own time. */
    advance(milliseconds: number) {
      const target = now + milliseconds
      for (let at = timeline.nextAt(); at !== undefined && at <= target; at = timeline.nextAt()) {
        now = Math.max(now, at)
        timeline.runStep(now)
      }
      now = target
    },
    now: () => now,
    setNow(time: number) {
      now = time
    },
    charge: (msisdn: string, key: string, more: Record<string, unknown> = {}) =>
      value(gateway.charge(CREDENTIAL, key, request(msisdn, more))).body,
    renew: (id: string, key: string) => value(gateway.renew(CREDENTIAL, key, id, { mandate_id: id })).body,
    confirm: (confirmationId: string) => value(gateway.confirm(confirmationId, { otp: '123456' })),
  }
}
