import { getEventListeners } from 'node:events'
import { inspect } from 'node:util'
import { expect, vi } from 'vitest'
import type { MandateKitError } from '../../src/index.ts'
import { isMandateKitError } from '../../src/index.ts'
import type { OwnTimers } from './own-timers.ts'
import type { PlannedCall, Prepared, SeenAttempt } from './prepared-calls.ts'
import type { Abort, Schedule } from './schedule.ts'

/** How late a call may end on a busy machine before it counts as one that does not keep its time. */
const SLACK = 2_000
const NEVER_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']

/** Lets everything run that is ready. */
export const afterEverythingReady = () => new Promise((resolve) => setImmediate(resolve))

/** How a logical call ended. */
export interface Ending {
  readonly call: PlannedCall
  readonly error: MandateKitError | undefined
}

const breakOff = async (controller: AbortController, abort: Abort | undefined): Promise<void> => {
  if (abort?.when === 'milliseconds') setTimeout(() => controller.abort(), abort.count)
  if (abort?.when !== 'turns') return
  for (let turn = 0; turn < abort.count; turn += 1) await Promise.resolve()
  controller.abort()
}

const leftLogin = ({ error }: Ending): boolean =>
  error?.phase === 'login' && (error.code === 'aborted' || error.code === 'timeout')

/** Makes all calls of a schedule at once, and holds each to its time and to leaving nothing behind. */
export const runAll = async (
  schedule: Schedule,
  prepared: Prepared,
  timers: OwnTimers,
): Promise<readonly Ending[]> => {
  const longest = Math.min(schedule.totalTimeout, 30 * schedule.timeout) + SLACK
  const run = async (call: PlannedCall, abort: Abort | undefined): Promise<Ending> => {
    const controller = new AbortController()
    const { signal } = controller
    if (abort?.when === 'before') controller.abort()
    const startedAt = performance.now()
    const ending = call.run(signal).then(
      () => ({ call, error: undefined }),
      (error: unknown) => {
        if (isMandateKitError(error)) return { call, error }
        throw error
      },
    )
    await breakOff(controller, abort)
    const ended = await ending
    expect(performance.now() - startedAt, 'the call kept its time').toBeLessThan(longest)
    expect(getEventListeners(signal, 'abort'), 'no listener stays on the caller’s signal').toEqual([])
    return ended
  }
  const endings = await Promise.all(
    prepared.calls.map((call, index) => run(call, schedule.calls[index]?.abort)),
  )
  const noTimerStays = () => expect(timers.running, 'no timer stays').toBe(0)
  if (!endings.some(leftLogin)) noTimerStays()
  // A login that its caller has left goes on for others, and ends by its own time limit.
  await afterEverythingReady()
  await vi.waitFor(noTimerStays, { timeout: SLACK })
  return endings
}

/** Whether the client has proof that the server did not act on an attempt. */
const provesNothingWasDone = ({ status, code }: SeenAttempt): boolean =>
  status === undefined ? NEVER_CONNECTED.includes(code ?? '') : status === 401 || status === 429

const keysOf = (attempts: readonly SeenAttempt[]): readonly (string | undefined)[] => [
  ...new Set(attempts.map(({ key }) => key)),
]

/** Holds a call that ended to what the server really did. */
export const judge = async (prepared: Prepared, { call, error }: Ending): Promise<void> => {
  const requests = prepared.requestsOf(call)
  const acted = requests.filter(({ executed }) => executed).length
  const words = `${call.operation} ended ${error === undefined ? 'well' : `as ${error.code}, ${error.outcome}`}`
  if (error === undefined) expect(acted, words).toBeGreaterThan(0)
  else if (acted > 0) expect(error.outcome, words).toBe('unknown')

  const attempts = prepared.attempts.filter(({ sent }) => sent.includes(call.marker))
  if (call.again === undefined) {
    expect(acted, `${words}: executed once at most`).toBeLessThanOrEqual(1)
    expect(
      attempts.slice(0, -1).filter((attempt) => !provesNothingWasDone(attempt)),
      words,
    ).toEqual([])
    if (acted > 0) expect(error?.retryable ?? false, `${words}: not to be repeated`).toBe(false)
    return
  }
  expect(acted, `${words}: executed once at most`).toBeLessThanOrEqual(1)
  const keys = keysOf(attempts)
  expect(keys.length, `${words}: one key`).toBeLessThanOrEqual(1)
  if (error?.idempotencyKey === undefined) return
  expect(keys[0] ?? error.idempotencyKey, `${words}: the error tells the key`).toBe(error.idempotencyKey)
  // The way out that the error names: the same key again. Nothing goes wrong this time, and still it is one.
  await call.again(error.idempotencyKey)
  expect(
    prepared.requestsOf(call).filter(({ executed }) => executed),
    `${words}: the same key again is the same`,
  ).toHaveLength(1)
}

/** Holds everything a user can see of a schedule to holding no secret. */
export const judgeSecrets = (prepared: Prepared, endings: readonly Ending[]): void => {
  const errors = endings.flatMap(({ error }) => error ?? [])
  const visible = [
    ...errors.flatMap((error) => [
      inspect(error, { depth: 20, showHidden: true }),
      JSON.stringify(error),
      String(error.stack),
    ]),
    inspect(prepared.facts, { depth: 20, showHidden: true, maxArrayLength: null }),
  ].join('\n')
  const secrets = prepared.secrets().filter((secret) => secret !== '')
  expect(secrets.filter((secret) => visible.includes(secret))).toEqual([])
}
