import { execFile, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Figure } from './report.ts'

/*
 * Builds the package, runs every benchmark one after the other and prints a table of figures beside their targets. A
 * figure that misses its target fails the run. Each file also runs alone.
 *
 *   npm run bench
 *   npm run bench -- client-call server     these alone
 *   npm run bench -- rivals                 runs on demand only: it installs other mock servers
 */

const BENCHMARKS: readonly (readonly [file: string, ...options: string[]])[] = [
  ['client-call.ts'],
  ['cold-import.ts'],
  ['mock-fetch.ts'],
  ['msw.ts'],
  ['server.ts'],
  ['growth.ts', '--expose-gc', '--max-old-space-size=4096'],
  ['clock.ts', '--expose-gc'],
  ['type-check.ts'],
]

const ON_DEMAND: typeof BENCHMARKS = [['rivals.ts']]

const root = fileURLToPath(new URL('..', import.meta.url))
const run = promisify(execFile)

const isFigure = (message: unknown): message is Figure =>
  typeof message === 'object' && message !== null && 'what' in message && 'ok' in message

/** The figures of one file; one that ends with an error and reported none is a figure that was not measured. */
const figuresOf = ([file, ...options]: readonly [string, ...string[]]): Promise<readonly Figure[]> =>
  new Promise((resolve) => {
    console.log(`\n== ${file}`)
    const figures: Figure[] = []
    const child = fork(fileURLToPath(new URL(file, import.meta.url)), { cwd: root, execArgv: options })
    child.on('message', (message) => {
      if (isFigure(message)) figures.push(message)
    })
    child.on('exit', () => {
      const unmeasured = { what: file, target: 'a figure', measured: 'none', ok: false }
      resolve(figures.length > 0 ? figures : [unmeasured])
    })
  })

/** The sizes and limits that `npm run size` prints. */
const sizes = async (): Promise<readonly Figure[]> => {
  const { stdout } = await run(process.execPath, ['scripts/check-size.ts'], { cwd: root }).catch(
    (failure: { stdout: string }) => failure,
  )
  const lines = stdout.matchAll(/^(.+): (\d+) of (\d+) bytes$/gm)
  return [...lines].map(([, what, size, limit]) => ({
    what: `bundle of ${what}, minified and gzipped`,
    target: `≤ ${Number(limit) / 1000} kB`,
    measured: `${(Number(size) / 1000).toFixed(1)} kB`,
    ok: Number(size) <= Number(limit),
  }))
}

const names = process.argv.slice(2)
const chosen =
  names.length === 0
    ? BENCHMARKS
    : [...BENCHMARKS, ...ON_DEMAND].filter(([file]) => names.includes(file.replace(/\.ts$/, '')))
if (chosen.length < names.length) throw new Error(`There is no such benchmark among ${names.join(', ')}.`)

console.log('Building the package …')
await run('npm', ['run', 'build'], { cwd: root, maxBuffer: 16 * 1024 * 1024 })
const figures: Figure[] = []
for (const benchmark of chosen) figures.push(...(await figuresOf(benchmark)))
if (names.length === 0) figures.push(...(await sizes()))

console.log('\n')
console.table(
  figures.map(({ what, target, measured, ok }) => ({
    figure: what,
    target,
    measured,
    ok: ok ? 'ok' : 'MISS',
  })),
)
if (figures.some(({ ok }) => !ok)) process.exitCode = 1
