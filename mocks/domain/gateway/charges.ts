import type { ChargeOutcome, ChargeStatus } from './transitions.ts'
import type { ChargeBody, ListedCharge } from './types.ts'

/** Returns the path of the page on which a payer enters the one-time code (G1's `confirmation_url`). */
export const confirmationPath = (confirmationId: string): string =>
  `/confirm/${encodeURIComponent(confirmationId)}`

/** The fields of a valid charge request. */
export interface ChargeFields {
  readonly msisdn: string
  readonly amount: number
  readonly currency: string
  readonly redirectUri: string
}

/** A stored charge, without fields that can be computed, because a load test stores a million charges in memory. */
export interface ChargeRecord extends ChargeFields {
  readonly id: string
  readonly confirmationId: string
  /** The gateway's base URL when the charge was created: the start of `confirmation_url`. */
  readonly baseUrl: string
  readonly createdAt: number
  /** Only for a renewal: identifier of the renewed charge. */
  readonly mandateId: string | undefined
  /** The idempotency key of the request that created the charge. A seeded charge has no key. */
  readonly idempotencyKey: string | undefined
  /** Hash of the API key that created the charge (row 84). */
  readonly credential: string
  status: ChargeStatus
  outcome: ChargeOutcome
  wrongCodes: number
}

/** A charge, with its status and outcome at one point in time. */
export interface ChargeMoment {
  readonly charge: ChargeRecord
  readonly status: ChargeStatus
  readonly outcome: ChargeOutcome
}

/** Returns a charge as JSON (G1), by default with its current status and outcome. */
export const chargeBody = (
  charge: ChargeRecord,
  { status, outcome }: Pick<ChargeMoment, 'status' | 'outcome'> = charge,
): ChargeBody => ({
  id: charge.id,
  msisdn: charge.msisdn,
  amount: charge.amount,
  currency: charge.currency,
  status,
  outcome,
  confirmation_id: charge.confirmationId,
  confirmation_url: charge.baseUrl + confirmationPath(charge.confirmationId),
  created_at: new Date(charge.createdAt).toISOString(),
})

/** Returns the charge's JSON (G1) with two more fields, `renews` and `idempotencyKey`. */
export const listedCharge = (charge: ChargeRecord): ListedCharge => ({
  ...chargeBody(charge),
  renews: charge.mandateId,
  idempotencyKey: charge.idempotencyKey,
})

/** Masks a phone number: shows its first 4 and last 3 characters, or at most the last 2 of a short number. */
export const maskedNumber = (msisdn: string): string => {
  const characters = [...msisdn]
  const isLong = characters.length >= 10
  const head = isLong ? 4 : 0
  const tail = isLong ? 3 : Math.min(2, Math.floor(characters.length / 3))
  return characters
    .map((character, at) => (at < head || at >= characters.length - tail ? character : '•'))
    .join('')
}
