import type {
  EndpointDefinition,
  Field,
  gatewayContract,
  Input,
  KnownChargeStatus,
  Output,
  RequestOf,
  subscriptionsContract,
} from 'mandatekit/contract'
import { expectTypeOf, it } from 'vitest'
import { input, inputUrl, optional, response, strict, wholeNumber } from '../../src/contract/fields.ts'
import { absentable, decimal, text } from '../../src/contract/response-fields.ts'
import type {
  AbortedError,
  AnyMandateKitError,
  AuthenticationError,
  CallOptions,
  CallPromise,
  CallResponse,
  Charge,
  ChargeRequest,
  ChargeState,
  ConnectionError,
  GatewayClient,
  GatewayClientOptions,
  Health,
  InputIssue,
  InvalidRequestError,
  KeyReusedError,
  LockedOutError,
  MandateKitErrorCode,
  Payment,
  PaymentDetails,
  RateLimitError,
  SubscribeInput,
  SubscriptionsClient,
  SubscriptionsClientOptions,
  TimeoutError,
  UnexpectedResponseError,
  WaitOptions,
} from '../../src/index.ts'
import { ApiError, isMandateKitError, MandateKitError } from '../../src/index.ts'

declare const subscriptions: SubscriptionsClient
declare const gateway: GatewayClient
declare const thrown: unknown
type Subscriptions = typeof subscriptionsContract
type Gateway = typeof gatewayContract

it('every operation of the contract is a method, and a missing one does not compile', () => {
  type Operation = (...input: never[]) => CallPromise<unknown, CallResponse | undefined>
  type Methods<Contract> = Record<keyof Contract, (...input: never[]) => Promise<unknown>>
  expectTypeOf(subscriptions).toExtend<Methods<Subscriptions>>()
  expectTypeOf(gateway).toExtend<Methods<Gateway>>()
  expectTypeOf<GatewayClient['charge']>().toExtend<Operation>()
  expectTypeOf<Omit<GatewayClient, 'renew'>>().not.toExtend<Methods<Gateway>>()
})

it('the id of an operation ends in its name', () => {
  type NamedAs<Contract, Area extends string> = {
    [Name in keyof Contract]: { readonly operation: `${Area}.${Name & string}` }
  }
  expectTypeOf<Subscriptions>().toExtend<NamedAs<Subscriptions, 'subscriptions'>>()
  expectTypeOf<Gateway>().toExtend<NamedAs<Gateway, 'gateway'>>()
})

it('only the operations with a body have a request type', () => {
  type WithBody<Contract extends Readonly<Record<string, EndpointDefinition>>> = {
    [Name in keyof Contract]: undefined extends RequestOf<Contract[Name]> ? never : Name
  }[keyof Contract]
  expectTypeOf<WithBody<Subscriptions>>().toEqualTypeOf<'login' | 'subscribe'>()
  expectTypeOf<WithBody<Gateway>>().toEqualTypeOf<'charge' | 'confirm' | 'renew'>()
})

it('types derive from the shapes of the contract', () => {
  const parcel = { id: text, weight: decimal, note: absentable(text) }
  type Parcel = { readonly id: string; readonly weight: number; readonly note: string | null }
  expectTypeOf(response(parcel)).toEqualTypeOf<Field<Parcel>>()
  const order = { id: input('text', () => true), count: optional(wholeNumber(1)), target: inputUrl }
  expectTypeOf<Input<typeof order>['target']>().toEqualTypeOf<string | URL>()
  expectTypeOf<{ id: string; target: string }>().toExtend<Input<typeof order>>()
  expectTypeOf<{ id: string; target: string; count: string }>().not.toExtend<Input<typeof order>>()
  expectTypeOf(strict(order)).toEqualTypeOf<Field<Output<typeof order>, Input<typeof order>>>()
})

it('results have the names and types of the specification', () => {
  expectTypeOf(gateway.charge).returns.resolves.toEqualTypeOf<Charge>()
  expectTypeOf(gateway.status).returns.resolves.toEqualTypeOf<ChargeState>()
  expectTypeOf(gateway.confirm).returns.resolves.toEqualTypeOf<Partial<Charge>>()
  expectTypeOf<ChargeState['status']>().toBeString()
  expectTypeOf<ChargeState['amount']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<Payment['reverseTransactionAmount']>().toEqualTypeOf<string | null>()
  expectTypeOf<Omit<PaymentDetails, 'errorCode' | 'errorMessage'>>().toEqualTypeOf<Readonly<Payment>>()
  expectTypeOf(subscriptions.allPayments('x')).toExtend<AsyncIterable<Payment>>()
  expectTypeOf(gateway.charge({} as never).withResponse()).resolves.toHaveProperty('response')
})

it('case 24: an enumeration is open: a known value completes, an unknown one compiles', () => {
  expectTypeOf<KnownChargeStatus | 'reversed'>().toExtend<Charge['status']>()
})

it('input that could move money twice does not compile', () => {
  // @ts-expect-error a number rounds
  void subscriptions.subscribe({ amount: 25 })
  // @ts-expect-error the amount of a charge is a whole number
  void gateway.charge({ msisdn: '', amount: '25', currency: '', redirect_uri: '' })
  void gateway.charge({} as never, { idempotencyKey: 'k' })
  void gateway.renew('ch_1', { dueDate: '2026-12-01', attempt: 2 })
  void gateway.renew('ch_1', { idempotencyKey: 'k' })
  // @ts-expect-error neither a due date nor a key
  void gateway.renew('ch_1', {})
  // @ts-expect-error both
  void gateway.renew('ch_1', { dueDate: '2026-12-01', idempotencyKey: 'k' })
  // @ts-expect-error the day of a Date depends on a zone
  void gateway.renew('ch_1', { dueDate: new Date() })
  // @ts-expect-error confirm takes no key
  void gateway.confirm('conf_1', { otp: '1' }, { idempotencyKey: 'k' })
  // @ts-expect-error subscribe takes no key
  void subscriptions.subscribe({} as never, { idempotencyKey: 'k' })
})

it('any implementation of fetch is a fetch', () => {
  expectTypeOf<typeof globalThis.fetch>().toExtend<NonNullable<GatewayClientOptions['fetch']>>()
  expectTypeOf<typeof import('undici').fetch>().toExtend<NonNullable<SubscriptionsClientOptions['fetch']>>()
})

it('an error that isMandateKitError recognizes has the class of its code', () => {
  type ByCode = { [Code in MandateKitErrorCode]: Extract<AnyMandateKitError, { code: Code }> }
  expectTypeOf<Omit<ByCode, 'api_error'>>().toEqualTypeOf<{
    invalid_request: InvalidRequestError
    authentication_failed: AuthenticationError
    locked_out: LockedOutError
    rate_limited: RateLimitError
    unexpected_response: UnexpectedResponseError
    key_reused: KeyReusedError
    connection_failed: ConnectionError
    timeout: TimeoutError
    aborted: AbortedError
  }>()
  expectTypeOf<ByCode['api_error']>().toExtend<ApiError>()
  expectTypeOf<AnyMandateKitError['code']>().toEqualTypeOf<MandateKitErrorCode>()
  if (!isMandateKitError(thrown)) return
  if (thrown.code === 'timeout') expectTypeOf(thrown.timeoutMs).toBeNumber()
  if (thrown.code === 'invalid_request') expectTypeOf(thrown.issues).toEqualTypeOf<readonly InputIssue[]>()
  // @ts-expect-error only some errors have a status
  void thrown.status
  // @ts-expect-error other codes are left
  if (thrown.code !== 'aborted') thrown satisfies never
})

it('a recognized error is a MandateKitError with retryAfterMs, also in filter and for health', () => {
  const errors: MandateKitError[] = [thrown, thrown].filter(isMandateKitError)
  expectTypeOf(errors).toEqualTypeOf<MandateKitError[]>()
  const pause = (milliseconds: number): number => milliseconds
  if (isMandateKitError(thrown) && thrown.retryable) pause(thrown.retryAfterMs ?? 1000)
  if (thrown instanceof MandateKitError) expectTypeOf(thrown.retryAfterMs).toEqualTypeOf<number | undefined>()
  if (thrown instanceof MandateKitError && isMandateKitError(thrown))
    expectTypeOf(thrown).toExtend<AnyMandateKitError>()
  expectTypeOf<Extract<Health, { ok: false }>['error']>().toEqualTypeOf<AnyMandateKitError | undefined>()
  if (!isMandateKitError(thrown) || !(thrown instanceof ApiError)) return
  // The class of an error narrows its type, too.
  expectTypeOf(thrown.status).toEqualTypeOf<number | undefined>()
  if (thrown.code === 'rate_limited') expectTypeOf(thrown).toEqualTypeOf<RateLimitError>()
})

it('case 91: what an honest caller has is accepted without a cast', () => {
  const call = { signal: null, timeout: Number.POSITIVE_INFINITY, headers: { 'x-a': undefined } } as const
  expectTypeOf(call).toExtend<CallOptions>()
  expectTypeOf<{ headers: Headers }>().toExtend<CallOptions>()
  expectTypeOf<{ baseUrl: URL; apiKey: string; headers: Headers }>().toExtend<GatewayClientOptions>()
  expectTypeOf<URL>().toExtend<ChargeRequest['redirect_uri']>()
  expectTypeOf<URL>().toExtend<SubscribeInput['userReturnURL']>()
  expectTypeOf<{ signal: null; timeout: undefined }>().toExtend<WaitOptions<unknown>>()
})
