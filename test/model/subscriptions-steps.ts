import * as fc from 'fast-check'
import { expect } from 'vitest'
import type { PaymentDetails, SubscribeResult } from '../../src/index.ts'
import type { Model } from './model.ts'
import { expectAction, expectStatuses, steps } from './step.ts'
import type { ModelSubscription } from './subscriptions-model.ts'
import {
  dateText,
  dayOf,
  detailsOf,
  isOpen,
  isTaken,
  paymentsOf,
  paymentView,
  statusOf,
  timeText,
} from './subscriptions-model.ts'
import { both, MERCHANTS, type MerchantName, type Outcome, type Pair, type World } from './world.ts'

const merchant = fc.constantFrom(...MERCHANTS)
const target = fc.nat({ max: 3 })
const OK = { errorCode: '00', errorMessage: expect.any(String) }

/** A subscription counted from the newest. */
const chosen = ({ subscriptions }: Model, back: number) => subscriptions.at(-1 - back)

const idOf = (one: ModelSubscription | undefined): string => one?.subscriptionId ?? 'sub-unknown'

const order = fc.record({
  merchant,
  requestID: fc.constantFrom('order-1', 'order-2', 'order-3'),
  cycle: fc.constantFrom('DAILY' as const, 'WEEKLY' as const, 'FIFTEEN_DAYS' as const),
  amount: fc.constantFrom('25.00', '0.5', '1200'),
  from: fc.integer({ min: -20, max: 5 }),
  length: fc.oneof(fc.nat({ max: 60 }), fc.constantFrom(0, 730, 731)),
})

const subscribe = steps('subscribe', order, async (model, pair, input) => {
  const { now } = model
  const startDay = dayOf(now) + input.from
  const endDay = startDay + input.length
  const { requestID, cycle, amount } = input
  const taken = isTaken({ startDay, endDay, now })
  // The client itself refuses an end that is too late from the start and from today.
  if (endDay > Math.max(startDay, dayOf(now)) + 730) return
  const outcome = await both(pair, (world) =>
    world.subscriptions[input.merchant].subscribe({
      requestID,
      start: dateText(startDay),
      end: dateText(endDay),
      cycle,
      amount,
      userReturnURL: 'https://shop.example/return?from=mandate',
    }),
  )
  if (!expectStatuses(outcome, model.call(input.merchant, taken ? 200 : 422))) return
  const { invoiceID, url } = outcome.value as SubscribeResult
  expect(url).toContain(invoiceID)
  const state = pair[0].mock.state.subscriptions().at(-1)
  expect(state?.invoiceId).toBe(invoiceID)
  model.subscriptions.push({
    owner: input.merchant,
    invoiceId: invoiceID,
    subscriptionId: state?.subscriptionId ?? '',
    requestID,
    cycle,
    amount,
    startDay,
    endDay,
    createdAt: now,
    script: [],
    reversed: new Map(),
  })
})

/** A call about one subscription, which does not exist for another merchant. */
const about = (
  name: string,
  act: (world: World, who: MerchantName, one: ModelSubscription | undefined) => unknown,
  answer: (model: Model, one: ModelSubscription, outcome: Outcome, pair: Pair) => void,
  exists: (one: ModelSubscription) => boolean = () => true,
) =>
  steps(name, fc.record({ merchant, target }), async (model, pair, input) => {
    const one = chosen(model, input.target)
    const outcome = await both(pair, (world) => act(world, input.merchant, one))
    const visible = one !== undefined && one.owner === input.merchant && exists(one)
    const statuses = model.call(input.merchant, visible ? 200 : 404)
    if (expectStatuses(outcome, statuses) && one !== undefined) answer(model, one, outcome, pair)
  })

const status = about(
  'status',
  (world, who, one) => world.subscriptions[who].status(one?.invoiceId ?? 'inv-unknown'),
  (model, one, { value }) =>
    expect(value).toEqual({
      invoiceId: one.invoiceId,
      status: statusOf(one, model.now),
      subscriptionId: one.subscriptionId,
      createdAt: timeText(one.createdAt),
      ...OK,
    }),
)

const details = about(
  'details',
  (world, who, one) => world.subscriptions[who].details(idOf(one)),
  (model, one, { value }) => expect(value).toEqual({ ...detailsOf(one, model.now), ...OK }),
)

const recordOf = (one: ModelSubscription) => ({
  id: one.cancellation?.id,
  requestID: one.cancellation?.requestID,
  subscriptionID: one.subscriptionId,
  status: 'PROCESSED',
  ...OK,
})

const cancel = about(
  'cancel',
  (world, who, one) => world.subscriptions[who].cancel(idOf(one)),
  (model, one, { value }) => {
    const { id, requestID } = value as { id: number; requestID: number }
    // A second cancellation gives the first one's record.
    one.cancellation ??= { id, requestID, at: model.now }
    expect(value).toEqual(recordOf(one))
  },
)

const cancellation = about(
  'cancellation',
  (world, who, one) => world.subscriptions[who].cancellation(idOf(one)),
  (_model, one, { value }) => expect(value).toEqual(recordOf(one)),
  (one) => one.cancellation !== undefined,
)

const payments = steps(
  'payments',
  fc.record({
    merchant,
    target,
    page: fc.integer({ min: 1, max: 4 }),
    perPage: fc.constantFrom(undefined, 1, 7, 100),
  }),
  async (model, pair, { merchant: who, target: back, page, perPage }) => {
    const one = chosen(model, back)
    const outcome = await both(pair, (world) =>
      world.subscriptions[who].payments(idOf(one), { page, perPage }),
    )
    if (!expectStatuses(outcome, model.call(who, one?.owner === who ? 200 : 404)) || one === undefined) return
    const size = perPage ?? 10
    const { subscriptionPayments } = outcome.value as { subscriptionPayments: readonly unknown[] }
    expect(subscriptionPayments).toEqual(
      paymentsOf(one, model.now)
        .slice((page - 1) * size, page * size)
        .map((payment) => expect.objectContaining(paymentView(one, payment))),
    )
  },
)

/** Numbers of a subscription's payments, oldest first. */
const paymentIds = ([{ mock }]: Pair, one: ModelSubscription | undefined): readonly number[] =>
  one === undefined ? [] : mock.state.payments(one.subscriptionId).map(({ paymentId }) => paymentId)

const payment = steps(
  'payment',
  fc.record({ merchant, target, number: fc.nat({ max: 6 }) }),
  async (model, pair, { merchant: who, target: back, number }) => {
    const one = chosen(model, back)
    const paymentId = paymentIds(pair, one)[number] ?? 7
    const outcome = await both(pair, (world) => world.subscriptions[who].payment(paymentId))
    const own = one?.owner === who ? paymentsOf(one, model.now)[number] : undefined
    if (!expectStatuses(outcome, model.call(who, own === undefined ? 404 : 200))) return
    if (one === undefined || own === undefined) return
    expect((outcome.value as PaymentDetails).paymentId).toBe(paymentId)
    expect(outcome.value).toMatchObject(paymentView(one, own))
  },
)

const script = fc.array(fc.constantFrom('succeed' as const, 'fail' as const), { maxLength: 4 })

const authorize = steps('authorize', fc.record({ target, script }), async (model, pair, input) => {
  const one = chosen(model, input.target)
  const { invoiceId = 'inv-unknown' } = one ?? {}
  const outcome = await both(pair, ({ mock }) => mock.payer.authorize(invoiceId, { payments: input.script }))
  if (!expectAction(outcome, one !== undefined && isOpen(one, model.now)) || one === undefined) return
  one.authorizedAt = model.now
  one.script = input.script
})

const decline = steps('decline', fc.record({ target }), async (model, pair, input) => {
  const one = chosen(model, input.target)
  const { invoiceId = 'inv-unknown' } = one ?? {}
  const outcome = await both(pair, ({ mock }) => mock.payer.decline(invoiceId))
  if (expectAction(outcome, one !== undefined && isOpen(one, model.now)) && one !== undefined) {
    one.declinedAt = model.now
  }
})

const reverse = steps(
  'reverse',
  fc.record({ target, number: fc.nat({ max: 6 }) }),
  async (model, pair, input) => {
    const one = chosen(model, input.target)
    const paymentId = paymentIds(pair, one)[input.number] ?? 7
    const outcome = await both(pair, ({ mock }) => mock.payer.reverse(paymentId))
    const own = one === undefined ? undefined : paymentsOf(one, model.now)[input.number]
    const isLegal = own?.succeeded === true && own.reversedAt === undefined
    if (expectAction(outcome, isLegal)) one?.reversed.set(input.number, model.now)
  },
)

const login = steps('login', fc.record({ merchant }), async (model, pair, input) => {
  const outcome = await both(pair, (world) => world.subscriptions[input.merchant].login())
  expectStatuses(outcome, [model.login(input.merchant)])
})

/** Steps of area S that a client or a payer takes. */
export const subscriptionsSteps = [
  { weight: 5, arbitrary: subscribe },
  { weight: 6, arbitrary: authorize },
  { weight: 2, arbitrary: status },
  { weight: 3, arbitrary: details },
  { weight: 3, arbitrary: cancel },
  { weight: 2, arbitrary: cancellation },
  { weight: 2, arbitrary: payments },
  { weight: 2, arbitrary: payment },
  { weight: 1, arbitrary: decline },
  { weight: 2, arbitrary: reverse },
  { weight: 1, arbitrary: login },
]
