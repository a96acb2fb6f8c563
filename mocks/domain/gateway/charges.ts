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

/** A stored charge. Nothing that can be derived is stored, because a million charges must fit. */
export interface ChargeRecord extends ChargeFields {
  readonly id: string
  readonly confirmationId: string
  /** The base URL when the charge was created: an issued `confirmation_url` does not change. */
  readonly baseUrl: string
  readonly createdAt: number
  /** The charge that this one renews. */
  readonly mandateId: string | undefined
  /** The key that created it. A seeded charge has none. */
  readonly idempotencyKey: string | undefined
  status: ChargeStatus
  outcome: ChargeOutcome
  wrongCodes: number
}

/** A charge as it was at some time. */
export interface ChargeMoment {
  readonly charge: ChargeRecord
  readonly status: ChargeStatus
  readonly outcome: ChargeOutcome
}

/** Returns G1 as it is now, or as it was at a moment: the same moment gives the same bytes. */
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

/** Returns the charge with the fields that G1 does not have. */
export const listedCharge = (charge: ChargeRecord): ListedCharge => ({
  ...chargeBody(charge),
  renews: charge.mandateId,
  idempotencyKey: charge.idempotencyKey,
})

/** Masks the middle digits of a number. A short number keeps its last two characters at most. */
export const maskedNumber = (msisdn: string): string => {
  const characters = [...msisdn]
  const isLong = characters.length >= 10
  const head = isLong ? 4 : 0
  const tail = isLong ? 3 : Math.min(2, Math.floor(characters.length / 3))
  return characters
    .map((character, at) => (at < head || at >= characters.length - tail ? character : '•'))
    .join('')
}
