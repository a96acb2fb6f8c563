import { describe, expect, it } from 'vitest'
import { gatewayContract, subscriptionsContract } from '../../src/contract/index.ts'
import type { Failure } from '../../src/http/failure.ts'
import { decideRetry, type RetryQuestion } from '../../src/http/retry.ts'

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
const groups = Object.keys(operations) as Group[]
type Endpoint = RetryQuestion['endpoint']

const ask = (failure: Failure, more: Partial<RetryQuestion> = {}) => ({
  failure,
  retries: 0,
  limit: 2,
  renewed: false,
  serverWaitMs: undefined,
  maxWait: 30_000,
  remaining: 120_000,
  random: 0.5,
  ...more,
})

const lost: readonly Failure[] = [
  { kind: 'connection', notSent: false, certificate: false, reason: undefined },
  { kind: 'timeout', limit: 'attempt', milliseconds: 1 },
  ...[408, 500, 502, 503, 504, 520, 530].map(
    (status) => ({ kind: 'status', status, created: false }) as const,
  ),
]
const refused: readonly Failure[] = [
  { kind: 'connection', notSent: true, certificate: true, reason: undefined },
  ...[400, 403, 404, 422, 501, 505].map((status) => ({ kind: 'status', status, created: false }) as const),
  { kind: 'code', proof: true },
  { kind: 'code', proof: false },
  { kind: 'unexpected', reason: '' },
  { kind: 'aborted' },
]

const notSent: Failure = { kind: 'connection', notSent: true, certificate: false, reason: undefined }
const limited: Failure = { kind: 'status', status: 429, created: false }

const table: readonly [string, readonly Failure[], Partial<RetryQuestion>, retried: readonly Group[]][] = [
  ['not sent', [notSent], {}, ['reads', 'keyed', 'acting', 'login']],
  ['429 with Retry-After', [limited], { serverWaitMs: 1000 }, ['reads', 'keyed', 'acting', 'login']],
  ['429 without Retry-After', [limited], {}, ['reads', 'keyed', 'acting']],
  ['a lost response', lost, {}, ['reads', 'keyed']],
  ['a refusal', refused, {}, []],
]

describe('what the client retries', () => {
  for (const [name, failures, more, retried] of table) {
    it.each(groups)(`${name}: ${retried.join(', ') || 'nothing'} of all, seen for %s`, (group) => {
      for (const endpoint of operations[group]) {
        for (const failure of failures) {
          const { retry } = decideRetry({ endpoint, ...ask(failure, more) })
          expect(retry, `${endpoint.operation} after ${JSON.stringify(failure)}`).toBe(
            retried.includes(group),
          )
        }
      }
    })
  }

  it('every operation of both areas is in the table', () => {
    const named = Object.values(operations)
      .flat()
      .map(({ operation }) => operation)
    const all = [...Object.values(subscriptionsContract), ...Object.values(gatewayContract)]
    expect(named.toSorted()).toEqual(all.map(({ operation }) => operation).toSorted())
  })

  it('a 401 renews the token once, with any limit, and only for an operation that uses a token', () => {
    const failure = { kind: 'status', status: 401, created: false } as const
    for (const endpoint of Object.values(subscriptionsContract)) {
      const first = decideRetry({ endpoint, ...ask(failure, { limit: 0 }) })
      expect(first.retry).toBe(endpoint.auth === 'token')
      expect(decideRetry({ endpoint, ...ask(failure, { renewed: true }) }).retry).toBe(false)
    }
    for (const endpoint of Object.values(gatewayContract)) {
      expect(decideRetry({ endpoint, ...ask(failure) })).toEqual({ retry: false, reason: 'rejected' })
    }
  })

  it('a decision has its reason, and its wait if there is one', () => {
    const failure = { kind: 'status', status: 503, created: false } as const
    const decide = (more: Partial<RetryQuestion> = {}, endpoint: Endpoint = gatewayContract.charge) =>
      decideRetry({ endpoint, ...ask(failure, more) })
    expect(decide()).toEqual({ retry: true, reason: 'response-lost', waitMs: 250 })
    expect(decide({ retries: 1 })).toMatchObject({ waitMs: 500 })
    expect(decide({ retries: 9, limit: 99 })).toMatchObject({ waitMs: 4000 })
    expect(decide({ retries: 2 })).toEqual({ retry: false, reason: 'limit-reached' })
    expect(decide({ serverWaitMs: 30_001 })).toEqual({
      retry: false,
      reason: 'wait-too-long',
      waitMs: 30_001,
    })
    expect(decide({ serverWaitMs: 5000, remaining: 5000 })).toMatchObject({ reason: 'wait-too-long' })
    expect(decide({}, subscriptionsContract.subscribe)).toEqual({ retry: false, reason: 'may-have-executed' })
  })
})
