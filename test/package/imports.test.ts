import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import type { ICruiseResult, IForbiddenRuleType } from 'dependency-cruiser'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConsumerProject, repository } from './project.ts'

/** The module as it is written, but Node's modules without `node:`, as the tool names them. */
type Import = readonly [path: string, module: string]

/** A file, a module that it must not import, and a part of the reason. */
const forbiddenImports: readonly (readonly [...Import, reason: RegExp])[] = [
  ['src/contract/a.ts', 'ky', /contract is pure data/],
  ['src/errors.ts', './http/call.ts', /foundation .* stands below/],
  ['src/http/a.ts', '../gateway-client.ts', /knows no client/],
  ['src/http/c.ts', '../auth/token-lifecycle.ts', /the interface of auth/],
  ['src/auth/a.ts', '../subscriptions-client.ts', /neither http nor a client/],
  ['src/reconcile/a.ts', '../notifications/parse.ts', /Clients are passed to it/],
  ['src/notifications/b.ts', '../stores/redis.ts', /Clients and stores are passed/],
  ['src/stores/a.ts', '../auth/token-lifecycle.ts', /They import those interfaces/],
  ['src/gateway-client.ts', '../mocks/core.ts', /never imports the mock/],
  ['src/index.ts', 'fs', /node: modules/],
  ['mocks/core.ts', '../src/index.ts', /no client, transport or ky/],
  ['mocks/d.ts', 'msw', /Only mocks\/index.ts imports msw/],
  ['mocks/f.ts', './server/state-file.ts', /the server and the command line/],
  ['mocks/probe/a.ts', '../../src/gateway-client.ts', /no client, transport or ky/],
  ['mocks/i.ts', './probe/compare.ts', /loaded only if they are used/],
  ['mocks/cli/b.ts', '../probe/probe.ts', /loaded only if they are used/],
  ['mocks/index.ts', 'msw/node', /jsdom and browsers/],
  ['mocks/base/a.ts', '../http/router.ts', /ids, options\. It imports its own files/],
  ['mocks/gateway/a.ts', '../http/router.ts', /no HTTP, no page, no delivery/],
  ['mocks/gateway/c.ts', '../subscriptions/state.ts', /no other area/],
  ['mocks/http/a.ts', 'msw', /The pipeline turns/],
  ['mocks/delivery/a.ts', '../http/router.ts', /Deliveries send/],
  ['mocks/pages/a.ts', 'fs', /Pages turn/],
  ['mocks/server.ts', 'msw', /adapt the mock to Node/],
]

/** Imports within the boundaries, because a rule that forbids too much will be switched off. */
const allowedImports: readonly Import[] = [
  ['src/contract/ok.ts', 'zod/v4/core'],
  ['src/clock.ts', './contract/fields.ts'],
  ['src/http/ok.ts', '../contract/endpoint.ts'],
  ['src/auth/ok.ts', '../json.ts'],
  ['src/notifications/ok.ts', '../reconcile/compare.ts'],
  ['src/ok.ts', './http/call.ts'],
  ['mocks/base/ok.ts', '../../src/contract/x.ts'],
  ['mocks/gateway/ok.ts', '../time/clock.ts'],
  ['mocks/subscriptions/ok.ts', '../time/agenda.ts'],
  ['mocks/http/ok.ts', '../time/clock.ts'],
  ['mocks/http/ok.ts', '../state.ts'],
  ['mocks/pages/ok.ts', '../http/router.ts'],
  ['mocks/ok.ts', './delivery/outbox.ts'],
  ['mocks/server/ok.ts', 'srvx/node'],
  ['mocks/cli/ok.ts', '../server.ts'],
  ['mocks/cli/probe.ts', '../probe/probe.ts'],
  ['mocks/probe/ok.ts', '../http/body.ts'],
]

/** Ways to import that are not a plain `import`. */
const otherSyntax: Readonly<Record<string, string>> = {
  'mocks/lazy.ts':
    "import type { X } from './probe/compare.ts'\nexport type Y = X\nexport const y = import('./probe/compare.ts')",
  'src/lazy.ts': "export const x = import('node:fs')",
  'src/only-type.ts': "import type { X } from 'msw'\nexport type Y = X",
  'src/inline-type.ts': "export type Y = import('msw').X",
  'src/cycle-a.ts': "import type { B } from './cycle-b.ts'\nexport type A = B",
  'src/cycle-b.ts': "import type { A } from './cycle-a.ts'\nexport type B = A",
}

const crossings: readonly (readonly [...Import, reason: RegExp])[] = [
  ...forbiddenImports,
  ['src/lazy.ts', 'fs', /node: modules/],
  ['src/only-type.ts', 'msw', /never imports the mock/],
  ['src/inline-type.ts', 'msw', /never imports the mock/],
  ['src/cycle-a.ts', './cycle-b.ts', /imports itself through others/],
]

/** The source of every file: its imports, or nothing if it is only imported. */
const sources: Record<string, string> = {}
for (const [path, module] of [...forbiddenImports, ...allowedImports]) {
  if (module.startsWith('.')) sources[join(path, '..', module)] ??= ''
  sources[path] = `${sources[path] ?? ''}import '${module}'\n`
}
Object.assign(sources, otherSyntax)

const GLOBALS = 'lint/style/noRestrictedGlobals'
const PLUGIN = 'plugin'

/** A file that uses a global that its folder must not use, the rule that reports it, and a part of the reason. */
const forbiddenGlobals: readonly (readonly [path: string, source: string, rule: string, reason: RegExp])[] = [
  ['src/now.ts', 'export const now = () => Date.now()', PLUGIN, /Time is injected/],
  ['mocks/base/now.ts', 'export const now = () => new Date()', PLUGIN, /Time is injected/],
  ['mocks/time/clock.ts', 'export const now = () => Date.now()', PLUGIN, /Time is injected/],
  ['mocks/http/now.ts', 'export const now = () => performance.now()', PLUGIN, /Time is injected/],
  ['src/wait.ts', 'export const wait = (done: () => void) => setTimeout(done, 1)', GLOBALS, /setTimeout/],
  ['src/buffer.ts', "export const bytes = Buffer.from('a')", GLOBALS, /Buffer/],
  ['src/env.ts', 'export const env = process.env', GLOBALS, /process/],
  ['mocks/http/env.ts', 'export const env = process.env', GLOBALS, /process/],
]

/** Files within the boundaries. */
const allowedGlobals: readonly (readonly [path: string, source: string])[] = [
  ['src/clock.ts', 'export const now = () => Date.now()\nexport const start = setTimeout'],
  ['src/fixed.ts', 'export const day = (at: number) => new Date(at)'],
  ['mocks/time/machine.ts', 'export const now = () => Date.now()\nexport const start = setTimeout'],
  ['mocks/server/ok.ts', 'export const p = process.pid'],
]

/** A finding of biome's rdjson report. One without a path is about the rules themselves. */
interface Finding {
  readonly code?: { readonly value: string }
  readonly location?: { readonly path: string }
  readonly message: string
}

let project: ConsumerProject
let findings: readonly Finding[]
let rules: readonly IForbiddenRuleType[]
let violations: readonly { path: string; module: string | undefined; rule: string }[]

beforeAll(async () => {
  project = await ConsumerProject.create()
  for (const path of ['biome.json', '.biome', '.dependency-cruiser.mjs'])
    await cp(join(repository, path), join(project.folder, path), { recursive: true })
  for (const [path, source] of [...forbiddenGlobals, ...allowedGlobals])
    await project.write(path, `${source}\n`)
  const options = ['--vcs-enabled=false', '--max-diagnostics=none', '--reporter=rdjson']
  const linted = await project.runTool('biome', 'lint', ...options, '.')
  const report = linted.output.slice(linted.output.indexOf('{'), linted.output.lastIndexOf('}') + 1)
  findings = JSON.parse(report).diagnostics

  for (const name of ['ioredis', 'ky', 'msw', 'srvx', 'zod']) await project.link(name)
  for (const [path, source] of Object.entries(sources)) await project.write(path, source)
  const { output } = await project.runTool('depcruise', '--output-type', 'json', 'src', 'mocks')
  const { summary }: ICruiseResult = JSON.parse(output)
  rules = summary.ruleSetUsed?.forbidden ?? []
  violations = summary.violations.map(({ from, unresolvedTo, rule }) => ({
    path: from,
    module: unresolvedTo,
    rule: rule.name,
  }))
})

afterAll(() => project.remove())

describe('an import that crosses a boundary is refused with the reason', () => {
  test.each(crossings)('%s: %s', (path, module, reason) => {
    const broken = violations.filter((violation) => violation.path === path && violation.module === module)
    const comments = rules.filter(({ name }) => broken.some(({ rule }) => rule === name))
    expect(comments.map(({ comment }) => comment).join('\n')).toMatch(reason)
  })
})

test('every rule refuses an import of this test', () => {
  const broken = new Set(violations.map(({ rule }) => rule))
  expect(rules.map(({ name }) => name).filter((name = '') => !broken.has(name))).toEqual([])
})

test('imports within the boundaries are accepted', () => {
  const expected = new Set(crossings.map(([path, module]) => `${path}: ${module}`))
  expect(
    violations.map(({ path, module }) => `${path}: ${module}`).filter((found) => !expected.has(found)),
  ).toEqual([])
})

const findingsIn = (path: string | undefined) => findings.filter(({ location }) => location?.path === path)

test.each(forbiddenGlobals)(
  'a global that crosses a boundary is refused with the reason: %s: %s',
  (...row) => {
    const [path, _source, rule, reason] = row
    const found = findingsIn(path).filter(({ code }) => code?.value === rule)
    expect(found.map(({ message }) => message).join('\n')).toMatch(reason)
  },
)

test('globals within the boundaries are accepted, and the rules run without an error', () => {
  const found = [undefined, ...allowedGlobals.map(([path]) => path)].flatMap((path) => findingsIn(path))
  const isBoundary = ({ code, location }: Finding) =>
    location?.path === undefined || [GLOBALS, PLUGIN].includes(code?.value ?? '')
  expect(found.filter(isBoundary)).toEqual([])
})
