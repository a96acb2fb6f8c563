import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConsumerProject, repository } from './project.ts'

const IMPORTS = 'lint/style/noRestrictedImports'
const GLOBALS = 'lint/style/noRestrictedGlobals'
const PLUGIN = 'plugin'

/** The path of findings that belong to no file, such as a broken rule. */
const NO_FILE = ''

const importing = (...modules: string[]) =>
  modules.map((module, index) => `export { x${index} } from '${module}'`).join('\n')

/** A file, a module that it must not import, and a part of the reason. */
const imports: readonly (readonly [path: string, module: string, reason: RegExp])[] = [
  ['src/contract/a.ts', 'ky', /contract is pure data/],
  ['src/errors.ts', './http/call.ts', /foundation .* stands below/],
  ['src/http/a.ts', '../gateway-client.ts', /knows no client/],
  ['src/http/c.ts', '../auth/token-lifecycle.ts', /the interface of auth/],
  ['src/auth/a.ts', '../subscriptions-client.ts', /neither http nor a client/],
  ['src/reconcile/a.ts', '../notifications/parse.ts', /Clients are passed to it/],
  ['src/notifications/b.ts', '../stores/redis.ts', /Clients and stores are passed/],
  ['src/stores/a.ts', '../auth/token-lifecycle.ts', /They import those interfaces/],
  ['src/gateway-client.ts', '../mocks/core.ts', /never imports the mock/],
  ['src/subscriptions-client.ts', 'msw', /never imports the mock/],
  ['src/index.ts', 'node:fs', /node: modules/],
  ['mocks/core.ts', '../src/index.ts', /no client, transport or ky/],
  ['mocks/c.ts', 'ky', /no client, transport or ky/],
  ['mocks/d.ts', 'msw', /Only mocks\/index.ts imports msw/],
  ['mocks/e.ts', 'node:http', /node: modules/],
  ['mocks/index.ts', 'msw/node', /jsdom and browsers/],
  ['mocks/domain/a.ts', '../http/router.ts', /domain is pure/],
  ['mocks/http/a.ts', 'msw', /Resolvers and pages/],
  ['mocks/pages/a.ts', 'node:fs', /Resolvers and pages/],
  ['mocks/server.ts', 'msw', /adapt the mock's core/],
  ['mocks/server/a.ts', '../../src/gateway-client.ts', /adapt the mock's core/],
]

/** A file that breaks a boundary, its source, the rule that reports it, and a part of the reason. */
const violations: readonly (readonly [string, string, string, RegExp])[] = [
  ...imports.map(([path, module, reason]) => [path, importing(module), IMPORTS, reason] as const),
  ['src/lazy.ts', "export const x = import('node:fs')", IMPORTS, /node: modules/],
  ['src/now.ts', 'export const now = () => Date.now()', PLUGIN, /Time is injected/],
  ['mocks/domain/now.ts', 'export const now = () => new Date()', PLUGIN, /Time is injected/],
  ['mocks/domain/clock.ts', 'export const now = () => Date.now()', PLUGIN, /Time is injected/],
  ['mocks/http/now.ts', 'export const now = () => performance.now()', PLUGIN, /Time is injected/],
  ['src/wait.ts', 'export const wait = (done: () => void) => setTimeout(done, 1)', GLOBALS, /setTimeout/],
  ['src/buffer.ts', "export const bytes = Buffer.from('a')", GLOBALS, /Buffer/],
  ['src/env.ts', 'export const env = process.env', GLOBALS, /process/],
  ['mocks/http/env.ts', 'export const env = process.env', GLOBALS, /process/],
]

/** Files within the boundaries, because a rule that forbids too much will be switched off. */
const allowed: readonly (readonly [path: string, source: string])[] = [
  ['src/contract/ok.ts', importing('zod/v4/core', './fields.ts')],
  ['src/http/ok.ts', importing('ky', '../contract/endpoint.ts')],
  ['src/auth/ok.ts', importing('../errors.ts', '../contract/endpoint.ts')],
  ['src/ok.ts', importing('./http/call.ts', './contract/gateway.ts')],
  ['src/clock.ts', 'export const now = () => Date.now()\nexport const start = setTimeout'],
  ['src/fixed.ts', 'export const day = (at: number) => new Date(at)'],
  ['mocks/domain/ok.ts', importing('../../src/contract/x.ts', '../../src/check.ts')],
  ['mocks/domain/deep/ok.ts', importing('../clock.ts')],
  ['mocks/domain/machine-time.ts', 'export const now = () => Date.now()\nexport const start = setTimeout'],
  ['mocks/http/ok.ts', importing('../domain/clock.ts', '../../src/contract/x.ts')],
  ['mocks/server/ok.ts', `${importing('node:http', '../core.ts')}\nexport const p = process.pid`],
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

describe('imports and globals that cross a boundary are refused with the reason', () => {
  test.each(violations)('%s: %s', (path, _source, category, reason) => {
    const found = findingsIn(path).filter(({ code }) => code?.value === category)
    expect(found.map(({ message }) => message).join('\n')).toMatch(reason)
  })
})

test('the rules run without an error', () => {
  expect(findingsIn(NO_FILE)).toEqual([])
})

describe('imports and globals within the boundaries are accepted', () => {
  test.each(allowed)('%s: %s', (path) => {
    const boundaries = [IMPORTS, GLOBALS, PLUGIN]
    expect(findingsIn(path).filter(({ code }) => boundaries.includes(code?.value ?? ''))).toEqual([])
  })
})
