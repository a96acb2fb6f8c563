import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { report } from './report.ts'

/*
 * What importing the package costs a new process, beside importing ky and zod/mini, both over a process that imports
 * nothing. By turns; the best round of each. The package is the built one.
 *
 *   node bench/cold-import.ts
 */

const ROUNDS = 15
const TARGET = 1.05

const WAYS = {
  nothing: '',
  'ky + zod/mini': "await import('ky'); await import('zod/mini');",
  mandatekit: "await import('mandatekit');",
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

const over = (way: Way): number => (best.get(way) ?? Number.NaN) - (best.get('nothing') ?? Number.NaN)
console.table(
  names.map((way) => ({
    import: way,
    ms: best.get(way)?.toFixed(1),
    'ms over nothing': over(way).toFixed(1),
  })),
)
const ratio = over('mandatekit') / over('ky + zod/mini')
report({
  what: 'cold import / ky + zod/mini',
  target: `≤ ${TARGET}`,
  measured: ratio.toFixed(2),
  ok: ratio <= TARGET,
})
