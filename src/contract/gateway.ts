import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import type { FieldsOf, Open } from './fields.ts'
import { answer, anyJson, decimal, input, openText, text, wholeNumber } from './fields.ts'
import { isAbsoluteUrl } from './formats.ts'

/** Charge statuses (G1). */
export type KnownChargeStatus = 'pending_confirmation' | 'pending_retry' | 'succeeded' | 'failed' | 'expired'
/** Charge outcomes this package knows; the specification shows PENDING alone. */
export type KnownChargeOutcome =
  | 'PENDING'
  | 'SUCCEEDED'
  | 'INSUFFICIENT_FUNDS'
  | 'WALLET_BLOCKED'
  | 'RETRYING'
  | 'EXPIRED'

/** Input of a charge. */
export type ChargeRequest = {
  /** The payer's mobile number as text, in international format: the country's code and the number (G1). */
  msisdn: string
  /** What is charged: a whole number from 0, sent as given; ask the platform whether it counts whole or minor units (G1). */
  amount: number
  /** Currency code as text, such as `BDT` (G1). */
  currency: string
  /** Absolute URL to which the payer's browser returns; the gateway may refuse one that is not on its allowlist (G rule 8). */
  redirect_uri: string
}

/** Body of a confirmation (G rule 4). */
export type ConfirmRequest = {
  /** The one-time code that the payer received, as text: zeros in front count (G rule 4). */
  otp: string
}

/** Body of a renewal (G rule 2). */
export type RenewRequest = {
  /** The charge of the mandate: the same id as in the path (G rule 2). */
  mandate_id: string
}

/** A charge (G1). */
export type Charge = {
  /** Identifier of the charge, such as `ch_1`: keep the first one's to read and to renew the mandate (G1). */
  readonly id: string
  /** The payer's mobile number, in international format (G1). */
  readonly msisdn: string
  /** What is charged, in the unit in which it was asked for; decimal text is read as a number, too (G1). */
  readonly amount: number
  /** Currency code, such as `BDT` (G1). */
  readonly currency: string
  /** `pending_confirmation`, `pending_retry`, `succeeded`, `failed` or `expired`; only `succeeded` is paid, and any other text may come (G1). */
  readonly status: Open<KnownChargeStatus>
  /** `PENDING` until the payer has confirmed, then how it ended, such as `INSUFFICIENT_FUNDS`: any text (G1). */
  readonly outcome: Open<KnownChargeOutcome>
  /** Identifier of the confirmation, such as `conf_1`, for `confirm` (G1). */
  readonly confirmation_id: string
  /** The page where the payer gives the code: send the payer there, to this very address (G1). */
  readonly confirmation_url: string
  /** When it was created: text in the server's form, as a rule ISO 8601 (G1). */
  readonly created_at: string
}

/** What an error of area G says (G2). */
export type GatewayErrorDetail = {
  /** Code in snake_case, such as `incorrect_code`; an error's `errorCode` is this (G2). */
  readonly code: string
  /** The same in words, for people (G2). */
  readonly message: string
}

/** Error body of area G (G2). */
export type GatewayErrorBody = {
  /** What went wrong (G2). */
  readonly error: GatewayErrorDetail
}

/** The reference table; its shape is not shown, so it is read as any JSON. */
export type Reference = unknown

const filled = (value: string): boolean => value.trim().length > 0

/** Body of a charge. `amount` is sent as given: the specification does not show its unit. */
export const chargeRequestSchema = z.strictObject({
  msisdn: input('a mobile number as text, in international format', filled),
  amount: wholeNumber('a whole number from 0'),
  currency: input('a currency code as text', filled),
  redirect_uri: input('an absolute URL such as https://shop.example/return', isAbsoluteUrl),
} satisfies FieldsOf<ChargeRequest>)

/** Body of a confirmation: the one-time code, as text (leading zeros count). */
export const confirmRequestSchema = z.strictObject({
  otp: input('the one-time code as text', filled),
} satisfies FieldsOf<ConfirmRequest>)

/** Body of a renewal: the mandate's charge id again (G rule 2). */
export const renewRequestSchema = z.strictObject({
  mandate_id: input('text that is not empty', filled),
} satisfies FieldsOf<RenewRequest>)

/** A charge (G1). */
export const chargeSchema = answer<Charge>({
  id: text,
  msisdn: text,
  amount: decimal,
  currency: text,
  status: openText<KnownChargeStatus>(),
  outcome: openText<KnownChargeOutcome>(),
  confirmation_id: text,
  confirmation_url: text,
  created_at: text,
})

/** Error object of area G (G2). */
export const gatewayErrorSchema = answer<GatewayErrorBody>({
  error: answer<GatewayErrorDetail>({ code: text, message: text }),
})

/** The version prefix of area G's routes (Versioning); `/health` has none. */
export const GATEWAY_API_PREFIX = '/api/v1'

const READ_AGAIN = 'Reading again is safe.'

/** The seven routes of area G, each defined once. */
export const gatewayContract = {
  /** Asks whether the service and its data store are reachable. */
  health: endpoint({
    operation: 'gateway.health',
    method: 'GET',
    path: '/health',
    spec: 'G health',
    auth: 'none',
    repeatable: 'never',
    idempotencyKey: false,
    response: anyJson,
    status: 200,
    envelope: false,
    needs: [],
    proof: [],
    anyBody: true,
    afterUnknown: READ_AGAIN,
  }),
  /** Reads the table of test numbers, whatever its shape. */
  reference: endpoint({
    operation: 'gateway.reference',
    method: 'GET',
    path: '/api/v1/reference',
    spec: 'G reference',
    auth: 'none',
    repeatable: 'always',
    idempotencyKey: false,
    response: anyJson,
    status: 200,
    envelope: false,
    needs: [],
    proof: [],
    afterUnknown: READ_AGAIN,
  }),
  /** Charges a payer, who then confirms with a code. Repeated with the same key, it is one charge (G rule 1). */
  charge: endpoint({
    operation: 'gateway.charge',
    method: 'POST',
    path: '/api/v1/mfs/charges',
    spec: 'G rule 1',
    auth: 'api-key',
    repeatable: 'always',
    idempotencyKey: true,
    request: chargeRequestSchema,
    response: chargeSchema,
    status: 202,
    envelope: false,
    needs: ['id'],
    proof: [],
    echoes: ['msisdn', 'amount', 'currency'],
    afterUnknown:
      'Call again with the same idempotencyKey (error.idempotencyKey): the answer is then the original charge, never a second one.',
  }),
  /** Gives the payer's code. A second confirmation may be refused, so a lost answer is not asked again. */
  confirm: endpoint({
    operation: 'gateway.confirm',
    method: 'POST',
    path: '/api/v1/mfs/confirm/:confirmationId',
    spec: 'G rule 4',
    auth: 'api-key',
    repeatable: 'when-not-executed',
    idempotencyKey: false,
    request: confirmRequestSchema,
    response: chargeSchema,
    status: 200,
    envelope: false,
    needs: [],
    proof: [],
    partial: true,
    afterUnknown: 'status(chargeId) tells whether the charge was confirmed.',
  }),
  /** Reads a charge; the specification promises its status field alone (G rule 6). */
  status: endpoint({
    operation: 'gateway.status',
    method: 'GET',
    path: '/api/v1/mfs/charges/:id',
    spec: 'G rule 6',
    auth: 'api-key',
    repeatable: 'always',
    idempotencyKey: false,
    response: chargeSchema,
    status: 200,
    envelope: false,
    needs: ['status'],
    proof: [],
    partial: true,
    afterUnknown: READ_AGAIN,
    afterWait: 'The charge may still change: wait again or read it later, and do not charge again meanwhile.',
  }),
  /** Charges an established mandate again, without a code (G rule 2). Same key, one renewal. */
  renew: endpoint({
    operation: 'gateway.renew',
    method: 'POST',
    path: '/api/v1/mfs/charges/:id/renew',
    spec: 'G rule 2',
    auth: 'api-key',
    repeatable: 'always',
    idempotencyKey: true,
    request: renewRequestSchema,
    response: chargeSchema,
    status: 201,
    envelope: false,
    needs: ['id'],
    proof: [],
    afterUnknown:
      'Call again with the same idempotencyKey (error.idempotencyKey): the answer is then the original renewal, never a second one.',
  }),
  /** Clears charges and events; the redirect allowlist stays (G3). */
  reset: endpoint({
    operation: 'gateway.reset',
    method: 'POST',
    path: '/api/v1/reset',
    spec: 'G rule 7',
    auth: 'api-key',
    repeatable: 'when-not-executed',
    idempotencyKey: false,
    response: anyJson,
    status: 200,
    envelope: false,
    needs: [],
    proof: [],
    afterUnknown: 'Resetting again changes nothing more.',
  }),
} as const
