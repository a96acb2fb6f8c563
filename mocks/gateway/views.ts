import { withParameter } from '../base/return-address.ts'
import type { ChargeBody, ChargeEventType, ChargeRecord, GatewayContext, Standing } from './state.ts'
import { chargeBody, NEVER, standingAt, stepsBy } from './state.ts'

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

/** Creates the functions that read the state of the gateway. */
export const createReader = ({ state, agenda: { now } }: Pick<GatewayContext, 'state' | 'agenda'>) => ({
  /** Returns every charge, oldest first. */
  charges: (): readonly ChargeBody[] =>
    state.gateway.charges.map((charge) => chargeBody(charge, standingAt(charge, now()))),
  /** The charges, as the panel reads them page by page. */
  chargeList: {
    bounds: () => ({ first: 0, end: state.gateway.charges.length }),
    read: (from: number, to: number): readonly ListedCharge[] =>
      state.gateway.charges.slice(from, to).map((charge) => listedCharge(charge, standingAt(charge, now()))),
  },
  /** Returns the charge that changes next without a call, if any does. */
  nextToChange: () =>
    state.gateway.charges.reduce<ChargeRecord | undefined>(
      (first, one) => (one.nextAt <= now() || one.nextAt >= (first?.nextAt ?? NEVER) ? first : one),
      undefined,
    ),
  /** Returns the events of the charges that still exist (row 80), oldest first. Ids do not repeat after a reset. */
  events: (): readonly GatewayEvent[] =>
    stepsBy(state.gateway, now()).flatMap((step, index) =>
      state.gateway.byId.has(step.charge.id)
        ? {
            id: `evt_${String(state.gateway.clearedEvents + index + 1).padStart(8, '0')}`,
            type: step.type,
            created_at: new Date(step.at).toISOString(),
            data: chargeBody(step.charge, step),
          }
        : [],
    ),
})

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
