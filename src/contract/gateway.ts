import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
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

const filled = (value: string): boolean => value.trim().length > 0

/** Body of a charge. `amount` is sent as given: the specification does not show its unit. */
export const chargeRequestSchema = z.strictObject({
  msisdn: input('a mobile number as text, in international format', filled),
  amount: wholeNumber('a whole number from 0'),
  currency: input('a currency code as text', filled),
  redirect_uri: input('an absolute URL such as https://shop.example/return', isAbsoluteUrl),
})

/** Body of a confirmation: the one-time code, as text (leading zeros count). */
export const confirmRequestSchema = z.strictObject({ otp: input('the one-time code as text', filled) })

/** Body of a renewal: the mandate's charge id again (G rule 2). */
export const renewRequestSchema = z.strictObject({ mandate_id: input('text that is not empty', filled) })

/** A charge (G1). */
export const chargeSchema = answer({
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
export const gatewayErrorSchema = answer({ error: answer({ code: text, message: text }) })

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

/** Body of a charge. */
export type ChargeRequest = z.infer<typeof chargeRequestSchema>
/** A charge (G1). */
export type Charge = z.infer<typeof chargeSchema>
/** Error body of area G (G2). */
export type GatewayErrorBody = z.infer<typeof gatewayErrorSchema>
/** The reference table; its shape is not shown, so it is read as any JSON. */
export type Reference = unknown
