import type { EndpointDefinition } from './endpoint.ts'
import type { Field, Input, Output } from './fields.ts'
import { anyJson, filledText, inputUrl, response, strict, wholeNumber } from './fields.ts'
import { idText, integer, mobileNumber, openText, text, urlOnWire } from './response-fields.ts'

/** Charge statuses (G1). */
export type KnownChargeStatus = 'pending_confirmation' | 'pending_retry' | 'succeeded' | 'failed' | 'expired'
/** Known values of a charge's field `outcome`, the result of the payment. The specification shows only PENDING. */
export type KnownChargeOutcome =
  | 'PENDING'
  | 'SUCCEEDED'
  | 'INSUFFICIENT_FUNDS'
  | 'WALLET_BLOCKED'
  | 'RETRYING'
  | 'EXPIRED'

const ASK_FOR_UNIT = ' (ask your payment provider for the unit)'

const chargeRequest = {
  /** The payer's mobile number in international format: country code and number. (G1) */
  msisdn: filledText('a mobile number in international format'),
  /** Amount: a whole number. Ask the provider for the unit (taka or paisa). (G1) @remarks The client sends it as is. */
  amount: wholeNumber(0, undefined, ASK_FOR_UNIT),
  /** Currency code, such as `BDT`. (G1) */
  currency: filledText('a currency code such as "BDT"'),
  /** Absolute URL to which the payer returns. The gateway may refuse URLs outside its allowlist. (G rule 8) */
  redirect_uri: inputUrl,
}
/** Input of a charge. (G1) */
export interface ChargeRequest extends Input<typeof chargeRequest> {}
/** Checks the input of a charge. The client sends `amount` unchanged: the specification does not show its unit. */
export const chargeRequestSchema: Field<ChargeRequest, ChargeRequest> = strict(chargeRequest)

export const confirmRequest = {
  /** The one-time code that the payer received: a string, because a code may start with 0. (G rule 4) */
  otp: filledText('the one-time code as a string'),
}
/** Body of a confirmation. (G rule 4) */
export interface ConfirmRequest extends Input<typeof confirmRequest> {}
/** Checks the body of a confirmation. */
export const confirmRequestSchema: Field<ConfirmRequest, ConfirmRequest> = strict(confirmRequest)

const renewRequest = {
  /** Identifier of the mandate's first charge: the same id as in the path. (G rule 2) */
  mandate_id: filledText(),
}
/** Body of a renewal. (G rule 2) */
export interface RenewRequest extends Input<typeof renewRequest> {}
/** Checks the body of a renewal. */
export const renewRequestSchema: Field<RenewRequest, RenewRequest> = strict(renewRequest)

const charge = {
  /** Identifier of the charge, such as `ch_1`. To renew a mandate, use the id of its first charge. (G1) */
  id: idText('ch_'),
  /** The payer's mobile number in international format. (G1) */
  msisdn: mobileNumber,
  /** Amount in the same unit as in the request. (G1) @remarks The client converts decimal text to a number. */
  amount: integer,
  /** Currency code, such as `BDT`. (G1) */
  currency: text,
  /** Status: `pending_confirmation`, `pending_retry`, `succeeded` (paid), `failed`, `expired`, or other text. (G1) */
  status: openText<KnownChargeStatus>(
    'pending_confirmation',
    'pending_retry',
    'succeeded',
    'failed',
    'expired',
  ),
  /** Result of the charge, such as `INSUFFICIENT_FUNDS`. `PENDING` means that there is no result yet. (G1) */
  outcome: openText<KnownChargeOutcome>(
    'PENDING',
    'SUCCEEDED',
    'INSUFFICIENT_FUNDS',
    'WALLET_BLOCKED',
    'RETRYING',
    'EXPIRED',
  ),
  /** Identifier of the confirmation, such as `conf_1`. (G1) @remarks Pass it to `confirm`. */
  confirmation_id: idText('conf_'),
  /** Address of the page where the payer enters the code. Send the payer to exactly this address. (G1) */
  confirmation_url: urlOnWire,
  /** Creation time, in the server's own format, such as ISO 8601. (G1) */
  created_at: text,
}
/** A charge. (G1) */
export interface Charge extends Output<typeof charge> {}
/** Schema of a charge. (G1) */
export const chargeSchema: Field<Charge> = response(charge)

const errorDetail = {
  /** Error code in snake_case, such as `incorrect_code`. (G2) @remarks It is the `errorCode` of an `ApiError`. */
  code: text,
  /** Explains the error to humans. (G2) */
  message: text,
}
/** Code and message of an error of area G. (G2) */
export interface GatewayErrorDetail extends Output<typeof errorDetail> {}

const errorBody = {
  /** Code and message of the error. (G2) */
  error: /* @__PURE__ */ response(errorDetail) as Field<GatewayErrorDetail>,
}
/** Error body of area G. (G2) */
export interface GatewayErrorBody extends Output<typeof errorBody> {}
/** Schema of an error body of area G. (G2) */
export const gatewayErrorSchema: Field<GatewayErrorBody> = /* @__PURE__ */ response(errorBody)

/** The table of test numbers. The specification does not show the table's shape, so it can be any JSON. */
export type Reference = unknown

/** The version prefix of area G's routes (Specification, Versioning). `/health` has no prefix. */
export const GATEWAY_API_PREFIX = '/api/v1'

// An error may have fields `id` and `status` of its own, but only a charge also has `confirmation_id`.
const CHARGE = ['id', 'confirmation_id']

// Several calls with the same idempotency key act only once.
const KEYED = {
  method: 'POST',
  auth: 'api-key',
  retry: 'always',
  idempotencyKey: true,
  response: chargeSchema,
  requiredFields: ['id'],
  createdFields: CHARGE,
  acts: true,
  afterUnknown: {
    how: 'find-charge',
    advice: 'while the gateway keeps the key, a retry returns the result and cannot charge twice.',
  },
} as const

/** The seven routes of area G. */
export const gatewayContract = {
  /** Checks whether the service and its data store are reachable. */
  health: {
    operation: 'gateway.health',
    method: 'GET',
    path: '/health',
    spec: 'G health',
    auth: 'none',
    retry: 'never',
    response: anyJson,
    status: 200,
    anyBody: true,
  },
  /** Reads the table of test numbers. */
  reference: {
    operation: 'gateway.reference',
    method: 'GET',
    path: '/api/v1/reference',
    spec: 'G reference',
    auth: 'none',
    retry: 'always',
    response: anyJson,
    status: 200,
  },
  /** Charges a payer, who then confirms with a code. Requests with the same `Idempotency-Key` cause only one charge. */
  charge: {
    ...KEYED,
    operation: 'gateway.charge',
    path: '/api/v1/mfs/charges',
    spec: 'G rule 1',
    request: chargeRequestSchema,
    status: 202,
    echoedFields: ['msisdn', 'amount', 'currency'],
  },
  /**
   * Confirms a charge. If the response is lost, the code may be used up: read the charge before you confirm again.
   * @remarks The client retries only if the server provably did not act.
   */
  confirm: {
    operation: 'gateway.confirm',
    method: 'POST',
    path: '/api/v1/mfs/confirm/:confirmationId',
    spec: 'G rule 4',
    auth: 'api-key',
    retry: 'when-not-executed',
    request: confirmRequestSchema,
    response: chargeSchema,
    status: 200,
    partialResponse: true,
    identityFields: ['confirmation_id'],
    createdFields: CHARGE,
    acts: true,
    afterUnknown: {
      how: 'read-charge',
      advice: 'Call status(chargeId) to see whether the charge was confirmed.',
    },
  },
  /** Reads a charge. The specification promises only the field `status`. (G rule 6) */
  status: {
    operation: 'gateway.status',
    method: 'GET',
    path: '/api/v1/mfs/charges/:id',
    spec: 'G rule 6',
    auth: 'api-key',
    retry: 'always',
    response: chargeSchema,
    status: 200,
    requiredFields: ['status'],
    identityFields: ['id'],
    partialResponse: true,
    afterWait: 'The charge may still change, so do not charge again. Read its status later.',
  },
  /** Charges a mandate's payer, who enters no code. Requests with the same `Idempotency-Key` cause only one charge. */
  renew: {
    ...KEYED,
    operation: 'gateway.renew',
    path: '/api/v1/mfs/charges/:id/renew',
    spec: 'G rule 2',
    request: renewRequestSchema,
    sourceField: 'mandate_id',
    status: 201,
  },
  /** Deletes charges and events. The gateway keeps the redirect allowlist. (G3) */
  reset: {
    operation: 'gateway.reset',
    method: 'POST',
    path: '/api/v1/reset',
    spec: 'G rule 7',
    auth: 'api-key',
    retry: 'when-not-executed',
    response: anyJson,
    status: 200,
    acts: true,
    afterUnknown: { how: 'read-state', advice: 'Calling again is safe.' },
  },
} as const satisfies Readonly<Record<string, EndpointDefinition>>
