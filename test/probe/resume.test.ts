import { expect, test } from 'vitest'
import { openSession, type SessionLine } from '../../mocks/probe/session.ts'
import { sized } from '../support/sizes.ts'
import { openSandbox } from './set-up.ts'

const LEVELS = ['read', 'write'] as const

class Killed extends Error {}

/** Runs until the session file has so many lines, and then again to the end. */
const killedAt = async (count: number) => {
  const { run, mock } = openSandbox()
  const lines: SessionLine[] = []
  const write = (line: SessionLine): void => {
    if (lines.length === count) throw new Killed('the process was killed')
    lines.push(structuredClone(line))
  }
  const wasKilled = await Promise.resolve()
    .then(() => run({ session: openSession([], 'session', 'a sandbox', write) }, LEVELS))
    .then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
  const answered = lines.flatMap((line) => ('question' in line ? [line.question] : []))
  const more: SessionLine[] = []
  const session = openSession(lines, 'another', 'a sandbox', (line) => void more.push(structuredClone(line)))
  const result = await run({ session }, LEVELS)
  const again = more.flatMap((line) => ('question' in line ? [line.question] : []))
  return {
    mock,
    result,
    wasKilled,
    twice: again.filter((question) => answered.includes(question)),
    lines: lines.length,
  }
}

test('a run that is killed at any point resumes without asking or charging twice', {
  timeout: 600_000,
}, async () => {
  const whole = await killedAt(Number.POSITIVE_INFINITY)
  expect(whole.wasKilled).toBe(false)
  const acts = ({ mock }: typeof whole) => ({
    charges: mock.state.charges().length,
    renewals: mock.requests.of('gateway.renew').filter(({ executed }) => executed).length,
    confirmations: mock.requests.of('gateway.confirm').filter(({ executed }) => executed).length,
    subscriptions: mock.state.subscriptions().length,
    cancellations: mock.requests.of('subscriptions.cancel').length,
  })
  const most = acts(whole)
  const step = Math.ceil(whole.lines / sized(whole.lines, 16))
  let unknown = 0
  for (let count = 0; count < whole.lines; count += step) {
    const killed = await killedAt(count)
    expect(killed.wasKilled).toBe(true)
    expect(killed.twice).toEqual([])
    expect(killed.result.stopped).toEqual({})
    for (const [name, number] of Object.entries(acts(killed))) {
      expect([name, count, number <= most[name as keyof typeof most]]).toEqual([name, count, true])
    }
    unknown += killed.result.asked.filter(
      ({ answer }) => answer && 'unknown' in answer && /not sent twice/.test(answer.unknown),
    ).length
    // What was found is what an undisturbed run finds.
    for (const [area, options] of Object.entries(killed.result.options)) {
      expect(Object(whole.result.options)[area]).toMatchObject(options as object)
    }
  }
  // Only a request that may act, and whose response was lost, leaves an answer open.
  expect(unknown).toBeLessThan(4 * Math.ceil(whole.lines / step))
})
