import type { KnownChargeStatus } from '../../../src/contract/gateway.ts'

/** The JSON of a charge (G1). */
export interface ChargeBody {
  /** Identifier of the charge, such as `ch_1`. */
  readonly id: string
  /** The payer's mobile number, as in the request. */
  readonly msisdn: string
  /** The amount of the request, unchanged: an integer (row 60). */
  readonly amount: number
  /** Currency code, such as `BDT`. */
  readonly currency: string
  /** `pending_confirmation`, `pending_retry`, `succeeded`, `failed` or `expired`. */
  readonly status: KnownChargeStatus
  /** `PENDING`, `RETRYING`, `SUCCEEDED`, `INSUFFICIENT_FUNDS`, `WALLET_BLOCKED` or `EXPIRED` (row 62). */
  readonly outcome: string
  /** Identifier of the confirmation, such as `conf_1`, for `payer.confirm`. */
  readonly confirmation_id: string
  /** The page where the payer enters the code. */
  readonly confirmation_url: string
  /** Creation time of the charge: ISO 8601 in UTC, such as `2026-11-28T12:00:00.000Z` (row 81). */
  readonly created_at: string
}

/** A stored event of area G (G3). */
export interface GatewayEvent {
  /** Identifier of the event, such as `evt_00000001`. The numbers continue after the gateway's `reset` (row 80). */
  readonly id: string
  /** What happened to the charge. The first event of a renewal is `charge.renewed`, not `charge.created` (row 80). */
  readonly type: `charge.${'created' | 'confirmed' | 'succeeded' | 'failed' | 'pending_retry' | 'expired' | 'renewed'}`
  /** Time of the event: ISO 8601 in UTC, such as `2026-11-28T12:00:00.000Z` (row 81). */
  readonly created_at: string
  /** The charge as it was at the time of the event. */
  readonly data: ChargeBody
}

/** The data of the page on which the payer enters the one-time code. */
export interface ConfirmationView {
  readonly confirmationId: string
  /** The payer's number with its middle digits masked. */
  readonly maskedMsisdn: string
  readonly amount: number
  readonly currency: string
  readonly status: ChargeBody['status']
  /** The URL to which the payer returns: `redirect_uri`, with the charge's id if `returnParameter` is set (row 83). */
  readonly returnUrl: string
}

/** A charge with its idempotency key and, if the charge is a renewal, the identifier of the renewed charge. */
export interface ListedCharge extends ChargeBody {
  /** Only for a renewal: identifier of the renewed charge. */
  readonly renews: string | undefined
  /** The idempotency key of the request that created the charge. */
  readonly idempotencyKey: string | undefined
}

/** The result of a call with an idempotency key. `replayed`: whether an earlier call has created `body`. */
export interface Keyed<Body> {
  readonly body: Body
  readonly replayed: boolean
}
