import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Counts the code by folder: files, lines, the median and the longest file, and the share of comment lines.
//   npm run census
// The exit code is 1 when a part exceeds its limits.

interface Limits {
  readonly files?: number
  readonly lines: number
  readonly longest?: number
}

// The features of 0.2 had the limits 6 800, 10 500 and 20 000 lines. Later features were added to these: fixed kinds of
// faults, job queues, log and raw requests (src); the panel as a workbench with an OpenAPI document, kept state and
// rules (mocks); and the hostile matrix, workers, the fleet and the panel (test). Version 0.2 then added what a response
// proves, reused keys, proxies and waiting calls (src); the OpenAPI document on the server (mocks); and the pages of 80
// proxies, the tests of both OpenAPI documents, and the recipes for queues (test).
const LIMITS: Readonly<Record<string, Limits>> = {
  src: { files: 63, lines: 8_400, longest: 400 },
  mocks: { files: 98, lines: 12_800 },
  test: { lines: 29_500 },
}

interface File {
  readonly path: string
  readonly lines: number
  readonly comments: number
}

const repository = fileURLToPath(new URL('..', import.meta.url))

const filesOf = (part: string): File[] =>
  readdirSync(join(repository, part), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'api.ts')
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
      const comments = lines.filter((line) => /^\s*(\/\/|\/\*|\*)/.test(line))
      return { path: path.slice(repository.length), lines: lines.length, comments: comments.length }
    })

const count = (files: readonly File[]) => {
  const lengths = files.map(({ lines }) => lines).sort((a, b) => a - b)
  const lines = lengths.reduce((sum, length) => sum + length, 0)
  const comments = files.reduce((sum, file) => sum + file.comments, 0)
  return {
    files: files.length,
    lines,
    median: lengths[Math.floor(lengths.length / 2)] ?? 0,
    longest: lengths.at(-1) ?? 0,
    comments: `${Math.round((100 * comments) / lines)} %`,
  }
}

const table: Record<string, ReturnType<typeof count>> = {}
const excesses: string[] = []
for (const [part, limits] of Object.entries(LIMITS)) {
  const files = filesOf(part)
  const folders = [...new Set(files.map(({ path }) => dirname(path)))].sort()
  for (const folder of folders) table[folder] = count(files.filter(({ path }) => dirname(path) === folder))
  const total = count(files)
  table[`${part} in all`] = total
  for (const what of ['files', 'lines', 'longest'] as const) {
    const limit = limits[what] ?? Number.POSITIVE_INFINITY
    if (total[what] > limit) excesses.push(`${part}: ${what} ${total[what]} exceed the limit of ${limit}`)
  }
}

console.table(table)
for (const excess of excesses) console.error(excess)
process.exitCode = excesses.length === 0 ? 0 : 1
