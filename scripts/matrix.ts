import { parseArgs } from 'node:util'
import { matrixRows } from './matrix/rows.ts'
import { type RowResult, Workspace } from './matrix/workspace.ts'

// Installs the packed package in a fresh project for each runtime, bundler, compiler and test runner, uses it there,
// and prints a table:
//   npm run matrix                        everything, in a temporary folder that is removed
//   npm run matrix -- --only jest         rows whose name contains the text
//   npm run matrix -- --folder /tmp/kept  keeps the folder, so that the next run finds its tools installed
// The exit code is 0 only when every row passed.

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, folder: { type: 'string' } },
})

const PARALLEL = 2

const started = performance.now()
const workspace = await Workspace.open(values.folder)
const results: RowResult[] = []
try {
  const rows = matrixRows(workspace).filter(({ name }) =>
    name.toLowerCase().includes(values.only.toLowerCase()),
  )
  const waiting = rows.values()
  const work = async () => {
    for (const row of waiting) {
      const result = await workspace.run(row)
      results[rows.indexOf(row)] = result
      console.log(`${result.failure === undefined ? 'ok    ' : 'FAILED'} ${row.name}`)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
} finally {
  await workspace.close()
}

const failures = results.filter((result) => result.failure !== undefined)
for (const { name, failure } of failures) console.log(`\n== ${name}\n${failure}`)

const width = Math.max(0, ...results.map(({ name }) => name.length))
console.log(`\n| ${'What'.padEnd(width)} | Result | Seconds |\n|${'-'.repeat(width + 2)}|--------|---------|`)
for (const { name, failure, seconds } of results) {
  console.log(
    `| ${name.padEnd(width)} | ${failure === undefined ? 'ok    ' : 'FAILED'} | ${seconds.toFixed(1).padStart(7)} |`,
  )
}
const seconds = Math.round((performance.now() - started) / 1000)
console.log(
  `\nMatrix: ${results.length - failures.length} of ${results.length} environments passed in ${seconds} s.`,
)
process.exitCode = failures.length === 0 && results.length > 0 ? 0 : 1
