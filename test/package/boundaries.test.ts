import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConsumerProject, repository } from './project.ts'

const GLOBALS = 'lint/style/noRestrictedGlobals'
const PLUGIN = 'plugin'

/** The path of findings that belong to no file, such as a broken rule. */
const NO_FILE = ''

/** A file that breaks a boundary, its source, the rule that reports it, and a part of the reason. */
const violations: readonly (readonly [string, string, string, RegExp])[] = [
  ['src/now.ts', 'export const now = () => Date.now()', PLUGIN, /Time is injected/],
  ['mocks/base/now.ts', 'export const now = () => new Date()', PLUGIN, /Time is injected/],
  ['mocks/time/clock.ts', 'export const now = () => Date.now()', PLUGIN, /Time is injected/],
  ['mocks/http/now.ts', 'export const now = () => performance.now()', PLUGIN, /Time is injected/],
  ['src/wait.ts', 'export const wait = (done: () => void) => setTimeout(done, 1)', GLOBALS, /setTimeout/],
  ['src/buffer.ts', "export const bytes = Buffer.from('a')", GLOBALS, /Buffer/],
  ['src/env.ts', 'export const env = process.env', GLOBALS, /process/],
  ['mocks/http/env.ts', 'export const env = process.env', GLOBALS, /process/],
]

/** Files within the boundaries, because a rule that forbids too much will be switched off. */
const allowed: readonly (readonly [path: string, source: string])[] = [
  ['src/clock.ts', 'export const now = () => Date.now()\nexport const start = setTimeout'],
  ['src/fixed.ts', 'export const day = (at: number) => new Date(at)'],
  ['mocks/time/machine.ts', 'export const now = () => Date.now()\nexport const start = setTimeout'],
  ['mocks/server/ok.ts', 'export const p = process.pid'],
]

/** A finding of biome's rdjson report. */
interface Finding {
  readonly code?: { readonly value: string }
  readonly location?: { readonly path: string }
  readonly message: string
}

let project: ConsumerProject
let findings: readonly Finding[]

const findingsIn = (path: string) => findings.filter(({ location }) => (location?.path ?? NO_FILE) === path)

beforeAll(async () => {
  project = await ConsumerProject.create()
  await cp(join(repository, 'biome.json'), join(project.folder, 'biome.json'))
  await cp(join(repository, '.biome'), join(project.folder, '.biome'), { recursive: true })
  for (const [path, source] of [...violations, ...allowed]) await project.write(path, `${source}\n`)
  const options = ['--vcs-enabled=false', '--max-diagnostics=none', '--reporter=rdjson']
  const { output } = await project.runTool('biome', 'lint', ...options, '.')
  findings = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1)).diagnostics
})

afterAll(() => project.remove())

describe('globals that cross a boundary are refused with the reason', () => {
  test.each(violations)('%s: %s', (path, _source, category, reason) => {
    const found = findingsIn(path).filter(({ code }) => code?.value === category)
    expect(found.map(({ message }) => message).join('\n')).toMatch(reason)
  })
})

test('the rules run without an error', () => {
  expect(findingsIn(NO_FILE)).toEqual([])
})

describe('globals within the boundaries are accepted', () => {
  test.each(allowed)('%s: %s', (path) => {
    const boundaries = [GLOBALS, PLUGIN]
    expect(findingsIn(path).filter(({ code }) => boundaries.includes(code?.value ?? ''))).toEqual([])
  })
})
