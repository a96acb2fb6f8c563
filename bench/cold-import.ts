import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createMock } from '../mocks/core.ts'
import { report, spentBy } from './report.ts'

/*
 * What importing the package costs a new process: the client beside ky and zod/mini, both over a process that imports
 * nothing; the mock with its first createMock() beside msw/node. The ways take turns, and the best round of each counts.
 * Then what a further createMock() costs beside a reset. The package is the built one.
 *
 *   node bench/cold-import.ts
 */

const ROUNDS = 15
const CLIENT_TARGET = 1.05
const MOCK_TARGET = 1.35
const WARM_MILLISECONDS = 0.1
const RESET_MICROSECONDS = 20

const WAYS = {
  nothing: '',
  'ky + zod/mini': "await import('ky'); await import('zod/mini');",
  mandatekit: "await import('mandatekit');",
  'msw/node': "await import('msw/node');",
  'mandatekit/mocks, createMock()': "(await import('mandatekit/mocks')).createMock();",
}
type Way = keyof typeof WAYS
const names = Object.keys(WAYS) as Way[]

const run = promisify(execFile)
const cwd = fileURLToPath(new URL('..', import.meta.url))

/** Milliseconds from the start of a process until its imports are there. */
const millisecondsOf = async (way: Way): Promise<number> => {
  const program = `${WAYS[way]} console.log(performance.now())`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd })
  return Number(stdout)
}

const best = new Map<Way, number>()
for (let round = 0; round < ROUNDS; round += 1) {
  for (const way of names) {
    best.set(way, Math.min(best.get(way) ?? Number.POSITIVE_INFINITY, await millisecondsOf(way)))
  }
}
const total = (way: Way): number => best.get(way) ?? Number.NaN
const over = (way: Way): number => total(way) - total('nothing')
console.table(
  names.map((way) => ({ import: way, ms: total(way).toFixed(1), 'ms over nothing': over(way).toFixed(1) })),
)

const client = over('mandatekit') / over('ky + zod/mini')
report({
  what: 'cold import / ky + zod/mini',
  target: `≤ ${CLIENT_TARGET}`,
  measured: client.toFixed(2),
  ok: client <= CLIENT_TARGET,
})
const mock = total('mandatekit/mocks, createMock()') / total('msw/node')
report({
  what: 'cold mandatekit/mocks and createMock() / msw/node',
  target: `≤ ${MOCK_TARGET}`,
  measured: mock.toFixed(2),
  ok: mock <= MOCK_TARGET,
})

const CALLS = 200
/** Microseconds of one call, in the best of some batches. */
const microsecondsOf = async (act: () => unknown): Promise<number> => {
  let least = Number.POSITIVE_INFINITY
  for (let batch = 0; batch < ROUNDS; batch += 1) {
    const { wall } = await spentBy(async () => {
      for (let call = 0; call < CALLS; call += 1) act()
    })
    least = Math.min(least, wall / CALLS)
  }
  return least
}
// First of all: after thousands of mocks, V8 allocates a new state in the old generation, which no test file meets.
const mockToReset = createMock()
const reset = await microsecondsOf(() => mockToReset.reset())
report({
  what: 'reset()',
  target: `≤ ${RESET_MICROSECONDS} µs`,
  measured: `${reset.toFixed(0)} µs`,
  ok: reset <= RESET_MICROSECONDS,
})
const warm = await microsecondsOf(() => createMock())
report({
  what: 'a further createMock()',
  target: `≤ ${WARM_MILLISECONDS} ms`,
  measured: `${(warm / 1_000).toFixed(2)} ms`,
  ok: warm <= WARM_MILLISECONDS * 1_000,
})
