import { withParameter } from '../base/return-address.ts'
import type { ChargeBody, ChargeEventType, ChargeRecord, GatewayState, Standing } from './state.ts'
import { chargeBody, stepsBy } from './state.ts'

/** A stored event of area G (G3). */
export interface GatewayEvent {
  /** Identifier of the event, such as `evt_00000001`. The numbers continue after the gateway's `reset` (row 80). */
  readonly id: string
  /** What happened to the charge. The first event of a renewal is `charge.renewed`, not `charge.created` (row 80). */
  readonly type: ChargeEventType
  /** Time of the event: ISO 8601 in UTC, such as `2026-11-28T12:00:00.000Z` (row 81). */
  readonly created_at: string
  /** The charge as it was at the time of the event. */
  readonly data: ChargeBody
}

/** Returns a charge for the panel, with what happens to it if no call comes first. */
export const listedCharge = (charge: ChargeRecord, standing: Standing) => ({
  ...chargeBody(charge, standing),
  renews: charge.mandate_id,
  idempotencyKey: charge.idempotencyKey,
  planned:
    charge.nextAt === Number.POSITIVE_INFINITY || charge.nextStanding === standing
      ? undefined
      : { at: new Date(charge.nextAt).toISOString(), status: charge.nextStanding.status },
})

/** A charge with its idempotency key and, if the charge is a renewal, the identifier of the renewed charge. */
export type ListedCharge = ReturnType<typeof listedCharge>

/** Returns the events of the charges that still exist (row 80), oldest first. Ids do not repeat after a reset. */
export const eventsBy = (state: GatewayState, time: number): GatewayEvent[] =>
  stepsBy(state, time).flatMap((step, index) =>
    state.byId.has(step.charge.id)
      ? {
          id: `evt_${String(state.clearedEvents + index + 1).padStart(8, '0')}`,
          type: step.type,
          created_at: new Date(step.at).toISOString(),
          data: chargeBody(step.charge, step),
        }
      : [],
  )

/** Masks a phone number: shows its first 4 and last 3 characters, or at most the last 2 of a short number. */
const maskedNumber = (msisdn: string): string => {
  const characters = [...msisdn]
  const isLong = characters.length >= 10
  const head = isLong ? 4 : 0
  const tail = isLong ? 3 : Math.min(2, Math.floor(characters.length / 3))
  return characters
    .map((character, at) => (at < head || at >= characters.length - tail ? character : '•'))
    .join('')
}

/**
 * Returns the data of the page on which the payer enters the one-time code. `returnUrl` is the URL to which the payer
 * returns: `redirect_uri`, with the charge's id if the option `returnParameter` is set (row 83).
 */
export const confirmationView = (charge: ChargeRecord, { status }: Standing, parameter: string | false) => ({
  confirmationId: charge.confirmation_id,
  maskedMsisdn: maskedNumber(charge.msisdn),
  amount: charge.amount,
  currency: charge.currency,
  status,
  returnUrl:
    parameter === false ? charge.redirect_uri : withParameter(charge.redirect_uri, parameter, charge.id),
})

/** The data of the page on which the payer enters the one-time code. */
export type ConfirmationView = ReturnType<typeof confirmationView>
