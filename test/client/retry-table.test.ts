import { describe, expect, it } from 'vitest'
import { gatewayContract, subscriptionsContract } from '../../src/contract/index.ts'
import type { Failure, RetryQuestion } from '../../src/http/retry.ts'
import { decideRetry } from '../../src/http/retry.ts'

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

const ask = (failure: Failure, more: Partial<RetryQuestion> = {}) => ({
  failure,
  retries: 0,
  limit: 2,
  renewed: false,
  hint: undefined,
  maxWait: 30_000,
  remaining: 120_000,
  random: 0.5,
  ...more,
})

const lost: readonly Failure[] = [
  { kind: 'connection', notSent: false, certificate: false, reason: undefined },
  { kind: 'timeout', limit: 'attempt', milliseconds: 1 },
  ...[408, 500, 502, 503, 504].map((status) => ({ kind: 'status', status }) as const),
]
const refused: readonly Failure[] = [
  { kind: 'connection', notSent: true, certificate: true, reason: undefined },
  ...[400, 403, 404, 409, 422, 501, 505].map((status) => ({ kind: 'status', status }) as const),
  { kind: 'code', proof: true },
  { kind: 'code', proof: false },
  { kind: 'unexpected', reason: '' },
  { kind: 'aborted' },
]

const table: readonly [string, readonly Failure[], Partial<RetryQuestion>, Record<Group, boolean>][] = [
  [
    'surely not sent',
    [{ kind: 'connection', notSent: true, certificate: false, reason: undefined }],
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
            const decision = decideRetry({ endpoint, ...ask(failure, more) })
            expect({ operation: endpoint.operation, failure, repeat: decision.retry }).toEqual({
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
      const first = decideRetry({ endpoint, ...ask(failure, { limit: 0 }) })
      expect(first.retry).toBe(endpoint.auth === 'token')
      expect(decideRetry({ endpoint, ...ask(failure, { renewed: true }) }).retry).toBe(false)
    }
    for (const endpoint of Object.values(gatewayContract)) {
      expect(decideRetry({ endpoint, ...ask(failure) })).toEqual({ retry: false, reason: 'rejected' })
    }
  })

  it('gives the reason, and the wait where there is one', () => {
    const endpoint = gatewayContract.charge
    const failure = { kind: 'status', status: 503 } as const
    expect(decideRetry({ endpoint, ...ask(failure) })).toEqual({
      retry: true,
      reason: 'answer-lost',
      waitMs: 250,
    })
    expect(decideRetry({ endpoint, ...ask(failure, { retries: 1 }) })).toMatchObject({ waitMs: 500 })
    expect(decideRetry({ endpoint, ...ask(failure, { retries: 9, limit: 99 }) })).toMatchObject({
      waitMs: 4000,
    })
    expect(decideRetry({ endpoint, ...ask(failure, { retries: 2 }) })).toEqual({
      retry: false,
      reason: 'limit-reached',
    })
    expect(decideRetry({ endpoint, ...ask(failure, { hint: 30_001 }) })).toEqual({
      retry: false,
      reason: 'wait-too-long',
      waitMs: 30_001,
    })
    expect(decideRetry({ endpoint, ...ask(failure, { hint: 5000, remaining: 5000 }) })).toMatchObject({
      reason: 'wait-too-long',
    })
    const acting = subscriptionsContract.subscribe
    expect(decideRetry({ endpoint: acting, ...ask(failure) })).toEqual({
      retry: false,
      reason: 'may-have-executed',
    })
  })
})
