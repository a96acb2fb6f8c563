import type { Check } from '../check-options.ts'
import { absoluteUrl, fields, oneOf, pointInTime, text, wholeNumber } from '../check-options.ts'
import { toInstantMilliseconds } from '../duration.ts'
import type { ChargeRecord } from './charges.ts'
import type { ChargeOutcome } from './transitions.ts'
import type { ChargeBody } from './types.ts'

/** A charge that a mock starts with. What is left out is made as for a charge that succeeded just now. */
export interface SeedCharge {
  /** Begins with `ch_`. */
  readonly id?: string
  /** Begins with `conf_`. */
  readonly confirmation_id?: string
  /** The payer's mobile number, as text. */
  readonly msisdn: string
  /** What is charged: a whole number, never scaled (row 60). */
  readonly amount: number
  /** Currency code as text, such as `BDT`. */
  readonly currency: string
  /** Absolute URL to which the payer returns. Default: `https://merchant.example/return`. */
  readonly redirect_uri?: string
  /** Where it stands. Default: `succeeded`. */
  readonly status?: ChargeBody['status']
  /** Default: what goes with the status: `PENDING`, `RETRYING`, `SUCCEEDED`, `INSUFFICIENT_FUNDS` (failed) or `EXPIRED`. */
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

const identifier =
  (prefix: string): Check =>
  (value) => {
    const found = text(value)
    if (found !== undefined || new RegExp(`^${prefix}[\\w-]+$`).test(String(value))) return found
    return {
      at: '',
      must: `an identifier that begins with ${prefix}`,
      not: JSON.stringify(value),
      isType: false,
    }
  }

const instantText: Check = (value) => text(value) ?? pointInTime(value)

/** What the option `charges` takes. */
export const seedCharge: Check = fields(
  { msisdn: text, amount: wholeNumber(Number.MIN_SAFE_INTEGER), currency: text },
  {
    id: identifier('ch_'),
    confirmation_id: identifier('conf_'),
    redirect_uri: absoluteUrl,
    status: oneOf(...Object.keys(OUTCOMES)),
    outcome: oneOf('PENDING', 'SUCCEEDED', 'INSUFFICIENT_FUNDS', 'WALLET_BLOCKED', 'RETRYING', 'EXPIRED'),
    created_at: instantText,
    mandate_id: text,
  } satisfies Record<Exclude<keyof SeedCharge, 'msisdn' | 'amount' | 'currency'>, Check>,
)

/** The stored form of a given charge, which has passed its check. */
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
  return {
    id: seed.id ?? given.id(),
    confirmationId: seed.confirmation_id ?? given.confirmationId(),
    msisdn: seed.msisdn,
    amount: seed.amount,
    currency: seed.currency,
    redirectUri: seed.redirect_uri ?? 'https://merchant.example/return',
    baseUrl: given.baseUrl,
    createdAt: seed.created_at === undefined ? given.now : toInstantMilliseconds(seed.created_at),
    mandateId: seed.mandate_id,
    idempotencyKey: undefined,
    status,
    outcome: seed.outcome ?? OUTCOMES[status],
    wrongCodes: 0,
  }
}
