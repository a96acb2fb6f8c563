import { ApplicationFailure, asyncLocalStorage, type Context } from '@temporalio/activity'
import { ActivityFailure } from '@temporalio/workflow'
import { GatewayClient } from 'mandatekit'
import type { Fault } from 'mandatekit/mocks/core'
import { describe, expect, test } from 'vitest'
import { createActivities, type Pause, type Renewal } from '../../examples/queues/temporal.ts'
import { createPause, pauseQueue, renewAll } from '../../examples/queues/temporal-workflow.ts'
import { MOCK_CHARGE, openMock } from '../support/mock-clients.ts'

const BACKOFF = 5_000

/**
 * Temporal's contract of an activity: an attempt that fails is retried after `nextRetryDelay`, or else after the
 * backoff; a failure that is not retryable, or of a killed worker without limit of attempts, follows the same rules;
 * every attempt knows its number and the time of the first one.
 */
const simulateTemporal = (startedAt = Date.now()) => {
  let time = startedAt
  const delays: number[] = []
  const attempts: number[] = []
  const kills = { before: new Set<number>(), after: new Set<number>() }
  const execute = async <Input, Result>(
    activity: (input: Input) => Promise<Result>,
    input: Input,
  ): Promise<Result> => {
    const scheduledTimestampMs = time
    for (let attempt = 1; ; attempt += 1) {
      attempts.push(attempt)
      const info = { attempt, scheduledTimestampMs, workflowExecution: { workflowId: 'w', runId: 'r' } }
      const context = { info, cancellationSignal: new AbortController().signal } as Context
      const work = async () => {
        if (kills.before.has(attempt)) throw new Error('killed')
        const result = await asyncLocalStorage.run(context, () => activity(input))
        if (kills.after.has(attempt)) throw new Error('killed')
        return { result }
      }
      const ended = await work().catch((error: unknown) =>
        error instanceof ApplicationFailure ? error : ApplicationFailure.create({}),
      )
      if ('result' in ended) return ended.result
      if (ended.nonRetryable)
        throw new ActivityFailure('failed', 'renew', '1', 'NON_RETRYABLE_FAILURE', 'worker', ended)
      const delay = Number(ended.nextRetryDelay ?? BACKOFF)
      delays.push(delay)
      time += delay
    }
  }
  return { execute, delays, attempts, kills, now: () => time }
}

/** A mandate in a mock, and the activity on its client. */
const open = async (options: { keyLifetime?: number } = {}, pause: Pause = async () => undefined) => {
  const { mock } = openMock()
  const gateway = new GatewayClient({
    ...mock.clientOptions.gateway,
    ...options,
    fetch: mock.fetch,
    retry: false,
    rateLimit: 'throw',
  })
  const charge = await gateway.charge(MOCK_CHARGE, { idempotencyKey: 'order-1' })
  await gateway.confirm(charge.confirmation_id ?? '', { otp: '123456' })
  const { renew } = createActivities(gateway, pause)
  const due: Renewal = { chargeId: charge.id, dueDate: '2026-12-01' }
  const fault = (effect: object) => mock.faults.add({ operation: 'gateway.renew', ...effect } as Fault)
  return { mock, renew, due, fault, renewals: () => mock.state.charges().length - 1 }
}

/** A pause on a time that only its waits move. */
const openPause = () => {
  const waits: number[] = []
  const now = () => waits.reduce((sum, wait) => sum + wait, 0)
  return { waits, pause: createPause(async (milliseconds) => void waits.push(milliseconds), now) }
}

const INVALID = { kind: 'status', status: 422, body: { error: { code: 'bad', message: 'x' } } }

describe('the recipe for Temporal, on a simulator of an activity', () => {
  test('a lost response and an outage are retried after the wait that nextStep names, and one renewal is made', async () => {
    const { renew, due, fault, renewals } = await open()
    fault({ kind: 'lost-response' })
    fault({ kind: 'status', status: 503, headers: { 'retry-after': '7' } })
    const { execute, delays, attempts } = simulateTemporal()
    expect(await execute(renew, due)).toBe('succeeded')
    expect(delays).toEqual([30_000, 7_000])
    expect(attempts).toEqual([1, 2, 3])
    expect(renewals()).toBe(1)
  })

  test.each(['before', 'after'] as const)(
    'a worker that is killed %s the request is retried after the backoff, and one renewal is made',
    async (when) => {
      const { renew, due, renewals } = await open()
      const { execute, delays, kills } = simulateTemporal()
      kills[when].add(1).add(2)
      expect(await execute(renew, due)).toBe('succeeded')
      expect(delays).toEqual([BACKOFF, BACKOFF])
      expect(renewals()).toBe(1)
    },
  )

  const lost = { kind: 'lost-response', times: 'always' }
  test.each([
    ['a rejected input', {}, INVALID, 'fail', undefined],
    ['a lost response of a key that may be forgotten', { keyLifetime: 1 }, lost, 'find-out', ['find-charge']],
  ])(
    '%s fails the activity without a retry that could charge twice',
    async (_, options, effect, type, details) => {
      const { renew, due, fault, mock } = await open(options)
      fault(effect)
      const { execute } = simulateTemporal()
      const run = execute(async (input: Renewal) => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        return renew(input)
      }, due)
      await expect(run).rejects.toMatchObject({ cause: { type, details, nonRetryable: true } })
      expect(mock.requests.of('gateway.renew')).toHaveLength(1)
    },
  )

  test('an error of your own code is retried with the backoff of the policy', async () => {
    const { renew } = createActivities({ renew: () => Promise.reject(new Error('bug')) as never })
    const { execute } = simulateTemporal()
    let runs = 0
    const work = async (due: Renewal) => {
      runs += 1
      return runs < 3 ? renew(due) : 'done'
    }
    expect(await execute(work, { chargeId: 'ch_1', dueDate: '2026-12-01' })).toBe('done')
  })

  test('a rate limit signals the workflow, waits, and holds back the other renewals, which send nothing meanwhile', async () => {
    const temporal = simulateTemporal()
    const { pause, waits } = openPause()
    const signals: unknown[] = []
    const shop = await open({}, async (afterMs, reason) => {
      signals.push([afterMs, reason])
      pause.begin(afterMs)
    })
    shop.fault({ kind: 'rate-limit', retryAfter: 20 })
    const due = ['2026-12-01', '2027-01-01', '2027-02-01'].map((dueDate) => ({ ...shop.due, dueDate }))
    expect(await renewAll(due, 1, pause, (one) => temporal.execute(shop.renew, one))).toEqual([])
    expect(signals).toEqual([[20_000, 'rate-limited']])
    expect(temporal.delays).toEqual([20_000])
    expect(waits).toEqual([20_000])
    expect(shop.renewals()).toBe(3)
    expect(pauseQueue.name).toBe('pause-queue')
  })

  test('a renewal that fails does not stop the others, and is returned for a person', async () => {
    const shop = await open()
    shop.fault(INVALID)
    const temporal = simulateTemporal()
    const due = ['2026-12-01', '2027-01-01'].map((dueDate) => ({ ...shop.due, dueDate }))
    const { pause } = openPause()
    expect(await renewAll(due, 8, pause, (one) => temporal.execute(shop.renew, one))).toHaveLength(1)
    expect(shop.renewals()).toBe(1)
  })

  test('an attempt after the life of the key sends nothing, and a person must find out', async () => {
    const { renew, due, fault, mock } = await open()
    const { execute } = simulateTemporal(Date.now() - 24 * 3_600_000)
    fault({ kind: 'status', status: 503 })
    await expect(execute(renew, due)).rejects.toMatchObject({
      cause: { type: 'find-out', nonRetryable: true },
    })
    expect(mock.requests.of('gateway.renew')).toHaveLength(1)
  })

  test('a shorter pause does not replace a longer one', async () => {
    const { pause, waits } = openPause()
    pause.begin(60_000)
    pause.begin(1_000)
    await pause.end()
    expect(waits).toEqual([60_000])
  })
})
