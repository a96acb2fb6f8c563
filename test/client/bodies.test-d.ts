import type {
  Charge,
  ChargeRequest,
  ConfirmRequest,
  gatewayContract,
  Payment,
  PaymentDetails,
  PaymentList,
  RenewRequest,
  RequestOf,
  ResponseOf,
  ResponseSchema,
  SubscriptionRequest,
  subscriptionsContract,
} from 'mandatekit'
import { paymentSchema } from 'mandatekit'
import { describe, expectTypeOf, test } from 'vitest'
import type { EndpointDefinition } from '../../src/contract/endpoint.ts'
import type { FieldsOf } from '../../src/contract/fields.ts'
import {
  absentableText,
  answer,
  decimal,
  input,
  listOf,
  openText,
  text,
  wholeNumber,
} from '../../src/contract/fields.ts'
import type { TokenRequest } from '../../src/contract/subscriptions-types.ts'

interface Parcel {
  readonly id: string
  readonly weight: number
  readonly note: string | null
}

const fields = { id: text, weight: decimal, note: absentableText }

describe("an answer's schema and the type of its name", () => {
  test('hold the same fields', () => {
    expectTypeOf(answer<Parcel>(fields)).toEqualTypeOf<ResponseSchema<Parcel>>()
  })

  test('so that a missing or an extra field does not compile', () => {
    // @ts-expect-error the schema lacks note
    answer<Parcel>({ id: text, weight: decimal })
    // @ts-expect-error the type lacks colour
    answer<Parcel>({ id: text, weight: decimal, note: absentableText, colour: text })
  })

  test('nor one of another, a wider or a narrower type', () => {
    // @ts-expect-error weight is a number
    answer<Parcel>({ ...fields, weight: text })
    // @ts-expect-error id is never null
    answer<Parcel>({ ...fields, id: absentableText })
    // @ts-expect-error the schema never gives null
    answer<Parcel>({ ...fields, note: text })
    // @ts-expect-error the type's words are others
    answer<{ size: 'small' | 'large' }>({ size: openText<'small' | 'large'>() })
  })

  test('nor an answer without a type, or a list of something else', () => {
    // @ts-expect-error an answer has a type with a name
    answer({ id: text })
    // @ts-expect-error parcels are no payments
    answer<{ payments: Parcel[] }>({ payments: listOf(paymentSchema) })
  })
})

describe("a request's schema and the type of its name", () => {
  interface Order {
    id: string
    count: number
  }
  const id = input('text', () => true)
  const count = wholeNumber('a whole number')

  test('hold the same fields, so that a missing, extra or other one does not compile', () => {
    void ({ id, count } satisfies FieldsOf<Order>)
    // @ts-expect-error the schema lacks count
    void ({ id } satisfies FieldsOf<Order>)
    // @ts-expect-error the type lacks colour
    void ({ id, count, colour: id } satisfies FieldsOf<Order>)
    // @ts-expect-error count is a number
    void ({ id, count: id } satisfies FieldsOf<Order>)
  })
})

describe('every operation of the contract', () => {
  type Contract = Readonly<Record<string, EndpointDefinition>>
  type Requests<Operations extends Contract> = {
    -readonly [Name in keyof Operations as undefined extends RequestOf<Operations[Name]>
      ? never
      : Name]: RequestOf<Operations[Name]>
  }

  test('takes exactly the body of its name', () => {
    expectTypeOf<Requests<typeof subscriptionsContract>>().toEqualTypeOf<{
      login: TokenRequest
      subscribe: SubscriptionRequest
    }>()
    expectTypeOf<Requests<typeof gatewayContract>>().toEqualTypeOf<{
      charge: ChargeRequest
      confirm: ConfirmRequest
      renew: RenewRequest
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
