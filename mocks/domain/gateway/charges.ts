import type { ChargeOutcome, ChargeStatus } from './transitions.ts'
import type { ChargeBody, ListedCharge } from './types.ts'

/** Path of the page on which a payer gives the one-time code (G1's `confirmation_url`); it ends in the identifier. */
export const confirmationPath = (confirmationId: string): string =>
  `/confirm/${encodeURIComponent(confirmationId)}`

/** The fields of a valid charge request. */
export interface ChargeFields {
  readonly msisdn: string
  readonly amount: number
  readonly currency: string
  readonly redirectUri: string
}

/** A stored charge. What can be derived is not stored: a million of them must fit. */
export interface ChargeRecord extends ChargeFields {
  readonly id: string
  readonly confirmationId: string
  /** Where the pages stood when the charge was created: an address that was handed out does not move. */
  readonly baseUrl: string
  readonly createdAt: number
  /** The charge that this one renews. */
  readonly mandateId: string | undefined
  /** The key that made it; a charge that the mock started with has none. */
  readonly idempotencyKey: string | undefined
  status: ChargeStatus
  outcome: ChargeOutcome
  wrongCodes: number
}

/** Where a charge stood at some time. */
export interface ChargeMoment {
  readonly charge: ChargeRecord
  readonly status: ChargeStatus
  readonly outcome: ChargeOutcome
}

/** Where the charge stands now. */
export const momentOf = (charge: ChargeRecord): ChargeMoment => ({
  charge,
  status: charge.status,
  outcome: charge.outcome,
})

/** G1 as it stands now, or as it stood at a moment: the same moment gives the same bytes. */
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

/** The charge with what G1 has no field for. */
export const listedCharge = (charge: ChargeRecord): ListedCharge => ({
  ...chargeBody(charge),
  renews: charge.mandateId,
  idempotencyKey: charge.idempotencyKey,
})

/** The number with its middle digits masked; a short one keeps its last two characters at most. */
export const maskedNumber = (msisdn: string): string => {
  const characters = [...msisdn]
  const head = characters.length >= 10 ? 4 : 0
  const tail = characters.length >= 10 ? 3 : Math.min(2, Math.floor(characters.length / 3))
  return characters
    .map((character, at) => (at < head || at >= characters.length - tail ? character : '•'))
    .join('')
}
