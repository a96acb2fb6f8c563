import type { ApiKeySource } from './auth/api-key.ts'
import { apiKeyIssues, createApiKeyAuthorizer } from './auth/api-key.ts'
import type { Charge, ChargeRequest, Reference } from './contract/gateway.ts'
import { GATEWAY_API_PREFIX, gatewayContract } from './contract/gateway.ts'
import type { Health } from './health.ts'
import { healthOf } from './health.ts'
import type { RenewalInput } from './renewal.ts'
import { renewalKeyOf } from './renewal.ts'
import { systemClock } from './system-clock.ts'
import type { CallOptions } from './transport/call-options.ts'
import { CALL_OPTIONS } from './transport/call-options.ts'
import type { Answered, CallPromise, CallResponse } from './transport/call-promise.ts'
import { callPromise } from './transport/call-promise.ts'
import { monotonicTime } from './transport/call-timeout.ts'
import type { ClientOptions, ClientSettings } from './transport/client-options.ts'
import { checkClientOptions } from './transport/client-options.ts'
import { objectIssues, parameterIssues } from './transport/input-check.ts'
import {
  choiceIssues,
  isFields,
  readable,
  refuse,
  unknownNames,
  whileReading,
} from './transport/input-issues.ts'
import type { OperationMethods } from './transport/operation-methods.ts'
import { Operations } from './transport/operations.ts'
import type { WaitOptions } from './transport/polling.ts'
import { pollUntil } from './transport/polling.ts'

/** Options of a client of area G. */
export interface GatewayClientOptions extends ClientOptions {
  /** The configured key (area G, Authentication), or a function that gives it for each attempt. */
  readonly apiKey: ApiKeySource
  /** How reset is sent; the specification does not show its method. Default: `POST`. */
  readonly resetMethod?: 'POST' | 'DELETE' | undefined
}

const OWN_OPTIONS = /* @__PURE__ */ Object.keys({
  apiKey: true,
  resetMethod: true,
} satisfies Record<Exclude<keyof GatewayClientOptions, keyof ClientOptions>, true>)

const ownIssues = ({ apiKey, resetMethod }: Readonly<Record<string, unknown>>) => [
  ...apiKeyIssues(apiKey),
  ...choiceIssues('resetMethod', ['POST', 'DELETE'], resetMethod),
]

/** Options of a charge. */
export interface ChargeOptions extends CallOptions {
  /**
   * The charge's own key: the same key never charges twice (G rule 1). Made by the client when it is left out; keep
   * the one in the answer or the error. Give one of your own, such as the order's, to be safe across restarts.
   */
  readonly idempotencyKey?: string | undefined
}

/** Input of a confirmation. */
export interface ConfirmInput {
  /** The one-time code that the payer received, as text. */
  readonly otp: string
  /** The charge of the confirmation: it is read when the answer does not tell its status. */
  readonly chargeId?: string | undefined
}

/** What reading a charge surely gives; the specification shows no more than its status (G rule 6). */
export type ChargeState = Pick<Charge, 'status'> & Partial<Omit<Charge, 'status'>>

const PENDING = /^pending_/
const CHARGE_OPTIONS = [...CALL_OPTIONS, 'idempotencyKey']
/** What the caller's arguments are called on the wire, and here. */
const OWN_NAMES = { id: 'chargeId' }
const RENEWAL = "such as { cycle: '2026-12-01' } or { idempotencyKey: '…' }"

/**
 * Client of the sandbox charge gateway (area G).
 *
 * Every method checks its input first and rejects with `InvalidRequestError` before any I/O; the other errors are
 * those of the package's list. Each takes `CallOptions` last and returns a promise that also has `.withResponse()`;
 * `waitForCharge`, which is many calls, takes `WaitOptions` and returns a plain promise.
 */
export class GatewayClient implements OperationMethods<typeof gatewayContract> {
  readonly #settings: ClientSettings
  readonly #operations: Operations
  readonly #resetMethod: 'POST' | 'DELETE'

  /** @throws InvalidRequestError when an option breaks a rule */
  constructor(options: GatewayClientOptions) {
    this.#settings = checkClientOptions('GatewayClient', options, systemClock, OWN_OPTIONS, ownIssues)
    this.#resetMethod = options.resetMethod ?? 'POST'
    this.#operations = new Operations({
      settings: this.#settings,
      prefix: GATEWAY_API_PREFIX,
      emptyBody: 'none',
      authorizers: { 'api-key': createApiKeyAuthorizer(options.apiKey) },
    })
  }

  /**
   * Asks whether the service and its data store are reachable. Never repeated, never held back, and no failure but
   * the caller's abort makes it throw: `ok` is false instead.
   */
  health(options?: CallOptions): CallPromise<Health, CallResponse | undefined> {
    return callPromise(healthOf(this.#operations.call(gatewayContract.health, { options })))
  }

  /** Reads the table of test numbers, whatever its shape, with the dummy code. Needs no key. */
  reference(options?: CallOptions): CallPromise<Reference> {
    return callPromise(this.#operations.call(gatewayContract.reference, { options }))
  }

  /**
   * Charges a payer (G rule 1). Send the payer to `confirmation_url`, or take the code yourself and `confirm`. Repeated
   * by itself, always with the same key and body, so that it is one charge. A repeated key may give the first answer,
   * as it was then: `status(id)` tells the present state. `onUnexpected` hears when the answer's number, amount or
   * currency is not what was sent: its key was probably used before, for another charge.
   *
   * @example const charge = await gateway.charge({ msisdn, amount: 250, currency: 'BDT', redirect_uri })
   */
  charge(request: ChargeRequest, options?: ChargeOptions): CallPromise<Charge> {
    return callPromise(this.#charge(request, options))
  }

  /**
   * Gives the payer's one-time code (G rule 4). A wrong code rejects with `ApiError` 400 and changes nothing. Not
   * repeated once the server may have executed it. What the answer holds is not shown: with `chargeId`, the charge is
   * read when the status is missing, and a failure of that reading does not fail the confirmation.
   */
  confirm(
    confirmationId: string,
    confirmation: ConfirmInput,
    options?: CallOptions,
  ): CallPromise<Partial<Charge>> {
    return callPromise(this.#confirm(confirmationId, confirmation, options))
  }

  /** Reads a charge. */
  status(chargeId: string, options?: CallOptions): CallPromise<ChargeState> {
    return callPromise(this.#status(chargeId, options))
  }

  /**
   * Charges an established mandate again, without a code (G rule 2). A renewal that failed is an answer, not an error:
   * look at its `status`. Repeated by itself with the same key, so that a cycle is charged once. A repeated key may give
   * the first answer, as it was then: `status(id)` tells the present state. Always renew with the first charge's id: a
   * renewal's id makes another key, hence another charge.
   *
   * @example await gateway.renew(mandate.id, { cycle: '2026-12-01' })
   */
  renew(chargeId: string, renewal: RenewalInput, options?: CallOptions): CallPromise<Charge> {
    return callPromise(this.#renew(chargeId, renewal, options))
  }

  /** Clears charges and events (G rule 7). Sends no body. Not repeated once the server may have executed it. */
  reset(options?: CallOptions): CallPromise<unknown> {
    const input = { method: this.#resetMethod, options }
    return callPromise(this.#operations.call(gatewayContract.reset, input))
  }

  /**
   * Reads a charge until `until` holds; by default until its status no longer begins with `pending_`. A status that
   * this package does not know is final.
   *
   * @throws TimeoutError after `timeout` (120 s by default), with the charge last seen in `lastState`; it may still
   * change: wait again or read it later, and do not charge again meanwhile
   */
  async waitForCharge(chargeId: string, options: WaitOptions<ChargeState> = {}): Promise<ChargeState> {
    const endpoint = gatewayContract.status
    return pollUntil({
      endpoint,
      settings: this.#settings,
      options: readable(endpoint.operation, options),
      read: (callOptions) => this.#status(chargeId, callOptions),
      isFinal: ({ status }) => !PENDING.test(status),
    })
  }

  #status(chargeId: string, options: CallOptions | undefined): Promise<Answered<ChargeState>> {
    const input = { parameters: { id: chargeId }, aliases: OWN_NAMES, options }
    return this.#operations.call(gatewayContract.status, input)
  }

  async #charge(request: ChargeRequest, options: ChargeOptions | undefined) {
    const { operation } = gatewayContract.charge
    const idempotencyKey = whileReading(operation, 'options', () =>
      isFields(options) ? options.idempotencyKey : undefined,
    )
    const input = { body: request, idempotencyKey, options, ownOptions: CHARGE_OPTIONS }
    return this.#operations.call(gatewayContract.charge, input)
  }

  async #renew(chargeId: string, renewal: RenewalInput, options: CallOptions | undefined) {
    const { operation } = gatewayContract.renew
    const idempotencyKey = whileReading(operation, 'renewal', () => {
      refuse(operation, [...parameterIssues({ chargeId }), ...objectIssues('renewal', RENEWAL, renewal)])
      return renewalKeyOf(chargeId, renewal)
    })
    const body = { mandate_id: chargeId }
    return this.#operations.call(gatewayContract.renew, {
      parameters: { id: chargeId },
      body,
      idempotencyKey,
      options,
    })
  }

  async #confirm(
    confirmationId: string,
    confirmation: ConfirmInput,
    options: CallOptions | undefined,
  ): Promise<Answered<Partial<Charge>>> {
    const { operation } = gatewayContract.confirm
    const { chargeId, ...body } = whileReading(operation, 'confirmation', () => {
      refuse(operation, [
        ...parameterIssues({ confirmationId }),
        ...objectIssues('confirmation', "such as { otp: '…' }", confirmation),
        ...unknownNames(confirmation, ['otp', 'chargeId'], 'field of confirm'),
      ])
      return { ...confirmation }
    })
    if (chargeId !== undefined) refuse(operation, parameterIssues({ chargeId }))
    const startedAt = monotonicTime()
    const input = { parameters: { confirmationId }, body, options }
    const confirmed = await this.#operations.call(gatewayContract.confirm, input)
    const total = options?.totalTimeout ?? this.#settings.totalTimeout
    const totalTimeout = total - (monotonicTime() - startedAt)
    if (confirmed.data.status !== undefined || chargeId === undefined || totalTimeout <= 0) return confirmed
    try {
      const { data } = await this.#status(chargeId, { ...options, totalTimeout })
      return { ...confirmed, data: { ...confirmed.data, ...data } }
    } catch {
      // The payer has confirmed: that the charge could not be read now does not undo it.
      return confirmed
    }
  }
}
