import { describe, expectTypeOf, it } from 'vitest'
import { gatewayContract, subscriptionsContract } from '../../src/contract/index.ts'
import type {
  CallPromise,
  CallResponse,
  Charge,
  ChargeState,
  GatewayClient,
  GatewayClientOptions,
  KnownChargeStatus,
  Payment,
  SubscriptionsClient,
  SubscriptionsClientOptions,
} from '../../src/index.ts'

declare const subscriptions: SubscriptionsClient
declare const gateway: GatewayClient

describe('every operation of the contract is a method', () => {
  type Operation = (...input: never[]) => CallPromise<unknown, CallResponse | undefined>
  type Methods<Contract> = Record<keyof Contract, (...input: never[]) => Promise<unknown>>

  it('of the clients', () => {
    expectTypeOf(subscriptions).toExtend<Methods<typeof subscriptionsContract>>()
    expectTypeOf(gateway).toExtend<Methods<typeof gatewayContract>>()
    expectTypeOf<GatewayClient['charge']>().toExtend<Operation>()
  })

  it('so that one that is missing does not compile', () => {
    expectTypeOf<Omit<SubscriptionsClient, 'details'>>().not.toExtend<Methods<typeof subscriptionsContract>>()
    expectTypeOf<Omit<GatewayClient, 'renew'>>().not.toExtend<Methods<typeof gatewayContract>>()
  })

  it('and an operation id ends in its name', () => {
    type NamedAs<Contract, Area extends string> = {
      [Name in keyof Contract]: { readonly operation: `${Area}.${Name & string}` }
    }
    expectTypeOf(subscriptionsContract).toExtend<NamedAs<typeof subscriptionsContract, 'subscriptions'>>()
    expectTypeOf(gatewayContract).toExtend<NamedAs<typeof gatewayContract, 'gateway'>>()
  })
})

describe('answers', () => {
  it('have the names and types of the specification', () => {
    expectTypeOf(gateway.charge).returns.resolves.toEqualTypeOf<Charge>()
    expectTypeOf(gateway.status).returns.resolves.toEqualTypeOf<ChargeState>()
    expectTypeOf(gateway.confirm).returns.resolves.toEqualTypeOf<Partial<Charge>>()
    expectTypeOf<ChargeState['status']>().toBeString()
    expectTypeOf<ChargeState['amount']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<Payment['reverseTransactionAmount']>().toEqualTypeOf<string | null>()
    expectTypeOf(subscriptions.allPayments('x')).toExtend<AsyncIterable<Payment>>()
    expectTypeOf(gateway.charge({} as never).withResponse()).resolves.toHaveProperty('response')
  })

  it('have open enumerations: a known value completes, an unknown one compiles', () => {
    const known: KnownChargeStatus = 'succeeded'
    const status: Charge['status'] = 'reversed'
    expectTypeOf(known).toExtend<Charge['status']>()
    expectTypeOf(status).toExtend<Charge['status']>()
  })
})

describe('input', () => {
  it('an amount of a subscription is text, of a charge a number', () => {
    // @ts-expect-error a number rounds
    void subscriptions.subscribe({ amount: 25 })
    // @ts-expect-error a charge's amount is a whole number
    void gateway.charge({ msisdn: '', amount: '25', currency: '', redirect_uri: '' })
  })

  it('a renewal takes a cycle or a key, and one of them', () => {
    void gateway.renew('ch_1', { dueDate: '2026-12-01', attempt: 2 })
    void gateway.renew('ch_1', { idempotencyKey: 'k' })
    // @ts-expect-error neither
    void gateway.renew('ch_1', {})
    // @ts-expect-error both
    void gateway.renew('ch_1', { dueDate: '2026-12-01', idempotencyKey: 'k' })
    // @ts-expect-error a Date's day depends on a zone
    void gateway.renew('ch_1', { dueDate: new Date() })
  })

  it('an idempotency key exists on charge and renew alone', () => {
    void gateway.charge({} as never, { idempotencyKey: 'k' })
    // @ts-expect-error confirm has none
    void gateway.confirm('conf_1', { otp: '1' }, { idempotencyKey: 'k' })
    // @ts-expect-error subscribe has none
    void subscriptions.subscribe({} as never, { idempotencyKey: 'k' })
  })

  it('any implementation of fetch is a fetch', () => {
    expectTypeOf<typeof globalThis.fetch>().toExtend<NonNullable<GatewayClientOptions['fetch']>>()
    expectTypeOf<typeof import('undici').fetch>().toExtend<NonNullable<SubscriptionsClientOptions['fetch']>>()
    expectTypeOf<(request: Request | string | URL, init?: RequestInit) => Promise<Response>>().toExtend<
      NonNullable<GatewayClientOptions['fetch']>
    >()
  })
})
