import { apiKeyOption, createApiKeyAuthorizer } from './auth/authorizer.ts'
import { check, duration } from './check.ts'
import { type Input, oneOf, optional, strict, withDefault } from './contract/fields.ts'
import type { Charge, ChargeRequest, Reference } from './contract/gateway.ts'
import { confirmRequest, GATEWAY_API_PREFIX, gatewayContract } from './contract/gateway.ts'
import { type AnyMandateKitError, ApiError, isMandateKitError, knownError } from './errors.ts'
import type { CallPromise, CallResponse, WithResponse } from './http/call.ts'
import * as http from './http/call.ts'
import { keyReusedError } from './http/call-error.ts'
import { notify } from './http/observe.ts'
import type { CallOptions, ClientChanges, ClientOptions } from './http/options.ts'
import { callOptionsWith, clientOptionsWith, withDefaults } from './http/options.ts'
import { pollUntil, type WaitOptions } from './http/poll.ts'
import { type Call, idempotencyKey, identifier, prepare, type RawRequest } from './http/prepare.ts'
import { isSameId, reportEchoes } from './http/read-response.ts'
import { type RenewalInput, renewalKeyOf } from './renewal-key.ts'

const gatewayOptions = {
  /** The API key, or a function that returns it (called once for each API call). (Authentication, area G) */
  apiKey: apiKeyOption,
  /**
   * How long the gateway keeps idempotency keys, in milliseconds: ask your provider. Errors contain this time, so that
   * `nextStep(error, { firstSentAt })` never returns `retry` for an expired key. Default: none.
   */
  keyLifetime: optional(duration()),
  /**
   * What the client does if an idempotency key was used before and the response belongs to another charge. With `throw`
   * (default), it throws a `KeyReusedError`. With `report`, it calls `onUnexpected` and returns the response. If the
   * client made the key, `report` always applies, because the key is new. A response belongs to another charge if its
   * `msisdn`, amount or currency differs from the request, or if a renewal returns the mandate's first charge.
   */
  onKeyReuse: withDefault(oneOf(['throw', 'report']), 'throw'),
  /** HTTP method of `reset`. The specification does not name this method. Default: `POST`. */
  resetMethod: withDefault(oneOf(['POST', 'DELETE']), 'POST'),
}
/** Options of a client of area G. */
export interface GatewayClientOptions extends ClientOptions, Input<typeof gatewayOptions> {}
const gatewayOptionsSchema = clientOptionsWith(gatewayOptions)

const chargeOptions = {
  /**
   * The idempotency key of this charge. While the gateway keeps the key, another call with this key does not charge
   * again (G rule 1). By default, the client makes a key: read it from `withResponse()` or the error. To retry safely
   * after a restart, pass your own key, such as the order's id.
   */
  idempotencyKey: optional(idempotencyKey),
}
/** Options of a charge. */
export interface ChargeOptions extends CallOptions, Input<typeof chargeOptions> {}
const chargeOptionsSchema = callOptionsWith(chargeOptions)

const confirmation = {
  ...confirmRequest,
  /** Id of the charge. If the response to the confirmation has no `status`, the client reads this charge. */
  chargeId: optional(identifier),
}
/** Input of a confirmation. */
export interface ConfirmInput extends Input<typeof confirmation> {}
const confirmationSchema = strict(confirmation)

/** The result of reading a charge. Only `status` is certain: the specification shows no other field. (G rule 6) */
export type ChargeState = Pick<Charge, 'status'> & Partial<Omit<Charge, 'status'>>

/** Whether the gateway and its data store are reachable. `ok` is true only for HTTP 200. (G health) */
export type Health =
  | {
      /** The gateway and its data store are reachable. */
      readonly ok: true
      /** The HTTP status. */
      readonly status: 200
    }
  | {
      /** There was no response with HTTP 200. */
      readonly ok: false
      /** The HTTP status, if there was a response. */
      readonly status?: number
      /** The error of the failed call; absent if the call succeeded with a status other than 200, such as 204. */
      readonly error?: AnyMandateKitError
    }

const createGatewayContext = (options: GatewayClientOptions) => {
  const given = check('GatewayClient', gatewayOptionsSchema, options)
  const { apiKey, keyLifetime, onKeyReuse, resetMethod, ...common } = given
  return http.createContext({
    settings: withDefaults(common),
    authorizers: { 'api-key': createApiKeyAuthorizer(apiKey) },
    prefix: GATEWAY_API_PREFIX,
    emptyBody: 'none',
    keyLifetime,
    resetMethod,
    checkSuccess: (call: Call, data: unknown, body: unknown) => {
      const reused = reportEchoes(call.endpoint, call.fields, data)
      if (reused === undefined) return
      if (onKeyReuse === 'throw' && !call.isKeyGenerated) throw keyReusedError(call, reused.message, body)
      notify(call.client.settings, 'onUnexpected', reused)
    },
  })
}

/**
 * Client of the sandbox charge gateway (area G).
 *
 * Every method checks its input before any I/O. If the input is invalid, every method except `health` rejects with
 * `InvalidRequestError`. Methods that make one call take `CallOptions` as their last argument and return a promise with
 * `.withResponse()`. `waitForCharge` makes many calls, so it takes `WaitOptions` and returns a plain promise.
 */
export class GatewayClient {
  readonly #context: ReturnType<typeof createGatewayContext>

  /** @throws InvalidRequestError when an option breaks a rule */
  constructor(options: GatewayClientOptions) {
    this.#context = options instanceof http.SharedContext ? options.context : createGatewayContext(options)
  }

  /**
   * Returns a client with changed options. It shares this client's rate limit, and also sends this client's headers.
   * @example const patient = gateway.withOptions({ timeout: 60_000, logLevel: 'debug' })
   */
  withOptions(changes: ClientChanges): GatewayClient {
    return clientOf(new http.SharedContext(this.#context, changes))
  }

  /**
   * Checks whether the service and its data store are reachable. The client never retries or delays this check. The
   * promise rejects only when the caller aborts the call. For every other failure, `ok` is false.
   */
  health(options?: CallOptions): CallPromise<Health, CallResponse | undefined> {
    return http.callPromise(this.#health(options))
  }

  /** Reads the test numbers and the one-time code, without an API key. The specification does not show the response. */
  reference(options?: CallOptions): CallPromise<Reference> {
    return http.makeCall(this.#context, gatewayContract.reference, { options })
  }

  /**
   * Charges a payer (G rule 1). Next, send the payer to `confirmation_url`, or ask the payer for the one-time code and
   * call `confirm`. A retry sends the same key and body, so that the payer is not charged twice. If the key was used
   * before, the server returns the original response: call `status(id)` for the current state. If that response belongs
   * to another charge, see the option `onKeyReuse`.
   *
   * @example const charge = await gateway.charge({ msisdn, amount: 250, currency: 'BDT', redirect_uri })
   */
  charge(request: ChargeRequest, options?: ChargeOptions): CallPromise<Charge> {
    const { charge } = gatewayContract
    return http.makeCall(this.#context, charge, () => {
      const { idempotencyKey, ...rest } =
        options === undefined ? {} : check(charge.operation, chargeOptionsSchema, options)
      return { body: request, idempotencyKey, options: options && rest }
    })
  }

  /**
   * Confirms a charge with the payer's one-time code (G rule 4). A wrong code causes an `ApiError` with status 400 and
   * changes nothing. The client does not retry a confirmation that the server may have executed. If the response has no
   * `status` and you pass `chargeId`, the client also reads the charge. If this read fails, `confirm` still succeeds.
   */
  confirm(
    confirmationId: string,
    confirmation: ConfirmInput,
    options?: CallOptions,
  ): CallPromise<Partial<Charge>> {
    return http.callPromise(this.#confirm(confirmationId, confirmation, options))
  }

  /** Reads a charge. (G rule 6) */
  status(chargeId: string, options?: CallOptions): CallPromise<ChargeState> {
    return http.makeCall(this.#context, gatewayContract.status, { path: { chargeId }, options })
  }

  /**
   * Charges an established mandate again, at once. The payer enters no code (G rule 2). A failed renewal causes no error:
   * check the result's `status`. A retry sends the same key, so that the payer pays only once. If the key was used
   * before, the server returns the original response: call `status(id)` for the current state. Always pass the id of
   * the first charge, because the client makes the key from this id and `dueDate`. If you pass the id of a renewal
   * instead, the key differs, and the payer may be charged twice.
   *
   * @example await gateway.renew(mandate.id, { dueDate: '2026-12-01' })
   */
  renew(chargeId: string, renewal: RenewalInput, options?: CallOptions): CallPromise<Charge> {
    const { renew } = gatewayContract
    return http.makeCall(this.#context, renew, () => {
      const body = { mandate_id: check(renew.operation, identifier, chargeId, 'chargeId') }
      const idempotencyKey = renewalKeyOf(renew.operation, chargeId, renewal)
      return { path: { chargeId }, body, idempotencyKey, options }
    })
  }

  /** Deletes all charges and events (G rule 7). The client does not retry a reset that the server may have executed. */
  reset(options?: CallOptions): CallPromise<unknown> {
    return http.makeCall(this.#context, gatewayContract.reset, { method: this.#context.resetMethod, options })
  }

  /**
   * Reads a charge repeatedly until the option `until` returns true. By default, the wait ends at the first status that
   * does not begin with `pending_`, even if this package does not know the status.
   *
   * @throws TimeoutError after `timeout` (default: 120 s). `lastState` is the charge as the client last read it. The
   * charge may still change, so call `waitForCharge` or `status` again. Do not charge again before the status is final.
   */
  async waitForCharge(chargeId: string, options?: WaitOptions<ChargeState>): Promise<ChargeState> {
    return pollUntil({
      endpoint: gatewayContract.status,
      settings: this.#context.settings,
      options,
      read: (callOptions) => this.status(chargeId, callOptions).withResponse(),
      isFinal: ({ status }) => !status.startsWith('pending_'),
    })
  }

  /**
   * Calls an operation for which the client has no method. Authorization, errors, hooks and logging are the same
   * as for the other methods. By default, the client does not retry the call.
   * @example await gateway.request({ method: 'GET', path: '/api/v1/mfs/refunds', retry: 'always' })
   */
  request(request: RawRequest, options?: CallOptions): CallPromise<unknown> {
    const definition = { operation: 'gateway.request', auth: 'api-key' } as const
    return http.makeRawCall(this.#context, definition, request, options)
  }

  async #health(options?: CallOptions): Promise<WithResponse<Health, CallResponse | undefined>> {
    try {
      const { response } = await http
        .makeCall(this.#context, gatewayContract.health, { options })
        .withResponse()
      const { status } = response
      return { data: status === 200 ? { ok: true, status } : { ok: false, status }, response }
    } catch (error) {
      if (!isMandateKitError(error) || error.code === 'aborted') throw error
      const { status } = knownError(error)
      const data = { ok: false, ...(status !== undefined && { status }), error } as const
      if (!(error instanceof ApiError) || status === undefined) return { data, response: undefined }
      return { data, response: http.responseOf({ ...error, status }) }
    }
  }

  async #confirm(confirmationId: string, confirmation: ConfirmInput, options?: CallOptions) {
    const { operation } = gatewayContract.confirm
    const { chargeId, ...body } = check(operation, confirmationSchema, confirmation, 'request')
    const call = prepare(this.#context, gatewayContract.confirm, { path: { confirmationId }, body, options })
    // With `chargeId`, the client reads that charge if the response is about another.
    if (chargeId !== undefined) call.id = undefined
    const confirmed = await http.runCall(call, () => http.runWithRetries(call))
    const { id, confirmation_id: shown = confirmationId } = confirmed.data
    const isOwn = id === undefined ? isSameId(shown, confirmationId) : isSameId(id, chargeId)
    const own: Partial<typeof confirmed.data> = isOwn ? confirmed.data : {}
    if (chargeId === undefined || own.status !== undefined) return confirmed
    try {
      const read = { path: { chargeId }, options, deadline: call.deadline }
      const charge = await http.makeCall(this.#context, gatewayContract.status, read)
      return { ...confirmed, data: { ...own, ...charge } }
    } catch {
      // The confirmation has succeeded, so a failed read of the charge must not make it fail.
      return { ...confirmed, data: own }
    }
  }
}

// Outside the class: esbuild renames a class that names itself, and logs would show `_GatewayClient`.
const clientOf = (context: unknown): GatewayClient => new GatewayClient(context as never)
