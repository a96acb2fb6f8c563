import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { startMockServer } from '../../mocks/server.ts'
import { full, sized } from '../support/sizes.ts'
import { watchOwnTimers } from './own-timers.ts'
import { type Connect, prepare } from './prepared-calls.ts'
import { type Schedule, scheduleOf } from './schedule.ts'
import { afterEverythingReady, judge, judgeLogins, judgeSecrets, runAll } from './verdicts.ts'

// Each schedule makes up to three parallel calls during up to three faults. The clock of the mock is frozen, so that waits
// between attempts take no time; timeouts run on real time. To repeat a failure, pass the printed seed and path to
// `fc.assert`.

const RUNS = sized(2_000, 200)
const SOCKET_RUNS = Math.ceil(RUNS / 20)

const tally = new Map<string, number>()
const count = (what: string): void => {
  tally.set(what, (tally.get(what) ?? 0) + 1)
}

/** Runs one schedule; `connected` opens and closes the way to the mock. */
const campaign = async (
  schedule: Schedule,
  connected: () => { connect: Connect; close: () => Promise<void> },
): Promise<void> => {
  vi.restoreAllMocks()
  const timers = watchOwnTimers()
  vi.spyOn(Math, 'random').mockReturnValue(schedule.jitter)
  const { connect, close } = connected()
  try {
    const prepared = await prepare(schedule, connect)
    for (const fault of schedule.faults) prepared.mock.faults.add(fault)
    const endings = await runAll(schedule, prepared, timers)
    await close()
    await afterEverythingReady()
    prepared.mock.faults.clear()
    for (const ending of endings) {
      count(ending.error?.code ?? 'success')
      count(`outcome ${ending.error?.outcome ?? 'success'}`)
      if ((ending.error?.attempts ?? 0) > 1) count('retried in vain')
      await judge(prepared, ending)
    }
    judgeSecrets(prepared, endings)
    if (judgeLogins(schedule, prepared) > 2) count('more than two logins')
    if (timers.started > 0) count('timers')
    if (schedule.store.length > 0) count('a store with moods')
  } finally {
    await close()
    vi.restoreAllMocks()
  }
}

const throughFetch = () =>
  ({ connect: async (mock) => mock.fetch, close: async () => undefined }) satisfies {
    connect: Connect
    close: () => Promise<void>
  }

const throughSockets = () => {
  let close = async (): Promise<void> => undefined
  const connect: Connect = async (mock) => {
    const server = await startMockServer({ mock })
    close = () => server.close()
    return fetch
  }
  return { connect, close: () => close() }
}

describe('under random faults, aborts and timeouts', () => {
  it(`no call acts twice, none is retried in doubt, and no error claims too little, in ${RUNS} schedules`, {
    timeout: sized(600_000, 120_000),
  }, async () => {
    tally.clear()
    const schedule = scheduleOf({ timeouts: [8, 20], totals: [15, 60, 30_000] })
    await fc.assert(
      fc.asyncProperty(schedule, (given) => campaign(given, throughFetch)),
      { numRuns: RUNS },
    )
    // A campaign without one of these proves nothing about it.
    const refusals = ['api_error', 'authentication_failed', 'rate_limited', 'unexpected_response']
    const ends = ['connection_failed', 'timeout', 'aborted', 'retried in vain', ...refusals]
    const rest = ['timers', 'a store with moods', 'more than two logins']
    const always = ['success', 'outcome not-sent', 'outcome rejected', 'outcome unknown']
    const wanted = full ? [...ends, ...rest, ...always] : always
    expect(wanted.filter((end) => !tally.has(end))).toEqual([])
  })

  it(`the same holds over real sockets, in ${SOCKET_RUNS} schedules`, {
    timeout: sized(600_000, 120_000),
  }, async () => {
    tally.clear()
    const schedule = scheduleOf({ timeouts: [50, 100], totals: [60, 30_000] })
    await fc.assert(
      fc.asyncProperty(schedule, (given) => campaign(given, throughSockets)),
      { numRuns: SOCKET_RUNS },
    )
    expect(tally.has('success') && tally.has('outcome unknown')).toBe(true)
  })
})
