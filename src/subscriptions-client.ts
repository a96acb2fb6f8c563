import { credentialsOption } from './auth/credentials.ts'
import { createTokenLifecycle } from './auth/token-lifecycle.ts'
import { createMemoryTokenStore, type TokenStore } from './auth/token-store.ts'
import { check, duration, inputError, objectWith } from './check.ts'
import { anyJson, type Input, isObject, oneOf, optional, strict, withDefault } from './contract/fields.ts'
import { dayNumber, MAX_SUBSCRIPTION_DAYS } from './contract/formats.ts'
import * as contract from './contract/subscriptions.ts'
import { subscriptionsContract } from './contract/subscriptions.ts'
import { ApiError } from './errors.ts'
import type { CallPromise, WithResponse } from './http/call.ts'
import * as http from './http/call.ts'
import { notify } from './http/observe.ts'
import type { CallOptions, ClientChanges, ClientOptions } from './http/options.ts'
import { clientOptionsWith, withDefaults } from './http/options.ts'
import { pollUntil, type WaitOptions } from './http/poll.ts'
import { prepare, type RawRequest } from './http/prepare.ts'

const subscriptionsOptions = {
  /** The merchant's login credentials, or a function that returns them, for example from a secret store. */
  credentials: credentialsOption,
  /** Keeps the token. Clients with the same store and credentials share a login. Default: this client's own memory. */
  tokenStore: optional(objectWith<TokenStore>('a token store', 'get', 'set', 'delete')),
  /** How the client renews a token. Default: `password`, because the specification shows no refresh request. */
  refresh: withDefault(oneOf(['password', 'refresh_token']), 'password'),
  /**
   * Time between a rejected login and the client's next login, in milliseconds. After this time,
   * the client logs in even if the server asked for a longer pause. Default: 900 000 (15 minutes).
   */
  loginCooldown: withDefault(duration(), 900_000),
  /** Format of token requests. Default: `json`, as in the specification's conventions. */
  tokenRequestFormat: withDefault(oneOf(['json', 'form']), 'json'),
  /** Body of requests that have no fields: `object` sends `{}`, and `none` sends no body. Default: `object`. */
  emptyBody: withDefault(oneOf(['object', 'none']), 'object'),
}
/** Options of a client of area S. */
export interface SubscriptionsClientOptions extends ClientOptions, Input<typeof subscriptionsOptions> {}
const subscriptionsOptionsSchema = clientOptionsWith(subscriptionsOptions)

/** Input of `subscribe`. Without `clientID`, the client sends the `clientId` of the credentials. */
export interface SubscribeInput extends Omit<contract.SubscriptionRequest, 'clientID'> {
  /** The merchant application's identifier. Default: `clientId` of the credentials. (S1) */
  readonly clientID?: string | undefined
}

const pageOptions = {
  /** Page number; the first page is 1. (Limits, Pagination) */
  page: contract.pageNumber,
  /** Records per page: 1 to 100. The server's default is 10. A server may ignore `perPage`. (Limits, Pagination) */
  perPage: contract.pageSize,
}
/** Selects a page of a list, and sets the number of records per page. */
export interface PageOptions extends Input<typeof pageOptions> {}
const checkPage = (page: PageOptions = {}) =>
  check(subscriptionsContract.payments.operation, strict(pageOptions, 'option'), page)

const MAX_PAGE_SIZE = 100
const MILLISECONDS_PER_DAY = 86_400_000
// A new day begins first in the time zone UTC+14.
const EARLIEST_ZONE = 14 * 3_600_000

/** Rejects an `end` over 730 days after `start`, or after today (UTC+14) if `start` is earlier. (Limits, area S) */
const checkEnd = (operation: string, { start, end }: { start: string; end: string }, now: number): void => {
  const today = Math.floor((now + EARLIEST_ZONE) / MILLISECONDS_PER_DAY)
  const latest = Math.max(dayNumber(start) ?? 0, today) + MAX_SUBSCRIPTION_DAYS
  if ((dayNumber(end) ?? 0) <= latest) return
  const rule = `at most ${MAX_SUBSCRIPTION_DAYS} days after the later of start and today`
  throw inputError(operation, 'end', rule, end, 'string')
}

/** Returns the identifier of a payment, or the whole payment as JSON if the server omits `paymentId`. */
const identityOf = (record: contract.Payment): string => {
  const id: unknown = record.paymentId ?? undefined
  return id === undefined ? JSON.stringify(record) : String(id)
}

type Lifecycle = ReturnType<typeof createTokenLifecycle<WithResponse<contract.Token>>>

const createSubscriptionsContext = (options: SubscriptionsClientOptions) => {
  const given = check('SubscriptionsClient', subscriptionsOptionsSchema, options)
  const { credentials, tokenStore, refresh, loginCooldown, tokenRequestFormat, emptyBody, ...common } = given
  const settings = withDefaults(common)
  const { login } = subscriptionsContract
  const { operation } = login
  const token: Lifecycle = createTokenLifecycle({
    baseUrl: settings.baseUrl,
    credentials,
    // `anyJson`: the login's schema would reject a refresh token, and `readCredentials` has checked the credentials.
    requestToken: (body, signal) => {
      const form = { body: `${new URLSearchParams(body)}`, contentType: 'application/x-www-form-urlencoded' }
      const encoded = tokenRequestFormat === 'form' ? form : undefined
      const input = { body, schema: anyJson, encoded, options: { signal } }
      return http.makeCall(context, login, input).withResponse()
    },
    clock: settings.clock,
    tokenStore: tokenStore ?? createMemoryTokenStore(),
    refresh,
    loginCooldown,
    onTokenRenewed: (renewal) => notify(settings, 'onTokenRenewed', { operation, ...renewal }),
    onUnexpected: (message) => notify(settings, 'onUnexpected', { operation, message }),
  })
  const prefix = contract.SUBSCRIPTIONS_API_PREFIX
  const context = http.createContext({
    settings,
    authorizers: { token: token.authorize },
    prefix,
    emptyBody,
    token,
  })
  return context
}

/**
 * Client of the subscription API (area S). The client logs in automatically, and uses one token for all its calls. It
 * retries calls that only read, and other calls only if the server has not executed them.
 *
 * Every method checks its input before any I/O. Invalid input causes an `InvalidRequestError`. A method that makes one
 * call takes `CallOptions` as its last argument and returns a promise with `.withResponse()`. Two methods make many
 * calls: `allPayments` is an async generator, and `waitForStatus` takes `WaitOptions` and returns a plain promise.
 */
export class SubscriptionsClient {
  readonly #context: ReturnType<typeof createSubscriptionsContext>

  /** @throws InvalidRequestError if an option is missing or invalid */
  constructor(options: SubscriptionsClientOptions) {
    this.#context =
      options instanceof http.SharedContext ? options.context : createSubscriptionsContext(options)
  }

  /**
   * Returns a second client with changed options. The second client also sends this client's headers. Both clients
   * share the rate limit and the token, so token requests still use the original client's options.
   * @example const patient = subscriptions.withOptions({ timeout: 60_000, logLevel: 'debug' })
   */
  withOptions(changes: ClientChanges): SubscriptionsClient {
    return clientOf(new http.SharedContext(this.#context, changes))
  }

  /**
   * Logs in now (S-a), even if a token is valid or an earlier login was rejected. Other calls log in automatically. The
   * client retries a login only if the request was not sent, or if a 429 response states how long to wait. The options
   * `timeout`, `retry` and `headers` have no effect, because other calls may share the token request.
   */
  login(options?: CallOptions): CallPromise<contract.Token> {
    return http.callPromise(this.#login(options))
  }

  /**
   * Creates a subscription request (S-b). Send the payer to the `url` of the result. Later, the payer returns to
   * `userReturnURL` with `invoiceID` as a query parameter. If the server may have executed a failed request, the client
   * does not retry the request, and the error's `outcome` is `unknown`.
   */
  subscribe(request: SubscribeInput, options?: CallOptions): CallPromise<contract.SubscribeResult> {
    return http.callPromise(this.#subscribe(request, options))
  }

  /** Reads the state of a subscription request by its invoice identifier. (S-c) */
  status(invoiceId: string, options?: CallOptions): CallPromise<contract.RequestStatus> {
    return http.makeCall(this.#context, subscriptionsContract.status, { path: { invoiceId }, options })
  }

  /** Reads a subscription. (S-d) */
  details(subscriptionId: string, options?: CallOptions): CallPromise<contract.SubscriptionDetails> {
    return http.makeCall(this.#context, subscriptionsContract.details, { path: { subscriptionId }, options })
  }

  /** Cancels a subscription. The client does not retry a cancellation that the server may have executed. (S-e) */
  cancel(subscriptionId: string, options?: CallOptions): CallPromise<contract.Cancellation> {
    return http.makeCall(this.#context, subscriptionsContract.cancel, { path: { subscriptionId }, options })
  }

  /** Reads the cancellation of a subscription. (S-f) */
  cancellation(subscriptionId: string, options?: CallOptions): CallPromise<contract.Cancellation> {
    return http.makeCall(this.#context, subscriptionsContract.cancellation, {
      path: { subscriptionId },
      options,
    })
  }

  /** Reads one page of a subscription's payments. (S-g) */
  payments(
    subscriptionId: string,
    page?: PageOptions,
    options?: CallOptions,
  ): CallPromise<contract.PaymentList> {
    return http.makeCall(this.#context, subscriptionsContract.payments, () => {
      const { page: number, perPage } = checkPage(page)
      return { path: { subscriptionId }, query: { page: number, per_page: perPage }, options }
    })
  }

  /**
   * Yields every payment of a subscription once, page by page (S-g). Your loop ends after a page without new payments,
   * because some servers ignore the page number or repeat records. The loop also ends if the API (not a proxy) reports
   * 404 for a later page. The client reads each page only when your loop needs it.
   *
   * @param page the first page to read, and the page size (default: 100)
   */
  async *allPayments(
    subscriptionId: string,
    page?: PageOptions,
    options?: CallOptions,
  ): AsyncGenerator<contract.Payment, void, undefined> {
    const given = checkPage(page)
    const seen = new Set<string>()
    for (let number = given.page ?? 1; ; number += 1) {
      const read = { page: number, perPage: given.perPage ?? MAX_PAGE_SIZE }
      const result = await this.payments(subscriptionId, read, options).catch((error: unknown) => {
        const isEnd = error instanceof ApiError && error.verdict === 'not-found' && error.status === 404
        if (seen.size === 0 || !isEnd) throw error
      })
      const records = result?.subscriptionPayments ?? []
      // Payments without an identifier may have equal fields. If a page lists two such payments, the loop yields both.
      const isNew = (record: contract.Payment) =>
        !seen.has(identityOf(record)) && (record.paymentId === undefined || seen.add(identityOf(record)))
      const fresh = records.filter(isNew)
      for (const record of records) seen.add(identityOf(record))
      if (fresh.length === 0) return
      yield* fresh
    }
  }

  /** Reads one payment. (S-h) */
  payment(paymentId: string | number, options?: CallOptions): CallPromise<contract.PaymentDetails> {
    // JavaScript rounds integers above 2 ** 53, so a rounded number could identify another payment.
    const id: unknown = Number.isSafeInteger(paymentId) ? String(paymentId) : paymentId
    return http.makeCall(this.#context, subscriptionsContract.payment, { path: { paymentId: id }, options })
  }

  /**
   * Reads a request's status repeatedly until the option `until` returns true. By default, the wait ends when the
   * status is not `INITIALIZED`.
   * @throws TimeoutError after `timeout` (default: 120 s), with the last status in `lastState`. The status may still
   * change, so call `waitForStatus` or `status` again. Do not subscribe again before the status is final.
   */
  async waitForStatus(
    invoiceId: string,
    options?: WaitOptions<contract.RequestStatus>,
  ): Promise<contract.RequestStatus> {
    return pollUntil({
      endpoint: subscriptionsContract.status,
      settings: this.#context.settings,
      options,
      read: (callOptions) => this.status(invoiceId, callOptions).withResponse(),
      isFinal: ({ status }) => status !== 'INITIALIZED',
    })
  }

  /**
   * Calls an operation for which the client has no method. Authorization, errors, hooks and the log are the same
   * as for the other methods. By default, the client does not retry the call.
   * @example await subscriptions.request({ method: 'GET', path: '/api/v1.0/refunds', retry: 'always' })
   */
  request(request: RawRequest, options?: CallOptions): CallPromise<unknown> {
    const definition = { operation: 'subscriptions.request', auth: 'token', envelope: 'optional' } as const
    return http.makeRawCall(this.#context, definition, request, options)
  }

  async #subscribe(input: SubscribeInput, options: CallOptions | undefined) {
    const endpoint = subscriptionsContract.subscribe
    const { token, settings } = this.#context
    const isDefault = isObject(input) && input.clientID === undefined
    // This `clientID` is a placeholder, because the client checks the input before it reads the credentials.
    const body = isDefault ? { ...input, clientID: 'of the credentials' } : input
    const call = prepare(this.#context, endpoint, { body, options })
    checkEnd(endpoint.operation, Object(call.fields), settings.clock.now())
    return http.runCall(call, async () => {
      if (isDefault) {
        const clientID = await http.withCredentials(call, () => token.clientId())
        call.fields = { ...Object(call.fields), clientID }
      }
      call.body = JSON.stringify(call.fields)
      return http.runWithRetries(call)
    })
  }

  async #login(options: CallOptions | undefined): Promise<WithResponse<contract.Token>> {
    const { token } = this.#context
    // `anyJson`: the token lifecycle adds the body later, and the login's schema would reject a missing body.
    const call = prepare(this.#context, subscriptionsContract.login, { schema: anyJson, options })
    return http.runCall(call, async () => {
      call.deadline.check()
      call.phase = 'login'
      try {
        return await call.deadline.race((signal) => token.login(signal))
      } catch (error) {
        // The server may have received the token request.
        call.outcome = 'unknown'
        throw error
      }
    })
  }
}

// Outside the class: esbuild renames a class that names itself, and logs would show `_SubscriptionsClient`.
const clientOf = (context: unknown): SubscriptionsClient => new SubscriptionsClient(context as never)
