import { apiKeyOption, createApiKeyAuthorizer } from './auth/api-key.ts'
import { check } from './check.ts'
import type { Input } from './contract/fields.ts'
import { filledText, oneOf, optional, strict, withDefault } from './contract/fields.ts'
import type { Charge, ChargeRequest, Reference } from './contract/gateway.ts'
import { GATEWAY_API_PREFIX, gatewayContract } from './contract/gateway.ts'
import type { AnyMandateKitError } from './errors.ts'
import { ApiError, isMandateKitError } from './errors.ts'
import type { CallPromise, CallResponse, MakeCall, WithResponse } from './http/call.ts'
import { callPromise, createClient } from './http/call.ts'
import { Deadline } from './http/deadline.ts'
import type { CallOptions, ClientOptions } from './http/options.ts'
import { callOptionsWith, clientOptionsWith } from './http/options.ts'
import type { WaitOptions } from './http/poll.ts'
import { pollUntil } from './http/poll.ts'
import type { ClientParts } from './http/prepare.ts'
import { checkIdentifier, idempotencyKey, prepare } from './http/prepare.ts'
import type { RenewalInput } from './renewal-key.ts'
import { renewalKeyOf } from './renewal-key.ts'

const gatewayOptions = {
  /** The configured key, or a function that returns it for each attempt. (Authentication, area G) */
  apiKey: apiKeyOption,
  /** HTTP method of reset, which the specification does not show. Default: `POST`. */
  resetMethod: withDefault(oneOf(['POST', 'DELETE']), 'POST'),
}
/** Options of a client of area G. */
export interface GatewayClientOptions extends ClientOptions, Input<typeof gatewayOptions> {}
const gatewayOptionsSchema = clientOptionsWith(gatewayOptions)

const chargeOptions = {
  /**
   * The key of this charge: the same key never charges twice (G rule 1). By default the client makes one; keep the one of
   * the response or the error. Pass your own, such as the order's, to be safe across restarts.
   */
  idempotencyKey: optional(idempotencyKey),
}
/** Options of a charge. */
export interface ChargeOptions extends CallOptions, Input<typeof chargeOptions> {}
const chargeOptionsSchema = callOptionsWith(chargeOptions)

const confirmation = {
  /** The one-time code that the payer received, as a string. */
  otp: filledText('the one-time code as a string'),
  /** The charge of the confirmation. It is read when the response lacks the status. */
  chargeId: optional(filledText()),
}
/** Input of a confirmation. */
export interface ConfirmInput extends Input<typeof confirmation> {}
const confirmationSchema = strict(confirmation)

/** The result of reading a charge. Only the status is certain, because the specification shows no more. (G rule 6) */
export type ChargeState = Pick<Charge, 'status'> & Partial<Omit<Charge, 'status'>>

/** Whether the gateway and its data store are reachable. Only HTTP 200 is ok. (G health) */
export type Health =
  | {
      /** Both are reachable. */
      readonly ok: true
      /** The HTTP status. */
      readonly status: 200
    }
  | {
      /** One of them is not reachable. */
      readonly ok: false
      /** The HTTP status, if there was a response. */
      readonly status?: number
      /** Why there was no healthy response. */
      readonly error?: AnyMandateKitError
    }

const responseOf = (error: AnyMandateKitError): CallResponse | undefined => {
  if (!(error instanceof ApiError) || error.status === undefined) return undefined
  const { status, headers, serverRequestId, body, rateLimit, attempts, idempotencyKey } = error
  return { status, headers, serverRequestId, body, rateLimit, attempts, idempotencyKey }
}

/**
 * Client of the sandbox charge gateway (area G).
 *
 * Every method checks its input first and rejects with `InvalidRequestError` before any I/O. Every method takes
 * `CallOptions` last and returns a promise that also has `.withResponse()`. `waitForCharge` makes many calls: it takes
 * `WaitOptions` and returns a plain promise.
 */
export class GatewayClient {
  readonly #client: ClientParts
  readonly #call: MakeCall
  readonly #resetMethod: 'POST' | 'DELETE'

  /** @throws InvalidRequestError when an option breaks a rule */
  constructor(options: GatewayClientOptions) {
    const { apiKey, resetMethod, ...settings } = check('GatewayClient', gatewayOptionsSchema, options)
    this.#resetMethod = resetMethod
    const { client, call } = createClient({
      settings,
      authorizers: { 'api-key': createApiKeyAuthorizer(apiKey) },
      prefix: GATEWAY_API_PREFIX,
      emptyBody: 'none',
    })
    this.#client = client
    this.#call = call
  }

  /**
   * Checks whether the service and its data store are reachable. It is never retried and never delayed, and it rejects
   * only when the caller aborts it: otherwise `ok` is false.
   */
  health(options?: CallOptions): CallPromise<Health, CallResponse | undefined> {
    return callPromise(this.#health(options))
  }

  /** Reads the table of test numbers, with the dummy code. Its shape is not specified. Needs no key. */
  reference(options?: CallOptions): CallPromise<Reference> {
    return callPromise(this.#call(gatewayContract.reference, { options }))
  }

  /**
   * Charges a payer (G rule 1). Send the payer to `confirmation_url`, or ask for the code yourself and call `confirm`. The
   * client retries it with the same key and body, so that it is one charge. A key that was used before returns the
   * original response, which is not updated: `status(id)` reads the present state. If the number, amount or currency
   * differ from the request, `onUnexpected` is called, because the key probably belongs to another charge.
   *
   * @example const charge = await gateway.charge({ msisdn, amount: 250, currency: 'BDT', redirect_uri })
   */
  charge(request: ChargeRequest, options?: ChargeOptions): CallPromise<Charge> {
    return callPromise(this.#charge(request, options))
  }

  /**
   * Confirms a charge with the payer's one-time code (G rule 4). A wrong code rejects with `ApiError` 400 and changes
   * nothing. It is not retried once the server may have executed it. The specification does not show the response: with
   * `chargeId`, the charge is read when the status is missing. If that read fails, the confirmation still succeeds.
   */
  confirm(
    confirmationId: string,
    confirmation: ConfirmInput,
    options?: CallOptions,
  ): CallPromise<Partial<Charge>> {
    return callPromise(this.#confirm(confirmationId, confirmation, options))
  }

  /** Reads a charge. (G rule 6) */
  status(chargeId: string, options?: CallOptions): CallPromise<ChargeState> {
    return callPromise(this.#call(gatewayContract.status, { path: { chargeId }, options }))
  }

  /**
   * Charges an established mandate again, without a code (G rule 2). A renewal that failed is a response, not an error:
   * check its `status`. The client retries it with the same key, so that a cycle is charged once. A key that was used
   * before returns the original response, which is not updated: `status(id)` reads the present state. Always renew with
   * the first charge's id: a renewal's id makes another key, and so another charge.
   *
   * @example await gateway.renew(mandate.id, { dueDate: '2026-12-01' })
   */
  renew(chargeId: string, renewal: RenewalInput, options?: CallOptions): CallPromise<Charge> {
    return callPromise(this.#renew(chargeId, renewal, options))
  }

  /** Clears charges and events (G rule 7). Sends no body. It is not retried once the server may have executed it. */
  reset(options?: CallOptions): CallPromise<unknown> {
    return callPromise(this.#call(gatewayContract.reset, { method: this.#resetMethod, options }))
  }

  /**
   * Reads a charge until `until` holds; by default until its status no longer begins with `pending_`. A status that this
   * package does not know is final.
   *
   * @throws TimeoutError after `timeout` (default: 120 s), with the last charge in `lastState`. The charge may still
   * change: wait again or read it later, and do not charge again meanwhile.
   */
  async waitForCharge(chargeId: string, options?: WaitOptions<ChargeState>): Promise<ChargeState> {
    return pollUntil({
      endpoint: gatewayContract.status,
      settings: this.#client.settings,
      options,
      read: (callOptions) => this.#call(gatewayContract.status, { path: { chargeId }, options: callOptions }),
      isFinal: ({ status }) => !status.startsWith('pending_'),
    })
  }

  async #health(options?: CallOptions): Promise<WithResponse<Health, CallResponse | undefined>> {
    try {
      const { response } = await this.#call(gatewayContract.health, { options })
      const { status } = response
      return { data: status === 200 ? { ok: true, status } : { ok: false, status }, response }
    } catch (error) {
      if (!isMandateKitError(error) || error.code === 'aborted') throw error
      const status = 'status' in error ? error.status : undefined
      const data = { ok: false, ...(status !== undefined && { status }), error } as const
      return { data, response: responseOf(error) }
    }
  }

  async #charge(request: ChargeRequest, options: ChargeOptions | undefined) {
    const { charge } = gatewayContract
    const { idempotencyKey, ...rest } =
      options === undefined ? {} : check(charge.operation, chargeOptionsSchema, options)
    return this.#call(charge, { body: request, idempotencyKey, options: options && rest })
  }

  async #renew(chargeId: string, renewal: RenewalInput, options: CallOptions | undefined) {
    const { operation } = gatewayContract.renew
    const body = { mandate_id: checkIdentifier(operation, 'chargeId', chargeId) }
    const idempotencyKey = renewalKeyOf(operation, chargeId, renewal)
    return this.#call(gatewayContract.renew, { path: { chargeId }, body, idempotencyKey, options })
  }

  async #confirm(
    confirmationId: string,
    confirmation: ConfirmInput,
    options?: CallOptions,
  ): Promise<WithResponse<Partial<Charge>>> {
    const { operation } = gatewayContract.confirm
    const { chargeId, ...body } = check(operation, confirmationSchema, confirmation, 'request')
    if (chargeId !== undefined) checkIdentifier(operation, 'chargeId', chargeId)
    const confirm = { path: { confirmationId }, body, options }
    const { totalTimeout, signal } = prepare(this.#client, gatewayContract.confirm, confirm).limits
    const deadline = new Deadline(totalTimeout, signal)
    const confirmed = await this.#call(gatewayContract.confirm, confirm, deadline)
    if (confirmed.data.status !== undefined || chargeId === undefined) return confirmed
    try {
      const { data } = await this.#call(gatewayContract.status, { path: { chargeId }, options }, deadline)
      return { ...confirmed, data: { ...confirmed.data, ...data } }
    } catch {
      // The payer has confirmed: a charge that cannot be read now does not undo that.
      return confirmed
    }
  }
}
