import type { Authorizer } from './auth/authorizer.ts'
import type { CredentialsSource } from './auth/credentials.ts'
import { credentialsIssues } from './auth/credentials.ts'
import type { TokenAuthorizer } from './auth/token-authorizer.ts'
import { createTokenAuthorizer } from './auth/token-authorizer.ts'
import type { TokenStore } from './auth/token-store.ts'
import type {
  Cancellation,
  Payment,
  PaymentDetails,
  PaymentList,
  RequestStatus,
  SubscribeResult,
  SubscriptionDetails,
  SubscriptionRequest,
  Token,
} from './contract/subscriptions.ts'
import {
  refreshRequestSchema,
  SUBSCRIPTIONS_API_PREFIX,
  subscriptionsContract,
  tokenRequestSchema,
} from './contract/subscriptions.ts'
import type { InputIssue } from './errors.ts'
import { InvalidRequestError } from './errors.ts'
import type { PageOptions } from './page-options.ts'
import { checkPage, LONGEST_PAGE } from './page-options.ts'
import { endIssues } from './subscription-dates.ts'
import { systemClock } from './system-clock.ts'
import { boundedWork } from './transport/bounded-work.ts'
import type { CallOptions } from './transport/call-options.ts'
import type { Answered, CallPromise, CallResponse } from './transport/call-promise.ts'
import { callPromise } from './transport/call-promise.ts'
import { monotonicTime } from './transport/call-timeout.ts'
import type { ClientOptions, ClientSettings } from './transport/client-options.ts'
import { checkClientOptions, durationIssues } from './transport/client-options.ts'
import { notify } from './transport/hooks.ts'
import { objectIssues } from './transport/input-check.ts'
import { choiceIssues, methodIssues, readable, refuse, whileReading } from './transport/input-issues.ts'
import type { OperationMethods } from './transport/operation-methods.ts'
import { Operations } from './transport/operations.ts'
import { eachRecord } from './transport/paging.ts'
import type { WaitOptions } from './transport/polling.ts'
import { pollUntil } from './transport/polling.ts'

/** Options of a client of area S. */
export interface SubscriptionsClientOptions extends ClientOptions {
  /** What the merchant logs in with, or a function that gives it, for secret managers and rotation. */
  readonly credentials: CredentialsSource
  /** Where the token is kept. Default: this client's own memory; give one store to a fleet and it logs in once. */
  readonly tokenStore?: TokenStore | undefined
  /** How a token is renewed. Default: `password`. The specification does not show how a refresh token is used. */
  readonly refresh?: 'password' | 'refresh_token' | undefined
  /** How long a refused login is not tried again, and the longest pause between logins that an answer may ask for, in milliseconds. Default: 15 minutes. */
  readonly loginCooldown?: number | undefined
  /** How token requests are written. Default: `json`, as the specification's conventions say. */
  readonly tokenRequestFormat?: 'json' | 'form' | undefined
  /** What is sent where the specification defines no body fields. Default: `object`, which sends `{}`. */
  readonly emptyBody?: 'object' | 'none' | undefined
}

/** Input of subscribe; `clientID` is taken from the credentials when it is left out. */
export type SubscribeInput = Omit<SubscriptionRequest, 'clientID'> & {
  /** The merchant application's identifier; `clientId` of the credentials when it is left out (S1). */
  readonly clientID?: string | undefined
}

const OWN_OPTIONS = /* @__PURE__ */ Object.keys({
  credentials: true,
  tokenStore: true,
  refresh: true,
  loginCooldown: true,
  tokenRequestFormat: true,
  emptyBody: true,
} satisfies Record<Exclude<keyof SubscriptionsClientOptions, keyof ClientOptions>, true>)

const ownIssues = (options: Readonly<Record<string, unknown>>): InputIssue[] => {
  const { credentials, tokenStore, refresh, tokenRequestFormat, emptyBody } = options
  return [
    ...(typeof credentials === 'function' ? [] : credentialsIssues(credentials)),
    ...(tokenStore === undefined
      ? []
      : methodIssues('tokenStore', 'a token store', ['get', 'set', 'delete'], tokenStore)),
    ...choiceIssues('refresh', ['password', 'refresh_token'], refresh),
    // Without a cool-down a refused login would be repeated until the account is locked.
    ...durationIssues(options, ['loginCooldown']),
    ...choiceIssues('tokenRequestFormat', ['json', 'form'], tokenRequestFormat),
    ...choiceIssues('emptyBody', ['object', 'none'], emptyBody),
  ]
}

const REQUEST = 'with requestID, start, end, userReturnURL, cycle, amount'

/** Issues of the credentials as those of the operation that needed them. */
const renamed = ({ issues, phase, retryable }: InvalidRequestError, operation: string): InvalidRequestError =>
  new InvalidRequestError(operation, issues, { phase, retryable })

/**
 * Client of the subscription API (area S). It logs in by itself, keeps one token for all its calls, and repeats only
 * what cannot act twice.
 *
 * Every method checks its input first and rejects with `InvalidRequestError` before any I/O; the other errors are
 * those of the package's list. Each takes `CallOptions` last and returns a promise that also has `.withResponse()`.
 * Two are many calls and have no `.withResponse()`: `allPayments` is an async generator, and `waitForStatus` takes
 * `WaitOptions` and returns a plain promise.
 */
export class SubscriptionsClient implements OperationMethods<typeof subscriptionsContract> {
  readonly #settings: ClientSettings
  readonly #operations: Operations
  readonly #token: TokenAuthorizer
  readonly #form: boolean
  /** The answers behind tokens, for `login().withResponse()`. */
  readonly #tokenAnswers = new WeakMap<Token, CallResponse>()

  /** @throws InvalidRequestError when an option breaks a rule */
  constructor(options: SubscriptionsClientOptions) {
    this.#settings = checkClientOptions('SubscriptionsClient', options, systemClock, OWN_OPTIONS, ownIssues)
    const { baseUrl, clock, hooks } = this.#settings
    this.#form = options.tokenRequestFormat === 'form'
    const operation = subscriptionsContract.login.operation
    this.#token = createTokenAuthorizer({
      baseUrl,
      credentials: options.credentials,
      requestToken: (fields) => this.#requestToken(fields),
      clock,
      tokenStore: options.tokenStore,
      refresh: options.refresh,
      loginCooldown: options.loginCooldown,
      holdsBack: this.#settings.holdsBack,
      onTokenRenewed: (renewal) => notify(hooks, 'onTokenRenewed', { operation, ...renewal }),
      onUnexpected: (message) => notify(this.#settings, 'onUnexpected', { operation, message }),
    })
    const token: Authorizer = this.#token
    this.#operations = new Operations({
      settings: this.#settings,
      prefix: SUBSCRIPTIONS_API_PREFIX,
      emptyBody: options.emptyBody ?? 'object',
      authorizers: { token },
    })
  }

  /**
   * Logs in now (S-a), also when a token is at hand or an earlier login was refused. Never needed before other calls.
   * Repeated by itself only when the request surely was not sent, or the server named a time to come back.
   * Of its options `signal` and `totalTimeout` count: the request is shared with every call that waits for a token, and
   * keeps to the client's own limits.
   */
  login(options?: CallOptions): CallPromise<Token> {
    return callPromise(this.#login(options))
  }

  /**
   * Creates a subscription request (S-b). Send the payer to the answer's `url`; the payer comes back to
   * `userReturnURL` with `invoiceID`. Not repeated once the server may have executed it: then the error's `outcome`
   * is `unknown`.
   */
  subscribe(request: SubscribeInput, options?: CallOptions): CallPromise<SubscribeResult> {
    return callPromise(this.#subscribe(request, options))
  }

  /** Reads the state of a subscription request by its invoice identifier (S-c). */
  status(invoiceId: string, options?: CallOptions): CallPromise<RequestStatus> {
    const input = { parameters: { invoiceId }, options }
    return callPromise(this.#operations.call(subscriptionsContract.status, input))
  }

  /** Reads a subscription (S-d). */
  details(subscriptionId: string, options?: CallOptions): CallPromise<SubscriptionDetails> {
    const input = { parameters: { subscriptionId }, options }
    return callPromise(this.#operations.call(subscriptionsContract.details, input))
  }

  /** Cancels a subscription (S-e). Not repeated once the server may have executed it. */
  cancel(subscriptionId: string, options?: CallOptions): CallPromise<Cancellation> {
    const input = { parameters: { subscriptionId }, options }
    return callPromise(this.#operations.call(subscriptionsContract.cancel, input))
  }

  /** Reads the record of a cancellation (S-f). */
  cancellation(subscriptionId: string, options?: CallOptions): CallPromise<Cancellation> {
    const input = { parameters: { subscriptionId }, options }
    return callPromise(this.#operations.call(subscriptionsContract.cancellation, input))
  }

  /** Reads one page of a subscription's payments (S-g). */
  payments(subscriptionId: string, page?: PageOptions, options?: CallOptions): CallPromise<PaymentList> {
    return callPromise(this.#payments(subscriptionId, page, options))
  }

  /**
   * Every payment of a subscription, once each, page by page (S-g); ends at the first page that brings nothing new.
   * Pages are read when their first payment is asked for, so leaving the loop reads no more.
   *
   * @param page where to start, and how long pages are: the longest by default
   */
  allPayments(
    subscriptionId: string,
    page?: PageOptions,
    options?: CallOptions,
  ): AsyncGenerator<Payment, void, undefined> {
    const { operation } = subscriptionsContract.payments
    let perPage = LONGEST_PAGE
    const first = (): number => {
      const given = checkPage(operation, subscriptionId, page)
      perPage = given.perPage ?? LONGEST_PAGE
      return given.page ?? 1
    }
    return eachRecord(first, 'paymentId', async (number) => {
      const { data } = await this.#payments(subscriptionId, { page: number, perPage }, options)
      return data.subscriptionPayments
    })
  }

  /** Reads one payment (S-h). */
  payment(paymentId: string | number, options?: CallOptions): CallPromise<PaymentDetails> {
    // A number beyond what JavaScript holds exactly would name another payment.
    const id: unknown = Number.isSafeInteger(paymentId) ? String(paymentId) : paymentId
    const input = { parameters: { paymentId: id }, options }
    return callPromise(this.#operations.call(subscriptionsContract.payment, input))
  }

  /**
   * Reads a request's status until `until` holds; by default until it is no longer INITIALIZED.
   *
   * @throws TimeoutError after `timeout` (120 s by default), with the last status in `lastState`; it may still change: wait
   * again or read it later, and do not subscribe again meanwhile
   */
  async waitForStatus(invoiceId: string, options: WaitOptions<RequestStatus> = {}): Promise<RequestStatus> {
    const endpoint = subscriptionsContract.status
    return pollUntil({
      endpoint,
      settings: this.#settings,
      options: readable(endpoint.operation, options),
      read: (callOptions) =>
        this.#operations.call(endpoint, { parameters: { invoiceId }, options: callOptions }),
      isFinal: ({ status }) => status !== 'INITIALIZED',
    })
  }

  async #payments(subscriptionId: string, page: PageOptions | undefined, options: CallOptions | undefined) {
    const { page: number, perPage } = checkPage(
      subscriptionsContract.payments.operation,
      subscriptionId,
      page,
    )
    const query = { page: number, per_page: perPage }
    const input = { parameters: { subscriptionId }, query, aliases: { per_page: 'perPage' }, options }
    return this.#operations.call(subscriptionsContract.payments, input)
  }

  async #subscribe(request: SubscribeInput, options: CallOptions | undefined) {
    const endpoint = subscriptionsContract.subscribe
    const given = whileReading(endpoint.operation, 'request', () => {
      refuse(endpoint.operation, objectIssues('request', REQUEST, request))
      return { ...request }
    })
    const clientID = given.clientID ?? undefined
    // Everything else is checked before the credentials are asked for.
    const body = { ...given, clientID: clientID ?? 'taken from the credentials' }
    this.#operations.prepare(endpoint, { body, options })
    refuse(endpoint.operation, endIssues(body, this.#settings.clock.now()))
    if (clientID !== undefined) return this.#operations.call(endpoint, { body, options })
    const startedAt = monotonicTime()
    const total = options?.totalTimeout ?? this.#settings.totalTimeout
    const own = { ...options }
    body.clientID = await this.#clientId(own)
    const totalTimeout = Math.max(1, total - (monotonicTime() - startedAt))
    return this.#operations.call(endpoint, { body, options: { ...own, totalTimeout } })
  }

  async #clientId(options: CallOptions | undefined): Promise<string> {
    const endpoint = subscriptionsContract.subscribe
    try {
      return await boundedWork(endpoint, this.#settings, options, () => this.#token.clientId(), false)
    } catch (error) {
      throw error instanceof InvalidRequestError ? renamed(error, endpoint.operation) : error
    }
  }

  async #login(options: CallOptions | undefined): Promise<Answered<Token>> {
    const endpoint = subscriptionsContract.login
    const work = (signal: AbortSignal) => this.#token.login(signal)
    const data = await boundedWork(endpoint, this.#settings, options, work, true)
    const response = this.#tokenAnswers.get(data)
    if (response === undefined) throw new TypeError('A login gave a token that no token request answered.')
    return { data, response }
  }

  /** Sends one token request; it belongs to no call, so that one caller's end does not take the token from others. */
  async #requestToken(fields: Readonly<Record<string, string>>): Promise<Token> {
    const schema = fields.grant_type === 'refresh_token' ? refreshRequestSchema : tokenRequestSchema
    const input = { body: fields, schema, form: this.#form }
    const { data, response } = await this.#operations.call(subscriptionsContract.login, input)
    this.#tokenAnswers.set(data, response)
    return data
  }
}
