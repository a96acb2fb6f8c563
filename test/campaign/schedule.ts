import fc from 'fast-check'
import type { Fault, FaultEffect, FaultStep } from '../../mocks/core.ts'

/** The calls that move money or make and end mandates. */
const CALLS = ['charge', 'renew', 'subscribe', 'cancel'] as const

/** When the caller aborts a call: before it, or after some microtasks or milliseconds. */
export type Abort =
  | { readonly when: 'before' }
  | { readonly when: 'turns'; readonly count: number }
  | { readonly when: 'milliseconds'; readonly count: number }

/** What a token store does with one request. */
const MOODS = ['works', 'fails', 'hangs', 'forgets', 'returns garbage', 'returns an old record'] as const
export type StoreMood = (typeof MOODS)[number]

/** The timeouts to choose from, in milliseconds. */
export interface Pace {
  readonly timeouts: readonly number[]
  readonly totals: readonly number[]
}

const weigh = <Value>(weight: number, arbitrary: fc.Arbitrary<Value>) => ({ weight, arbitrary })
const executed = fc.boolean()
const milliseconds = fc.integer({ min: 1, max: 12 })

/** Responses that prove that the server did not act. */
const refusals = fc.constantFrom<FaultEffect>(
  ...[400, 401, 403, 404, 409, 422].map((status): FaultEffect => ({ kind: 'status', status })),
  { kind: 'rate-limit' },
  { kind: 'rate-limit', retryAfter: 1 },
  { kind: 'rate-limit', retryAfter: false },
  { kind: 'rate-limit', retryAfter: 'soon' },
  { kind: 'rate-limit', retryAfter: 86_400 },
  { kind: 'rate-limit', retryAfter: 'Sat, 28 Nov 2026 12:00:02 GMT' },
)

/** Connections that were never made. */
const unconnected = fc
  .constantFrom('ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT')
  .map((code): FaultEffect => ({ kind: 'reset', code }))

/** Failures that prove nothing: the server may have acted, and does so in half of the cases. */
const uncertain = fc.oneof(
  fc.record({
    kind: fc.constant('status' as const),
    status: fc.constantFrom(408, 500, 502, 503, 504),
    executed,
    retryAfter: fc.constantFrom<number | false>(false, 1),
  }),
  fc.record({ kind: fc.constant('reset' as const), executed }),
  fc.record({ kind: fc.constant('reset' as const), code: fc.constant('EPIPE'), executed }),
  fc.record({ kind: fc.constant('timeout' as const), executed }),
  fc.record({ kind: fc.constant('html' as const), status: fc.constantFrom(200, 302, 502), executed }),
  fc.record({ kind: fc.constant('empty' as const), executed }),
  fc.record({ kind: fc.constant('empty' as const), status: fc.constantFrom(200, 204, 500), executed }),
  fc.record({ kind: fc.constant('malformed' as const), executed }),
  fc.record({ kind: fc.constantFrom('lost-response' as const, 'truncated' as const) }),
)

const late = fc.record({ kind: fc.constant('latency' as const), latencyMs: milliseconds, executed })
const lateEnd = fc
  .tuple(fc.oneof(refusals, uncertain), milliseconds)
  .map(([effect, latencyMs]): FaultEffect => ({ ...effect, latencyMs }))

const step: fc.Arbitrary<FaultStep> = fc.oneof(
  weigh(2, fc.constant('succeed')),
  weigh(3, refusals),
  weigh(3, unconnected),
  weigh(6, uncertain),
  weigh(1, late),
  weigh(1, lateEnd),
)

const gatewayCalls = fc.constantFrom('gateway.charge', 'gateway.renew')
const subscriptionsCalls = fc.constantFrom('subscriptions.subscribe', 'subscriptions.cancel')
const operation: fc.Arbitrary<Fault['operation']> = fc.oneof(
  weigh(3, gatewayCalls),
  weigh(3, subscriptionsCalls),
  weigh(2, fc.constant('subscriptions.login')),
  weigh(2, fc.constantFrom('subscriptions.*', 'gateway.*', '*')),
)

const fault: fc.Arbitrary<Fault> = fc
  .record({
    operation,
    sequence: fc.array(step, { minLength: 1, maxLength: 5 }),
    times: fc.constantFrom<number | 'always'>(1, 1, 2, 'always'),
    probability: fc.constantFrom(undefined, undefined, undefined, 0.5),
  })
  .map(({ probability, ...certain }) => (probability === undefined ? certain : { ...certain, probability }))

const abort: fc.Arbitrary<Abort | undefined> = fc.oneof(
  weigh(8, fc.constant(undefined)),
  weigh(1, fc.constant({ when: 'before' })),
  weigh(2, fc.record({ when: fc.constant('turns'), count: fc.integer({ min: 0, max: 60 }) })),
  weigh(2, fc.record({ when: fc.constant('milliseconds'), count: milliseconds })),
)

/** In one of four schedules the token store has moods. */
const store: fc.Arbitrary<readonly StoreMood[]> = fc.oneof(
  weigh(3, fc.constant([])),
  weigh(1, fc.array(fc.constantFrom(...MOODS), { minLength: 1, maxLength: 5 })),
)

/** One schedule: some parallel calls, and the faults during them. */
export const scheduleOf = ({ timeouts, totals }: Pace) =>
  fc.record({
    calls: fc.array(
      fc.record({
        operation: fc.constantFrom(...CALLS),
        /** Whether the caller chose the key of a charge. */
        givenKey: fc.boolean(),
        abort,
      }),
      { minLength: 1, maxLength: 3 },
    ),
    faults: fc.array(fault, { minLength: 1, maxLength: 3 }),
    /** The token of the client when the calls begin. */
    token: fc.constantFrom('none', 'valid', 'revoked', 'expired'),
    /** The moods of the token store; empty for the client's own store. */
    store,
    /** Whether the mock's limiters allow only a few requests a minute. */
    limited: fc.oneof(weigh(5, fc.constant(false)), weigh(1, fc.constant(true))),
    rateLimit: fc.constantFrom('wait', 'throw'),
    refresh: fc.constantFrom('password', 'refresh_token'),
    retries: fc.integer({ min: 0, max: 3 }),
    timeout: fc.constantFrom(...timeouts),
    totalTimeout: fc.constantFrom(...totals),
    /** The random numbers of the client and of the mock. */
    jitter: fc.double({ min: 0, max: 0.999, noNaN: true }),
    seed: fc.integer({ min: 0, max: 1_000_000 }),
  })

/** A drawn schedule. */
export type Schedule = ReturnType<typeof scheduleOf> extends fc.Arbitrary<infer Value> ? Value : never
/** One logical call of a schedule. */
export type ScheduledCall = Schedule['calls'][number]
