import type { ChargeBody } from '../api.ts'
import type { ChargeRecord } from './charges.ts'
import type { ChargeOutcome } from './transitions.ts'

/** A charge that a mock starts with. What is left out is made as for a charge that succeeded just now. */
export interface SeedCharge {
  /** Begins with `ch_`. */
  readonly id?: string
  /** Begins with `conf_`. */
  readonly confirmation_id?: string
  readonly msisdn: string
  readonly amount: number
  readonly currency: string
  readonly redirect_uri?: string
  readonly status?: ChargeBody['status']
  readonly outcome?: ChargeOutcome
  /** ISO 8601 in UTC, such as `2026-11-28T12:00:00Z`. */
  readonly created_at?: string
  /** Id of the charge that this one renews. */
  readonly mandate_id?: string
}

const OUTCOMES = {
  pending_confirmation: 'PENDING',
  pending_retry: 'RETRYING',
  succeeded: 'SUCCEEDED',
  failed: 'INSUFFICIENT_FUNDS',
  expired: 'EXPIRED',
} as const satisfies Record<ChargeBody['status'], ChargeOutcome>

const identifier = (value: string, prefix: string): string => {
  if (value.startsWith(prefix) && /^[\w-]+$/.test(value)) return value
  throw new TypeError(`charges: ${JSON.stringify(value)} is not an identifier that begins with ${prefix}`)
}

/** The stored form of a given charge. Throws a TypeError that names the field when it cannot be one. */
export const recordOfSeed = (
  seed: SeedCharge,
  given: {
    readonly id: () => string
    readonly confirmationId: () => string
    readonly now: number
    readonly baseUrl: string
  },
): ChargeRecord => {
  const { status = 'succeeded' } = seed
  const createdAt = seed.created_at === undefined ? given.now : Date.parse(seed.created_at)
  if (Number.isNaN(createdAt))
    throw new TypeError(`charges: created_at ${JSON.stringify(seed.created_at)} is no time`)
  const redirectUri = seed.redirect_uri ?? 'https://merchant.example/return'
  if (!URL.canParse(redirectUri)) throw new TypeError('charges: redirect_uri must be an absolute URL')
  if (!Number.isSafeInteger(seed.amount)) throw new TypeError('charges: amount must be an integer')
  return {
    id: identifier(seed.id ?? given.id(), 'ch_'),
    confirmationId: identifier(seed.confirmation_id ?? given.confirmationId(), 'conf_'),
    msisdn: seed.msisdn,
    amount: seed.amount,
    currency: seed.currency,
    redirectUri,
    baseUrl: given.baseUrl,
    createdAt,
    mandateId: seed.mandate_id,
    status,
    outcome: seed.outcome ?? OUTCOMES[status],
    wrongCodes: 0,
  }
}
