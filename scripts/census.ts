import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Counts the code by folder: files, lines, the median and the longest file, and the share of comment lines.
//   npm run census
// The exit code is 1 when a part exceeds its limits.

interface Sizes {
  readonly files?: number
  readonly lines?: number
  readonly longest?: number
}

/** What each part may have at most today (`limit`), and where it shall come to (`target`). */
const PARTS: Readonly<Record<string, { readonly limit: Sizes; readonly target: Sizes }>> = {
  src: { limit: { files: 53, lines: 7_900, longest: 400 }, target: { files: 54, lines: 7_300 } },
  mocks: { limit: { files: 78, lines: 13_360 }, target: { files: 68, lines: 8_800 } },
  'mocks/probe': { limit: { files: 20, lines: 3_200 }, target: { lines: 1_300 } },
  test: { limit: { lines: 29_900 }, target: { lines: 19_500 } },
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
    // `mocks/probe` is a part of its own.
    .filter(({ parentPath }) => part !== 'mocks' || !parentPath.endsWith('/probe'))
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

const folders: Record<string, ReturnType<typeof count>> = {}
const parts: Record<string, { today: number; target: number | string; limit: number }> = {}
for (const [part, { limit, target }] of Object.entries(PARTS)) {
  const files = filesOf(part)
  for (const folder of [...new Set(files.map(({ path }) => dirname(path)))].sort())
    folders[folder] = count(files.filter(({ path }) => dirname(path) === folder))
  const total = count(files)
  folders[`${part} in all`] = total
  for (const what of ['files', 'lines', 'longest'] as const) {
    if (limit[what] === undefined) continue
    parts[`${part}: ${what}`] = { today: total[what], target: target[what] ?? '–', limit: limit[what] }
    if (total[what] <= limit[what]) continue
    console.error(`${part}: ${what} ${total[what]} exceed the limit of ${limit[what]}`)
    process.exitCode = 1
  }
}
console.table(folders)
console.table(parts)
