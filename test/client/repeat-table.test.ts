import { describe, expect, it } from 'vitest'
import { gatewayContract, subscriptionsContract } from '../../src/index.ts'
import type { Failure, RepeatQuestion } from '../../src/transport/repeat.ts'
import { decideRepeat } from '../../src/transport/repeat.ts'

const contract = { ...subscriptionsContract, ...{ gateway: gatewayContract } }
const operations = {
  reads: [
    contract.status,
    contract.details,
    contract.cancellation,
    contract.payments,
    contract.payment,
    gatewayContract.reference,
    gatewayContract.status,
  ],
  keyed: [gatewayContract.charge, gatewayContract.renew],
  acting: [contract.subscribe, contract.cancel, gatewayContract.confirm, gatewayContract.reset],
  login: [contract.login],
  health: [gatewayContract.health],
}
type Group = keyof typeof operations

const ask = (failure: Failure, more: Partial<RepeatQuestion> = {}) => ({
  failure,
  repeats: 0,
  limit: 2,
  renewed: false,
  hint: undefined,
  maxWait: 30_000,
  remaining: 120_000,
  random: 0.5,
  ...more,
})

const lost: readonly Failure[] = [
  { kind: 'connection', surelyNotSent: false },
  { kind: 'timeout' },
  ...[408, 500, 502, 503, 504].map((status) => ({ kind: 'status', status }) as const),
]
const refused: readonly Failure[] = [
  { kind: 'connection', surelyNotSent: true, certificate: true },
  ...[400, 403, 404, 409, 422, 501, 505].map((status) => ({ kind: 'status', status }) as const),
  { kind: 'code', readable: true },
  { kind: 'code', readable: false },
  { kind: 'unexpected' },
  { kind: 'aborted' },
]

const table: readonly [string, readonly Failure[], Partial<RepeatQuestion>, Record<Group, boolean>][] = [
  [
    'surely not sent',
    [{ kind: 'connection', surelyNotSent: true }],
    {},
    { reads: true, keyed: true, acting: true, login: true, health: false },
  ],
  [
    '429 that says when to come back',
    [{ kind: 'status', status: 429 }],
    { hint: 1000 },
    { reads: true, keyed: true, acting: true, login: true, health: false },
  ],
  [
    '429 that does not say when',
    [{ kind: 'status', status: 429 }],
    {},
    { reads: true, keyed: true, acting: true, login: false, health: false },
  ],
  ['an answer lost', lost, {}, { reads: true, keyed: true, acting: false, login: false, health: false }],
  ['a refusal', refused, {}, { reads: false, keyed: false, acting: false, login: false, health: false }],
]

describe('what may be repeated', () => {
  for (const [name, failures, more, expected] of table) {
    for (const group of Object.keys(operations) as Group[]) {
      it(`${name}: ${group} ${expected[group] ? 'are' : 'are not'} repeated`, () => {
        for (const endpoint of operations[group]) {
          for (const failure of failures) {
            const decision = decideRepeat({ endpoint, ...ask(failure, more) })
            expect({ operation: endpoint.operation, failure, repeat: decision.repeat }).toEqual({
              operation: endpoint.operation,
              failure,
              repeat: expected[group],
            })
          }
        }
      })
    }
  }

  it('every operation of both areas stands in the table', () => {
    const named = Object.values(operations)
      .flat()
      .map(({ operation }) => operation)
    const all = [...Object.values(subscriptionsContract), ...Object.values(gatewayContract)]
    expect(named.toSorted()).toEqual(all.map(({ operation }) => operation).toSorted())
  })

  it('a 401 renews the token once, whatever the operation and the limit, and only where a token is used', () => {
    const failure = { kind: 'status', status: 401 } as const
    for (const endpoint of Object.values(subscriptionsContract)) {
      const first = decideRepeat({ endpoint, ...ask(failure, { limit: 0 }) })
      expect(first.repeat).toBe(endpoint.auth === 'token')
      expect(decideRepeat({ endpoint, ...ask(failure, { renewed: true }) }).repeat).toBe(false)
    }
    for (const endpoint of Object.values(gatewayContract)) {
      expect(decideRepeat({ endpoint, ...ask(failure) })).toEqual({ repeat: false, reason: 'refused' })
    }
  })

  it('gives the reason, and the wait where there is one', () => {
    const endpoint = gatewayContract.charge
    const failure = { kind: 'status', status: 503 } as const
    expect(decideRepeat({ endpoint, ...ask(failure) })).toEqual({
      repeat: true,
      reason: 'answer-lost',
      waitMs: 250,
    })
    expect(decideRepeat({ endpoint, ...ask(failure, { repeats: 1 }) })).toMatchObject({ waitMs: 500 })
    expect(decideRepeat({ endpoint, ...ask(failure, { repeats: 9, limit: 99 }) })).toMatchObject({
      waitMs: 4000,
    })
    expect(decideRepeat({ endpoint, ...ask(failure, { repeats: 2 }) })).toEqual({
      repeat: false,
      reason: 'limit-reached',
    })
    expect(decideRepeat({ endpoint, ...ask(failure, { hint: 30_001 }) })).toEqual({
      repeat: false,
      reason: 'wait-too-long',
      waitMs: 30_001,
    })
    expect(decideRepeat({ endpoint, ...ask(failure, { hint: 5000, remaining: 5000 }) })).toMatchObject({
      reason: 'wait-too-long',
    })
    const acting = subscriptionsContract.subscribe
    expect(decideRepeat({ endpoint: acting, ...ask(failure) })).toEqual({
      repeat: false,
      reason: 'may-have-executed',
    })
  })
})
