import * as fc from 'fast-check'
import { expect } from 'vitest'
import { type Charge, renewalKey } from '../../src/index.ts'
import { BEHAVIOR_NAMES, type ModelCharge, resolve, standing } from './gateway-model.ts'
import type { Model } from './model.ts'
import { expectAction, expectStatuses, steps } from './step.ts'
import { both, type Outcome, testNumbers } from './world.ts'

const OTHER_NUMBER = '+99900000099'
const numbers = [...Object.values(testNumbers), OTHER_NUMBER]
const caller = fc.nat({ max: 1 })
const target = fc.nat({ max: 3 })
const key = fc.constantFrom('key-1', 'key-2', 'key-3', 'key-4', 'key-5')
const request = fc.record({
  msisdn: fc.constantFrom(...numbers),
  amount: fc.constantFrom(250, 1, 9_007_199_254_740_991),
  currency: fc.constantFrom('BDT', 'USD'),
  redirect_uri: fc.constant('https://shop.example/paid'),
})

/** A charge counted from the newest. */
const chosen = ({ gateway }: Model, back: number): ModelCharge | undefined => gateway.charges.at(-1 - back)

/** The charge as a response shows it. */
const bodyOf = (charge: ModelCharge, now: number) => {
  const [status, outcome] = standing(charge, now)
  const { redirect_uri: _, ...fields } = charge.fields
  return {
    ...fields,
    id: charge.id,
    status,
    outcome,
    confirmation_id: charge.confirmationId,
    confirmation_url: expect.stringMatching(new RegExp(`/${charge.confirmationId}$`)),
    created_at: new Date(charge.createdAt).toISOString(),
  }
}

/** Compares the response with the original response of its key, to the byte, or keeps it as the original one. */
const expectKeyed = (
  model: Model,
  scope: string,
  { value }: Outcome,
  create: (charge: Charge) => ModelCharge,
): void => {
  const text = JSON.stringify(value)
  const first = model.gateway.answers.get(scope)
  if (first !== undefined) {
    expect(text).toBe(first)
    return
  }
  const charge = create(value as Charge)
  expect(value).toEqual(bodyOf(charge, model.now))
  expect(charge.id).toMatch(/^ch_/)
  expect(charge.confirmationId).toMatch(/^conf_/)
  model.gateway.answers.set(scope, text)
  model.gateway.charges.push(charge)
}

const opened = (
  model: Model,
  fields: ModelCharge['fields'],
  { id, confirmation_id }: Charge,
): ModelCharge => ({
  id,
  confirmationId: confirmation_id,
  fields,
  createdAt: model.now,
  isRenewal: false,
  resolved: undefined,
})

const charge = steps('charge', fc.record({ caller, key, request }), async (model, pair, input) => {
  const outcome = await both(pair, ({ gateway }) =>
    gateway[input.caller]?.charge(input.request, { idempotencyKey: input.key }),
  )
  if (!expectStatuses(outcome, [model.gatewayCall(202)])) return
  const scope = JSON.stringify([input.caller, 'charge', input.key])
  expectKeyed(model, scope, outcome, (answer) => opened(model, input.request, answer))
})

const twins = steps('twins', fc.record({ caller, key, request }), async (model, pair, input) => {
  const outcome = await both(pair, async ({ gateway }) => {
    const call = () => gateway[input.caller]?.charge(input.request, { idempotencyKey: input.key })
    const settled = await Promise.allSettled([call(), call(), call()])
    return settled.map((each) => (each.status === 'fulfilled' ? each.value : undefined))
  })
  const statuses = [model.gatewayCall(202), model.gatewayCall(202), model.gatewayCall(202)]
  expect(outcome.statuses).toEqual(statuses)
  const answers = (outcome.value as (Charge | undefined)[]).filter((each) => each !== undefined)
  expect(answers).toHaveLength(statuses.filter((each) => each === 202).length)
  const scope = JSON.stringify([input.caller, 'charge', input.key])
  for (const value of answers) {
    expectKeyed(model, scope, { ...outcome, value }, (answer) => opened(model, input.request, answer))
  }
})

const confirmed = (model: Model, one: ModelCharge): void => {
  one.resolved = resolve(model.gateway, one, model.now)
}

const isWaiting = (model: Model, one: ModelCharge | undefined): one is ModelCharge =>
  one !== undefined && standing(one, model.now)[0] === 'pending_confirmation'

const confirm = steps(
  'confirm',
  fc.record({ caller, target, otp: fc.constantFrom('123456', '123456', '123456', '000000', '1') }),
  async (model, pair, input) => {
    const one = chosen(model, input.target)
    const { confirmationId = 'conf_unknown' } = one ?? {}
    const outcome = await both(pair, ({ gateway }) =>
      gateway[input.caller]?.confirm(confirmationId, { otp: input.otp }),
    )
    const known = one === undefined ? 404 : 409
    // The code is looked at first: a wrong one says nothing about the charge.
    const refused = input.otp === '123456' ? known : 400
    const isDone = input.otp === '123456' && isWaiting(model, one)
    if (!expectStatuses(outcome, [model.gatewayCall(isDone ? 200 : refused)]) || one === undefined) return
    confirmed(model, one)
    expect(outcome.value).toEqual(bodyOf(one, model.now))
  },
)

const payerConfirm = steps(
  'payer.confirm',
  fc.record({ target, otp: fc.constantFrom(undefined, '123456', '654321') }),
  async (model, pair, input) => {
    const one = chosen(model, input.target)
    const { confirmationId = 'conf_unknown' } = one ?? {}
    const outcome = await both(pair, ({ mock }) => mock.payer.confirm(confirmationId, input.otp))
    if (expectAction(outcome, input.otp !== '654321' && isWaiting(model, one)) && one !== undefined) {
      confirmed(model, one)
    }
  },
)

const renew = steps(
  'renew',
  fc.record({ caller, target, key, dueDate: fc.constantFrom(undefined, '2026-12-01') }),
  async (model, pair, input) => {
    const one = chosen(model, input.target)
    const id = one?.id ?? 'ch_unknown'
    const renewal = input.dueDate === undefined ? { idempotencyKey: input.key } : { dueDate: input.dueDate }
    const outcome = await both(pair, ({ gateway }) => gateway[input.caller]?.renew(id, renewal))
    const sent = input.dueDate === undefined ? input.key : renewalKey(id, input.dueDate)
    const scope = JSON.stringify([input.caller, 'renew', id, sent])
    const mayRenew = one !== undefined && standing(one, model.now)[0] === 'succeeded'
    const isDone = mayRenew || model.gateway.answers.has(scope)
    const status = isDone ? 201 : one === undefined ? 404 : 422
    if (!expectStatuses(outcome, [model.gatewayCall(status)]) || one === undefined) return
    const resolved = resolve(model.gateway, one, model.now)
    expectKeyed(model, scope, outcome, ({ id: newId, confirmation_id }) => ({
      id: newId,
      confirmationId: confirmation_id,
      fields: one.fields,
      createdAt: model.now,
      isRenewal: true,
      resolved,
    }))
  },
)

const status = steps('gateway.status', fc.record({ caller, target }), async (model, pair, input) => {
  const one = chosen(model, input.target)
  const outcome = await both(pair, ({ gateway }) => gateway[input.caller]?.status(one?.id ?? 'ch_unknown'))
  if (!expectStatuses(outcome, [model.gatewayCall(one === undefined ? 404 : 200)]) || one === undefined)
    return
  expect(outcome.value).toEqual(bodyOf(one, model.now))
})

const reset = steps('gateway.reset', fc.record({ caller }), async (model, pair, input) => {
  const outcome = await both(pair, ({ gateway }) => gateway[input.caller]?.reset())
  if (!expectStatuses(outcome, [model.gatewayCall(200)])) return
  model.gateway.charges = []
  model.gateway.answers.clear()
})

const open = steps('health, reference', fc.record({ caller }), async (model, pair, input) => {
  const health = await both(pair, ({ gateway }) => gateway[input.caller]?.health())
  const expected = model.gatewayCall(200)
  expect(health.statuses).toEqual([expected])
  expect(health.value).toMatchObject({ ok: expected === 200, status: expected })
  const reference = await both(pair, ({ gateway }) => gateway[input.caller]?.reference())
  expectStatuses(reference, [model.gatewayCall(200)])
})

const setBehavior = steps(
  'payer.setBehavior',
  fc.record({ msisdn: fc.constantFrom(...numbers), name: fc.constantFrom(...BEHAVIOR_NAMES) }),
  async (model, pair, { msisdn, name }) => {
    const behavior = name as keyof typeof testNumbers
    await both(pair, ({ mock }) => mock.payer.setBehavior(msisdn, behavior))
    model.gateway.behaviors.set(msisdn, name)
  },
)

/** Steps of area G that a client or a payer takes. */
export const gatewaySteps = [
  { weight: 7, arbitrary: charge },
  { weight: 2, arbitrary: twins },
  { weight: 4, arbitrary: confirm },
  { weight: 3, arbitrary: payerConfirm },
  { weight: 5, arbitrary: renew },
  { weight: 2, arbitrary: status },
  { weight: 1, arbitrary: reset },
  { weight: 1, arbitrary: open },
  { weight: 1, arbitrary: setBehavior },
]
