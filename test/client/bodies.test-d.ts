import type {
  Charge,
  ChargeRequest,
  Payment,
  PaymentDetails,
  PaymentList,
  SubscriptionRequest,
} from 'mandatekit'
import type {
  ConfirmRequest,
  EndpointDefinition,
  Field,
  gatewayContract,
  Input,
  Output,
  RenewRequest,
  RequestOf,
  ResponseOf,
  subscriptionsContract,
  TokenRequest,
} from 'mandatekit/contract'
import { describe, expectTypeOf, test } from 'vitest'
import {
  absentableText,
  decimal,
  input,
  inputUrl,
  optional,
  response,
  strict,
  text,
  wholeNumber,
} from '../../src/contract/fields.ts'

const parcel = { id: text, weight: decimal, note: absentableText }
interface Parcel {
  readonly id: string
  readonly weight: number
  readonly note: string | null
}

test('the type of a response derives from its shape', () => {
  expectTypeOf<Output<typeof parcel>>().toEqualTypeOf<Parcel>()
  expectTypeOf(response(parcel)).toEqualTypeOf<Field<Output<typeof parcel>>>()
})

test('the type of an input derives from its shape: what may be undefined may be omitted', () => {
  const order = { id: input('text', () => true), count: optional(wholeNumber(1)), target: inputUrl }
  expectTypeOf<Input<typeof order>['target']>().toEqualTypeOf<string | URL>()
  expectTypeOf<{ id: string; target: string }>().toExtend<Input<typeof order>>()
  expectTypeOf<{ id: string; target: string; count: string }>().not.toExtend<Input<typeof order>>()
  expectTypeOf<Output<typeof order>['target']>().toEqualTypeOf<string>()
  expectTypeOf(strict(order)).toEqualTypeOf<Field<Output<typeof order>, Input<typeof order>>>()
})

describe('every operation of the contract', () => {
  type Contract = Readonly<Record<string, EndpointDefinition>>
  type Requests<Operations extends Contract> = {
    -readonly [Name in keyof Operations as undefined extends RequestOf<Operations[Name]>
      ? never
      : Name]: keyof RequestOf<Operations[Name]>
  }

  test('takes exactly the fields of the body of its name', () => {
    expectTypeOf<Requests<typeof subscriptionsContract>>().toEqualTypeOf<{
      login: keyof TokenRequest
      subscribe: keyof SubscriptionRequest
    }>()
    expectTypeOf<Requests<typeof gatewayContract>>().toEqualTypeOf<{
      charge: keyof ChargeRequest
      confirm: keyof ConfirmRequest
      renew: keyof RenewRequest
    }>()
  })

  test('gives what passes for a record, so that a log or a column of JSON takes it', () => {
    type Answer = ResponseOf<(typeof subscriptionsContract)[keyof typeof subscriptionsContract]>
    expectTypeOf<Answer>().toExtend<Readonly<Record<string, unknown>>>()
    expectTypeOf<Charge>().toExtend<Readonly<Record<string, unknown>>>()
  })

  test('gives a payment in a list the fields of a payment read alone', () => {
    expectTypeOf<Omit<PaymentDetails, 'errorCode' | 'errorMessage'>>().toEqualTypeOf<Readonly<Payment>>()
    expectTypeOf<PaymentList['subscriptionPayments'][number]>().toEqualTypeOf<Payment>()
  })
})
