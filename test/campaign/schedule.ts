import fc from 'fast-check'
import type { Fault, FaultEffect, FaultStep } from '../../mocks/core.ts'

/** The calls that move money or make and end mandates. */
const CALLS = ['charge', 'renew', 'subscribe', 'cancel'] as const

/** When the caller breaks a call off: before it, some turns of the event loop's microtasks in, or milliseconds in. */
export type Abort =
  | { readonly when: 'before' }
  | { readonly when: 'turns'; readonly count: number }
  | { readonly when: 'milliseconds'; readonly count: number }

/** What a token store does with one request: its work, or harm. */
export type StoreMood = 'works' | 'fails' | 'forgets' | 'returns garbage' | 'returns an old record'

/** How time is dealt out, in milliseconds: mock calls answer in no time, sockets need some. */
export interface Pace {
  readonly timeouts: readonly number[]
  readonly totals: readonly number[]
}

const executed = fc.boolean()
const milliseconds = fc.integer({ min: 1, max: 12 })

/** Answers with which a server says that it did not act. */
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

/** Ends that prove nothing: the server may have acted or not, and here does either. */
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
  { weight: 2, arbitrary: fc.constant('succeed' as const) },
  { weight: 3, arbitrary: refusals },
  { weight: 3, arbitrary: unconnected },
  { weight: 6, arbitrary: uncertain },
  { weight: 1, arbitrary: late },
  { weight: 1, arbitrary: lateEnd },
)

const fault: fc.Arbitrary<Fault> = fc
  .record({
    operation: fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom<Fault['operation']>(
          'gateway.charge',
          'gateway.renew',
          'subscriptions.subscribe',
          'subscriptions.cancel',
        ),
      },
      { weight: 2, arbitrary: fc.constant('subscriptions.login' as const) },
      { weight: 2, arbitrary: fc.constantFrom<Fault['operation']>('subscriptions.*', 'gateway.*', '*') },
    ),
    sequence: fc.array(step, { minLength: 1, maxLength: 5 }),
    times: fc.constantFrom<number | 'always'>(1, 1, 2, 'always'),
    probability: fc.constantFrom(undefined, undefined, undefined, 0.5),
  })
  .map(({ probability, ...certain }) => (probability === undefined ? certain : { ...certain, probability }))

const abort: fc.Arbitrary<Abort | undefined> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant({ when: 'before' } as const) },
  {
    weight: 2,
    arbitrary: fc.integer({ min: 0, max: 60 }).map((count): Abort => ({ when: 'turns', count })),
  },
  { weight: 2, arbitrary: milliseconds.map((count): Abort => ({ when: 'milliseconds', count })) },
)

/** In one of four schedules the token store has moods, which take turns. */
const store: fc.Arbitrary<readonly StoreMood[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.constantFrom<StoreMood>('works', 'fails', 'forgets', 'returns garbage', 'returns an old record'),
      { minLength: 1, maxLength: 5 },
    ),
  },
)

/** One schedule: some logical calls at the same time, and what goes wrong meanwhile. */
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
    /** What the client holds when the calls begin. */
    token: fc.constantFrom('none', 'valid', 'revoked', 'expired'),
    /** How the token store behaves; empty: the client's own store. */
    store,
    /** Whether the mock's limiters allow only a few requests a minute. */
    limited: fc.oneof(
      { weight: 5, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    rateLimit: fc.constantFrom('wait', 'throw'),
    refresh: fc.constantFrom('password', 'refresh_token'),
    retries: fc.integer({ min: 0, max: 3 }),
    timeout: fc.constantFrom(...timeouts),
    totalTimeout: fc.constantFrom(...totals),
    /** What the client draws for its jitter, and the mock for its luck. */
    jitter: fc.double({ min: 0, max: 0.999, noNaN: true }),
    seed: fc.integer({ min: 0, max: 1_000_000 }),
  })

/** A drawn schedule. */
export type Schedule = ReturnType<typeof scheduleOf> extends fc.Arbitrary<infer Value> ? Value : never
/** One logical call of a schedule. */
export type ScheduledCall = Schedule['calls'][number]
