import { getEventListeners } from 'node:events'
import { inspect } from 'node:util'
import { expect, vi } from 'vitest'
import { isMandateKitError, type MandateKitError } from '../../src/index.ts'
import type { OwnTimers } from './own-timers.ts'
import type { PlannedCall, Prepared, SeenAttempt } from './prepared-calls.ts'
import type { Abort, Schedule } from './schedule.ts'

/** How late a call may end on a busy machine, in milliseconds. */
const SLACK = 20_000
const NEVER_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']

/** Lets everything run that is ready. */
export const afterEverythingReady = () => new Promise((resolve) => setImmediate(resolve))

/** How a logical call ended. */
export interface Ending {
  readonly call: PlannedCall
  readonly error: MandateKitError | undefined
}

const abortLater = async (controller: AbortController, abort: Abort | undefined): Promise<void> => {
  if (abort?.when === 'milliseconds') setTimeout(() => controller.abort(), abort.count)
  if (abort?.when !== 'turns') return
  for (let turn = 0; turn < abort.count; turn += 1) await Promise.resolve()
  controller.abort()
}

const leftLogin = ({ error }: Ending): boolean =>
  error?.phase === 'login' && (error.code === 'aborted' || error.code === 'timeout')

/** Makes all calls of a schedule in parallel. Each must keep its time and leave nothing behind. */
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
    await abortLater(controller, abort)
    const ended = await ending
    expect(performance.now() - startedAt, 'the call kept its time').toBeLessThan(longest)
    expect(getEventListeners(signal, 'abort'), 'no listener stays on the caller’s signal').toEqual([])
    return ended
  }
  const endings = await Promise.all(
    prepared.calls.map((call, index) => run(call, schedule.calls[index]?.abort)),
  )
  const noTimerStays = () => expect(timers.running, 'no timer stays').toBe(0)
  // A login whose caller has left, and a request to a store that hangs, end by their own time limits.
  if (!endings.some(leftLogin) && !schedule.store.includes('hangs')) noTimerStays()
  await afterEverythingReady()
  await vi.waitFor(noTimerStays, { timeout: SLACK })
  return endings
}

/** Whether an attempt proves that the server did not act. */
const provesNothingWasDone = ({ status, code }: SeenAttempt): boolean =>
  status === undefined ? NEVER_CONNECTED.includes(code ?? '') : status === 401 || status === 429

const keysOf = (attempts: readonly SeenAttempt[]): readonly (string | undefined)[] => [
  ...new Set(attempts.map(({ key }) => key)),
]

/** Compares the end of a call with what the server did. */
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
    if (acted > 0) expect(error?.retryable ?? false, `${words}: not retryable`).toBe(false)
    return
  }
  expect(acted, `${words}: executed once at most`).toBeLessThanOrEqual(1)
  const keys = keysOf(attempts)
  expect(keys.length, `${words}: one key`).toBeLessThanOrEqual(1)
  if (error?.idempotencyKey === undefined) return
  expect(keys[0] ?? error.idempotencyKey, `${words}: the error has the key`).toBe(error.idempotencyKey)
  // The error tells the caller to repeat the call with this key: the server still acts once.
  await call.again(error.idempotencyKey)
  expect(
    prepared.requestsOf(call).filter(({ executed }) => executed),
    `${words}: the same key again is the same`,
  ).toHaveLength(1)
}

/** Checks the number of logins of all calls, and returns it. */
export const judgeLogins = ({ retries, calls }: Schedule, { mock }: Prepared): number => {
  const logins = mock.requests.of('subscriptions.login').length
  const callers = calls.filter(({ operation }) => operation === 'subscribe' || operation === 'cancel')
  // The login that prepared the client may still run.
  const most = (2 * callers.length + 1) * (1 + retries)
  expect(logins, 'a call logs in twice at most, each time within its retries').toBeLessThanOrEqual(most)
  return logins
}

/** Checks that nothing visible to a user has a secret. */
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
  const secrets = prepared
    .secrets()
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
  expect(secrets.filter((secret) => visible.includes(secret))).toEqual([])
}
