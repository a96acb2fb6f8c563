import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isMandateKitError, nextStep } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST } from '../support/bodies.ts'
import { errorOf, gatewayClient } from '../support/clients.ts'
import { type Call, type Clients, calls, failureOf, once, openClients } from '../support/open-clients.ts'
import { type Script, startServer } from '../support/scripted-server.ts'
import { api, merchant, useTokenServer } from '../support/token-set-up.ts'

const lost = { status: 502 }
const refused = { status: 422, body: { errorCode: '01', error: { code: 'no', message: 'no' } } }
const inUse = { status: 409 }
const early = { status: 425 }
const wait = { 'retry-after': '40' }
const RAW = { method: 'POST', path: '/refunds' } as const
const get =
  (more: object = {}): Call =>
  ({ gateway }) =>
    gateway.request({ ...RAW, method: 'GET', ...more })
const find = (how: string) => ({ step: 'find-out', how })
const pause = (afterMs: number, reason: string) => ({ step: 'pause-queue', afterMs, reason })
const ownKey: Call = ({ gateway }) => gateway.charge(CHARGE_REQUEST, { idempotencyKey: 'order-1', ...once })

const OURS = { code: 'timeout', operation: 'gateway.reset', outcome: 'unknown', retryable: true }

describe('nextStep', () => {
  it.each<[string, Call, Script, object]>([
    ['a lost charge', ownKey, lost, { step: 'retry', afterMs: 30_000, idempotencyKey: 'order-1' }],
    ['a charge with a generated key', calls.charge, lost, { idempotencyKey: expect.any(String) }],
    ['a read with a wait', calls.status, { status: 503, headers: wait }, { step: 'retry', afterMs: 40_000 }],
    ['a lost read by request()', get(), lost, { step: 'retry' }],
    ['a lost read by request() with retries', get({ retry: 'always' }), lost, { step: 'retry' }],
    ['a lost write by request()', ({ gateway }) => gateway.request(RAW), lost, find('read-state')],
    ['a request that came too early', ({ gateway }) => gateway.request(RAW), early, find('read-state')],
    ['a confirm of which one is in progress', calls.confirm, inUse, find('read-charge')],
    ['a lost subscribe', calls.subscribe, lost, find('subscribe-again')],
    ['a lost cancel', calls.cancel, lost, find('read-subscription')],
    ['a lost reset', calls.reset, lost, find('read-state')],
    ['a page of a firewall', calls.details, { status: 403 }, pause(60_000, 'not-available')],
    [
      'a page of a proxy with a time',
      calls.status,
      { status: 405, headers: wait },
      pause(40_000, 'not-available'),
    ],
    ['a page in place of a charge', ownKey, { body: '<h1>' }, { step: 'retry', idempotencyKey: 'order-1' }],
    ['a 429', ownKey, { status: 429 }, pause(60_000, 'rate-limited')],
    ['a 429 with a time', ownKey, { status: 429, headers: wait }, pause(40_000, 'rate-limited')],
    ['a rejected API key', ownKey, { status: 401 }, pause(60_000, 'not-authorized')],
  ])('cases 114 and 115: after %s', async (_, call, script, step) => {
    expect(nextStep(await failureOf(script, call))).toMatchObject(step)
  })

  it('fails on input that breaks a rule', async () => {
    const { gateway } = await openClients({})
    expect(nextStep(await errorOf(gateway.status('')))).toEqual({ step: 'fail' })
  })

  it.each([
    ['a deadlock of a database', Object.assign(new Error('deadlock detected'), { code: '40P01' })],
    ['an error of the network', Object.assign(new TypeError('x'), { cause: { code: 'ECONNRESET' } })],
    ['several errors', new AggregateError([OURS, new Error('two')], 'x')],
    ['JSON of another program', { code: 'timeout', message: 'x' }],
    ['text', 'timeout'],
    ['nothing', undefined],
    ['null', null],
  ])('case 105: does not say of %s that it would fail again', (_, error) => {
    expect(nextStep(error)).toEqual({ step: 'unknown-error' })
  })

  it.each<[string, (error: Error) => unknown]>([
    ['a cause', (cause) => new Error('The job failed', { cause })],
    ['a cause of a cause', (cause) => new Error('x', { cause: new TypeError('y', { cause }) })],
    ['an AggregateError of one', (error) => new AggregateError([error], 'x')],
    ['an AggregateError with a cause', (cause) => Object.assign(new AggregateError([], 'x'), { cause })],
    ['JSON', (error) => JSON.parse(JSON.stringify(error))],
    ['JSON with nulls', (error) => JSON.parse(JSON.stringify({ idempotencyKey: null, ...error }))],
    ['a cause in JSON', (error) => ({ message: 'x', cause: JSON.parse(JSON.stringify(error)) })],
  ])('case 105: reads %s', async (_, wrap) => {
    for (const [script, call] of [
      [lost, ownKey],
      [lost, calls.cancel],
      [{ status: 429 }, calls.status],
      [{ status: 403 }, calls.status],
      [refused, calls.confirm],
    ] as const) {
      const error = await failureOf(script, call)
      expect(nextStep(wrap(error))).toEqual(nextStep(error))
    }
  })
})

describe('nextStep agrees with `retryable`, whatever happened before', () => {
  const methods: Readonly<Record<string, Call>> = {
    ...calls,
    'charge with your key': ownKey,
    'status of a request': ({ subscriptions }) => subscriptions.status('inv-1'),
    cancellation: ({ subscriptions }) => subscriptions.cancellation('sub-1'),
    payments: ({ subscriptions }) => subscriptions.payments('sub-1'),
    payment: ({ subscriptions }) => subscriptions.payment(1),
    reference: ({ gateway }) => gateway.reference(),
    request: ({ subscriptions }) => subscriptions.request(RAW),
    'request with your key': ({ subscriptions }) => subscriptions.request({ ...RAW, idempotencyKey: 'a' }),
  }
  const statuses = [200, 204, 302, 400, 401, 403, 404, 408, 409, 421, 422, 425, 429, 500, 501, 503, 505, 599]
  const bodies = ['', '{"id":', '<h1>', CHARGE, refused.body, { errorCode: '0' }, { error: 'invalid_grant' }]
  const earlier = [[], [lost], [{ status: 429 }]]
  const scripts = fc.tuple(...[statuses, bodies, earlier].map((each) => fc.constantFrom<unknown>(...each)))

  it.each(Object.entries(methods))('after %s', async (_, call) => {
    const agree = async ([status, body, before]: readonly unknown[]) => {
      const script = [...(before as Script[]), { status, body } as Script]
      const error: unknown = await call(await openClients(script)).catch((reason: unknown) => reason)
      if (!isMandateKitError(error)) return
      const next = nextStep(error)
      const mayHaveActed = error.acts === true && error.outcome === 'unknown'
      // A new call would have a new key, but a call with the key of the error is safe.
      const isSafe = error.retryable || (next.step === 'retry' && next.idempotencyKey !== undefined)
      if (error.retryable) expect(['retry', 'pause-queue']).toContain(next.step)
      if (next.step === 'retry') expect(isSafe).toBe(true)
      if (next.step === 'fail') expect(mayHaveActed).toBe(false)
    }
    await fc.assert(fc.asyncProperty(scripts, agree), { numRuns: 60 })
  })
})

describe('a keyed call that the API itself refuses, although an attempt may have acted,', () => {
  it.each<[string, Script[]]>([
    ['with the created charge', [{ status: 402, body: { ...CHARGE, status: 'failed' } }]],
    ['after a lost response', [lost, refused]],
  ])('is not retryable, and a person finds out: %s', async (_, script) => {
    const key: Call = ({ gateway }) => gateway.charge(CHARGE_REQUEST, { idempotencyKey: 'order-1' })
    for (const call of [key, calls.charge]) {
      const error = await failureOf(script, call)
      expect(error).toMatchObject({ outcome: 'unknown', retryable: false })
      expect(nextStep(error).step).toBe('find-out')
    }
  })
})

describe('case 100: a key that the gateway may have forgotten', () => {
  const day = 86_400_000
  const failed = (script: Script, options = { keyLifetime: day } as object, call = ownKey) => {
    const errorAt = (url: string) => errorOf(call({ gateway: gatewayClient(url, options) } as Clients))
    return startServer([script]).then(({ url }) => errorAt(url))
  }
  const now = Date.now()

  it.each<[string, number | Date, object]>([
    ['a job of an hour', now - 3_600_000, { step: 'retry', idempotencyKey: 'order-1' }],
    ['a job of 25 hours', now - 25 * 3_600_000, find('find-charge')],
    ['a job of 25 hours, as a date', new Date(now - 25 * 3_600_000), find('find-charge')],
    // The retry comes after 30 s, when the gateway has forgotten the key.
    ['a job of almost a day', now - day + 10_000, find('find-charge')],
    // The client may retry for two minutes.
    ['a job of a day less two minutes', now - day + 140_000, find('find-charge')],
    ['a job of an unknown time', new Date('soon'), find('find-charge')],
  ])('is not sent again: %s', async (_, firstSentAt, step) => {
    const error = await failed(lost)
    expect(nextStep(error, { firstSentAt, now })).toMatchObject(step)
    expect(nextStep(JSON.parse(JSON.stringify(error)), { firstSentAt, now: new Date(now) })).toMatchObject(
      step,
    )
  })

  it.each<[string, Script, options: object | undefined, call: Call | undefined, object]>([
    [
      'is sent again when the client does not know how long keys live',
      lost,
      {},
      undefined,
      { step: 'retry' },
    ],
    ['is sent again after a pause', { status: 429 }, undefined, undefined, { step: 'pause-queue' }],
    ['is of no interest to a read', lost, undefined, calls.status, { step: 'retry' }],
    ['is of no interest after a refusal', refused, undefined, undefined, { step: 'fail' }],
  ])('%s', async (_, script, options, call, step) => {
    expect(nextStep(await failed(script, options, call), { firstSentAt: 0 })).toMatchObject(step)
  })

  it('is sent no longer than the gateway keeps it, even within one call', async () => {
    const busy = { status: 503, headers: { 'retry-after': '5' } }
    const error = await failed(busy, { keyLifetime: 4_000 })
    expect(error).toMatchObject({ attempts: 1, idempotencyKey: 'order-1', retryable: false })
    expect(nextStep(error)).toEqual(find('find-charge'))
  })

  it.each([120_000, 600_000])(
    'is compared with the time limit of the call, here %i ms',
    async (totalTimeout) => {
      const error = await failed(lost, { keyLifetime: 700_000, totalTimeout })
      const wait = { firstSentAt: now - 500_000 + totalTimeout, now }
      expect(nextStep(error, wait).step).toBe('retry')
      expect(nextStep(error, { ...wait, firstSentAt: wait.firstSentAt - 200_000 }).step).toBe('find-out')
    },
  )

  it('is not sent again after a call without a time limit, also if the error was saved as JSON', async () => {
    const error = await failed(lost, { keyLifetime: day, totalTimeout: Infinity })
    expect(nextStep(error, { firstSentAt: now, now })).toEqual(find('find-charge'))
    expect(nextStep(JSON.parse(JSON.stringify(error)), { firstSentAt: now, now })).toEqual(
      find('find-charge'),
    )
  })

  it('is of no interest without keyLifetime, or if nothing was sent', async () => {
    expect(await failed(lost, { totalTimeout: Infinity })).toMatchObject({ retryable: true })
    const error = await errorOf(
      ownKey({ gateway: gatewayClient('http://127.0.0.1:1', { keyLifetime: 60_000 }) } as Clients),
    )
    expect([error.retryable, nextStep(error).step]).toEqual([true, 'retry'])
  })

  it('is not sent after a wait for the rate limit in which it expired', async () => {
    const script = [
      { status: 503, headers: { 'retry-after': '1' } },
      { status: 429, headers: { 'retry-after': '5' } },
    ]
    const { url, requests } = await startServer([...script, { status: 202, body: CHARGE }])
    const gateway = gatewayClient(url, { keyLifetime: 3_000, retry: { limit: 1 } })
    const charge = errorOf(gateway.charge(CHARGE_REQUEST, { idempotencyKey: 'order-1' }))
    await expect.poll(() => requests).toHaveLength(1)
    await errorOf(gateway.withOptions({ retry: false }).status('ch_1'))
    expect(await charge).toMatchObject({ status: 503, attempts: 1, outcome: 'unknown' })
    expect(requests).toHaveLength(2)
  })

  it('is a condition of the message', async () => {
    for (const call of [ownKey, calls.charge, calls.renew])
      expect((await failed(lost, once, call)).message).toMatch(/while the gateway keeps the key/)
  })
})

describe('after a login, nextStep pauses the queue', () => {
  useTokenServer()

  it.each<[number, object, afterMs: number, reason: string]>([
    [403, { errorCode: '17' }, 900_000, 'locked-out'],
    [401, { errorCode: '17' }, 900_000, 'credentials-rejected'],
    [200, { error: 'invalid_grant' }, 900_000, 'credentials-rejected'],
    [401, {}, 900_000, 'credentials-rejected'],
    [403, {}, 10_000, 'login-unavailable'],
    [404, {}, 10_000, 'login-unavailable'],
    [200, {}, 10_000, 'login-unavailable'],
  ])(
    '(HTTP %i, %j) for %i ms, at the first call and at later calls',
    async (status, body, afterMs, reason) => {
      api.refuse(status, body)
      const { details, login } = merchant()
      for (let call = 0; call < 2; call += 1)
        expect(nextStep(await errorOf(details()))).toEqual({ step: 'pause-queue', afterMs, reason })
      expect(nextStep(await errorOf(login()))).toMatchObject({ step: 'pause-queue', reason })
    },
  )
})

it.each<[Script, what: string, next: object]>([
  [{ status: 429, headers: { 'retry-after': '600' } }, 'keeps its key in the pause', { step: 'pause-queue' }],
  [{ status: 401 }, 'is looked for, because another API key would charge again', find('find-charge')],
])('a charge that was lost and then got %j %s', async (script, _, next) => {
  const { gateway } = await openClients([lost, script])
  const error = await errorOf(gateway.charge(CHARGE_REQUEST))
  const { idempotencyKey } = error
  expect(error.outcome).toBe('unknown')
  expect(nextStep(error)).toEqual('how' in next ? next : expect.objectContaining({ ...next, idempotencyKey }))
})

it.each(['subscriptions.cancel', 'subscriptions.subscribe', 'gateway.confirm', 'gateway.reset'])(
  'an error of an earlier version, without `acts`, whose outcome is unknown is no failure: %s',
  (operation) => {
    const earlier = { code: 'timeout', operation, phase: 'request', outcome: 'unknown', retryable: false }
    expect(nextStep(earlier)).toEqual({ step: 'find-out', how: 'read-state' })
    expect(nextStep({ ...earlier, outcome: 'rejected' })).toEqual({ step: 'fail' })
    expect(nextStep({ ...earlier, retryable: true })).toMatchObject({ step: 'retry' })
  },
)
