import { expectTypeOf, test } from 'vitest'
import type { Fault, FaultEffect, FaultKind, FaultStep, Operation, PaymentScript } from '../../mocks/core.ts'

const operation = 'gateway.charge'

test('each kind of fault takes its own details', () => {
  const faults: readonly Fault[] = [
    { operation, kind: 'latency', latencyMs: 5 },
    { operation, kind: 'status', status: 503, body: 'x', headers: { a: 'b' }, retryAfter: 1 },
    { operation, kind: 'reset', code: 'ECONNREFUSED', times: 'always', when: { msisdn: '+1' } },
    { operation: 'gateway.*', kind: 'lost-response', executed: true, probability: 0.5 },
    { operation: '*', kind: 'status', status: 503, sequence: ['fail', 'succeed', { kind: 'html' }] },
    { operation: '*', retryAfter: 7, sequence: ['rate-limit', { kind: 'html', status: 504 }] },
  ]
  expectTypeOf(faults).items.toEqualTypeOf<Fault>()
})

test('a detail of another kind, and a kind without a detail that it needs, do not compile', () => {
  type Of<Effect> = Effect & { readonly operation: 'gateway.charge' }
  expectTypeOf<Of<{ kind: 'reset' }>>().toExtend<Fault>()
  expectTypeOf<Of<{ kind: 'latency' }>>().not.toExtend<Fault>()
  expectTypeOf<Of<{ kind: 'reset'; status: number }>>().not.toExtend<Fault>()
  expectTypeOf<Of<{ kind: 'empty'; body: string }>>().not.toExtend<Fault>()
  expectTypeOf<Of<{ kind: 'timeout'; code: string }>>().not.toExtend<Fault>()
  expectTypeOf<Of<{ kind: 'truncated'; headers: { a: string } }>>().not.toExtend<Fault>()
  expectTypeOf<Of<{ kind: 'html'; retryAfter: number }>>().not.toExtend<Fault>()
  expectTypeOf<Of<{ kind: 'lost-response'; executed: false }>>().not.toExtend<Fault>()
  expectTypeOf<Of<{ kind: 'rate-limit'; executed: true }>>().not.toExtend<Fault>()
  expectTypeOf<Of<{ times: 2 }>>().not.toExtend<Fault>()
  expectTypeOf<{ kind: 'reset' }>().not.toExtend<Fault>()
})

test('a step obeys the same rules, and the kind may be a variable', () => {
  expectTypeOf<{ kind: 'reset'; status: number }>().not.toExtend<FaultStep>()
  expectTypeOf<{ kind: 'reset'; code: string }>().toExtend<FaultStep>()
  expectTypeOf<{ operation: Operation; kind: Exclude<FaultKind, 'latency'> }>().toExtend<Fault>()
  expectTypeOf<FaultEffect['kind']>().toEqualTypeOf<FaultKind>()
  expectTypeOf<PaymentScript>().toEqualTypeOf<'succeed' | 'fail'>()
})
