import type { KnownChargeStatus } from '../../../src/contract/gateway.ts'

/** G1 on the wire. */
export interface ChargeBody {
  /** Identifier of the charge, such as `ch_1`. */
  readonly id: string
  /** The payer's mobile number, as in the request. */
  readonly msisdn: string
  /** What is charged: the integer of the request, never scaled (row 60). */
  readonly amount: number
  /** Currency code, such as `BDT`. */
  readonly currency: string
  /** `pending_confirmation`, `pending_retry`, `succeeded`, `failed` or `expired`. */
  readonly status: KnownChargeStatus
  /** `PENDING`, `RETRYING`, `SUCCEEDED`, `INSUFFICIENT_FUNDS`, `WALLET_BLOCKED` or `EXPIRED` (row 62). */
  readonly outcome: string
  /** Identifier of the confirmation, such as `conf_1`, as `payer.confirm` takes it. */
  readonly confirmation_id: string
  /** The page where the payer enters the code. */
  readonly confirmation_url: string
  /** When it was created: ISO 8601 in UTC, such as `2026-11-28T12:00:00.000Z` (row 81). */
  readonly created_at: string
}

/** A stored event of area G (G3). */
export interface GatewayEvent {
  /** Identifier, such as `evt_00000001`. The count continues after the gateway's reset clears the events (row 80). */
  readonly id: string
  /** What happened to the charge; a renewal begins with `charge.renewed`, not `charge.created` (row 80). */
  readonly type: `charge.${'created' | 'confirmed' | 'succeeded' | 'failed' | 'pending_retry' | 'expired' | 'renewed'}`
  /** When it happened: ISO 8601 in UTC, such as `2026-11-28T12:00:00.000Z` (row 81). */
  readonly created_at: string
  /** The charge as it was then. */
  readonly data: ChargeBody
}

/** What the page for the one-time code shows. */
export interface ConfirmationView {
  readonly confirmationId: string
  /** The number with its middle digits masked. */
  readonly maskedMsisdn: string
  readonly amount: number
  readonly currency: string
  readonly status: ChargeBody['status']
  /** `redirect_uri` of the request. */
  readonly redirectUri: string
}

/** A charge with its origin. */
export interface ListedCharge extends ChargeBody {
  /** The charge that this one renews. */
  readonly renews: string | undefined
  /** The key that created it. */
  readonly idempotencyKey: string | undefined
}

/** The result of an operation with a key. `replayed`: the key was executed before, and `body` is the original one. */
export interface Keyed<Body> {
  readonly body: Body
  readonly replayed: boolean
}
