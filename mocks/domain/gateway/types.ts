import type { KnownChargeStatus } from '../../../src/contract/gateway.ts'
import type { Sequence } from '../paged-list.ts'
import type { Fields, Result } from '../result.ts'

/** G1 on the wire. */
export interface ChargeBody {
  /** Identifier of the charge, such as `ch_1`. */
  readonly id: string
  /** The payer's mobile number, as it was given. */
  readonly msisdn: string
  /** What is charged: the whole number that was given, never scaled (row 60). */
  readonly amount: number
  /** Currency code, such as `BDT`. */
  readonly currency: string
  /** `pending_confirmation`, `pending_retry`, `succeeded`, `failed` or `expired`. */
  readonly status: KnownChargeStatus
  /** `PENDING`, `RETRYING`, `SUCCEEDED`, `INSUFFICIENT_FUNDS`, `WALLET_BLOCKED` or `EXPIRED` (row 62). */
  readonly outcome: string
  /** Identifier of the confirmation, such as `conf_1`, as `payer.confirm` takes it. */
  readonly confirmation_id: string
  /** The page where the payer gives the code. */
  readonly confirmation_url: string
  /** When it was created: ISO 8601 in UTC, such as `2026-11-28T12:00:00.000Z` (row 81). */
  readonly created_at: string
}

/** A stored event of area G (G3). */
export interface GatewayEvent {
  /** Identifier, such as `evt_00000001`; it goes on counting when the gateway's reset clears the events (row 80). */
  readonly id: string
  /** What happened to the charge; a renewal begins with `charge.renewed`, not `charge.created` (row 80). */
  readonly type: `charge.${'created' | 'confirmed' | 'succeeded' | 'failed' | 'pending_retry' | 'expired' | 'renewed'}`
  /** When it happened: ISO 8601 in UTC, such as `2026-11-28T12:00:00.000Z` (row 81). */
  readonly created_at: string
  /** The charge as it stood then. */
  readonly data: ChargeBody
}

/** What the one-time-code page shows. */
export interface ConfirmationView {
  readonly confirmationId: string
  /** The number with its middle digits masked. */
  readonly maskedMsisdn: string
  readonly amount: number
  readonly currency: string
  readonly status: ChargeBody['status']
  /** `redirect_uri` as the merchant gave it. */
  readonly redirectUri: string
}

/** A test number of the reference table. */
export interface TestNumber {
  readonly msisdn: string
  readonly behavior: string
  readonly description: string
  readonly outcome: string
}

/** A charge, and where it comes from. */
export interface ListedCharge extends ChargeBody {
  /** The charge that this one renews. */
  readonly renews: string | undefined
  /** The key that made it. */
  readonly idempotencyKey: string | undefined
}

/** The answer of a keyed operation: `replayed` when the key had executed before; `body` is then the first one, unchanged. */
export interface Keyed<Body> {
  readonly body: Body
  readonly replayed: boolean
}

/** Area G. Every operation settles the timeline first. */
export interface GatewayDomain {
  /** Whether `Authorization: Bearer <key>` holds a configured key. */
  authenticate(key: string | undefined): Result<{ readonly credential: string }>
  reference(): { readonly otp: string; readonly test_numbers: readonly TestNumber[] }
  charge(credential: string, key: string | undefined, fields: Fields): Result<Keyed<ChargeBody>>
  confirm(confirmationId: string, fields: Fields): Result<ChargeBody>
  status(id: string): Result<ChargeBody>
  renew(credential: string, key: string | undefined, id: string, fields: Fields): Result<Keyed<ChargeBody>>
  /** Clears charges, events and keys; limiter and allowlist stay. */
  reset(): void

  // The payer
  confirmation(confirmationId: string): Result<ConfirmationView>
  setBehavior(msisdn: string, behavior: string): Result<void>

  // The test author
  /** As new: also what `reset` keeps. */
  restart(): void
  charges(): readonly ChargeBody[]
  readonly chargeList: Sequence<ListedCharge>
  events(): readonly GatewayEvent[]
  snapshot(): unknown
  restore(snapshot: unknown): void
}
