import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const biome = join(root, 'node_modules/.bin/biome')

const IMPORTS = 'lint/style/noRestrictedImports'
const GLOBALS = 'lint/style/noRestrictedGlobals'
const PLUGIN = 'plugin'

/** Where findings go that belong to no file: a rule that broke. */
const NO_FILE = ''

/** One line of source per case: a file that breaks a boundary, the rule that must say so, and a part of why. */
const violations: [string, string, string, RegExp][] = [
  ['src/contract/a.ts', "import ky from 'ky'\nexport { ky }", IMPORTS, /contract is pure data/],
  ['src/contract/b.ts', "import { z } from 'zod'\nexport { z }", IMPORTS, /contract is pure data/],
  ['src/contract/c.ts', "export { x } from '../errors.ts'", IMPORTS, /contract is pure data/],
  ['src/errors.ts', "export { x } from './http/call.ts'", IMPORTS, /foundation .* stands below/],
  ['src/check.ts', "export { x } from './auth/credentials.ts'", IMPORTS, /foundation .* stands below/],
  ['src/http/a.ts', "export { x } from '../gateway-client.ts'", IMPORTS, /knows no client/],
  ['src/http/b.ts', "export { x } from '../index.ts'", IMPORTS, /knows no client/],
  ['src/http/c.ts', "export { x } from '../auth/token-lifecycle.ts'", IMPORTS, /the interface of auth/],
  ['src/auth/a.ts', "export { x } from '../subscriptions-client.ts'", IMPORTS, /neither http nor a client/],
  ['src/auth/b.ts', "export { x } from '../../mocks/core.ts'", IMPORTS, /neither http nor a client/],
  ['src/auth/c.ts', "export { x } from '../http/call.ts'", IMPORTS, /neither http nor a client/],
  [
    'src/reconcile/a.ts',
    "export { x } from '../notifications/parse.ts'",
    IMPORTS,
    /Clients are passed to it/,
  ],
  [
    'src/notifications/b.ts',
    "export { x } from '../stores/redis.ts'",
    IMPORTS,
    /Clients and stores are passed/,
  ],
  [
    'src/stores/a.ts',
    "export { x } from '../auth/token-lifecycle.ts'",
    IMPORTS,
    /They import those interfaces/,
  ],
  ['src/gateway-client.ts', "export { x } from '../mocks/core.ts'", IMPORTS, /never imports the mock/],
  [
    'src/notifications/a.ts',
    "export { x } from '../../mocks/core.ts'",
    IMPORTS,
    /Clients and stores are passed/,
  ],
  ['src/subscriptions-client.ts', "export { http } from 'msw'", IMPORTS, /never imports the mock/],
  ['src/index.ts', "export { x } from 'node:fs'", IMPORTS, /node: modules/],
  ['src/lazy.ts', "export const x = import('node:fs')", IMPORTS, /node: modules/],
  ['mocks/core.ts', "export { x } from '../src/index.ts'", IMPORTS, /no client, transport or ky/],
  ['mocks/a.ts', "export { x } from '../src/http/call.ts'", IMPORTS, /no client, transport or ky/],
  ['mocks/b.ts', "export { x } from '../src/auth/token.ts'", IMPORTS, /no client, transport or ky/],
  ['mocks/c.ts', "import ky from 'ky'\nexport { ky }", IMPORTS, /no client, transport or ky/],
  ['mocks/d.ts', "export { http } from 'msw'", IMPORTS, /Only mocks\/index.ts imports msw/],
  ['mocks/e.ts', "export { x } from 'node:http'", IMPORTS, /node: modules/],
  [
    'mocks/other/a.ts',
    "export { x } from '../../src/gateway-client.ts'",
    IMPORTS,
    /no client, transport or ky/,
  ],
  ['mocks/index.ts', "export { x } from 'msw/node'", IMPORTS, /jsdom and browsers/],
  ['mocks/domain/a.ts', "export { x } from '../http/router.ts'", IMPORTS, /domain is pure/],
  ['mocks/domain/b.ts', "export { x } from '../pages/authorize.ts'", IMPORTS, /domain is pure/],
  ['mocks/domain/d.ts', "import ky from 'ky'\nexport { ky }", IMPORTS, /domain is pure/],
  ['mocks/domain/e.ts', "export { http } from 'msw'", IMPORTS, /domain is pure/],
  ['mocks/domain/deep/a.ts', "export { x } from '../../http/router.ts'", IMPORTS, /domain is pure/],
  ['mocks/http/a.ts', "export { http } from 'msw'", IMPORTS, /Resolvers and pages/],
  ['mocks/http/b.ts', "export { x } from '../../src/errors.ts'", IMPORTS, /Resolvers and pages/],
  ['mocks/pages/a.ts', "export { x } from 'node:fs'", IMPORTS, /Resolvers and pages/],
  ['mocks/server.ts', "export { http } from 'msw'", IMPORTS, /adapt the mock's core/],
  ['mocks/server/a.ts', "export { x } from '../../src/gateway-client.ts'", IMPORTS, /adapt the mock's core/],
  ['mocks/cli.ts', "export { x } from '../src/gateway-client.ts'", IMPORTS, /adapt the mock's core/],
  ['src/now.ts', 'export const now = () => Date.now()', PLUGIN, /Time is injected/],
  ['src/date.ts', 'export const now = () => new Date()', PLUGIN, /Time is injected/],
  ['mocks/domain/now.ts', 'export const now = () => new Date()', PLUGIN, /Time is injected/],
  ['mocks/http/now.ts', 'export const now = () => performance.now()', PLUGIN, /Time is injected/],
  ['src/wait.ts', 'export const wait = (done: () => void) => setTimeout(done, 1)', GLOBALS, /setTimeout/],
  [
    'mocks/domain/wait.ts',
    'export const wait = (done: () => void) => setTimeout(done, 1)',
    GLOBALS,
    /setTimeout/,
  ],
  ['src/buffer.ts', "export const bytes = Buffer.from('a')", GLOBALS, /Buffer/],
  ['src/env.ts', 'export const env = process.env', GLOBALS, /process/],
  ['mocks/http/env.ts', 'export const env = process.env', GLOBALS, /process/],
]

/** Files that keep to the boundaries: a rule that forbids too much would be switched off sooner or later. */
const allowed: [string, string][] = [
  ['src/contract/ok.ts', "import * as z from 'zod/mini'\nexport { x } from './fields.ts'\nexport { z }"],
  ['src/http/ok.ts', "import ky from 'ky'\nexport { x } from '../contract/endpoint.ts'\nexport { ky }"],
  ['src/auth/ok.ts', "export { x } from '../errors.ts'\nexport { y } from '../contract/endpoint.ts'"],
  ['src/ok.ts', "export { x } from './http/call.ts'\nexport { y } from './contract/gateway.ts'"],
  ['src/clock.ts', 'export const now = () => Date.now()\nexport const start = setTimeout'],
  ['src/fixed.ts', 'export const day = (at: number) => new Date(at)'],
  [
    'mocks/domain/ok.ts',
    "import * as z from 'zod/mini'\nexport { x } from '../../src/contract/x.ts'\nexport { z }",
  ],
  ['mocks/domain/deep/ok.ts', "export { x } from '../clock.ts'"],
  ['mocks/domain/clock.ts', 'export const now = () => Date.now()'],
  ['mocks/http/ok.ts', "export { x } from '../domain/clock.ts'\nexport { y } from '../../src/contract/x.ts'"],
  [
    'mocks/server/ok.ts',
    "export { x } from 'node:http'\nexport { y } from '../core.ts'\nexport const p = process.pid",
  ],
]

interface Diagnostic {
  category: string
  text: string
}

/** The part of biome's rdjson report that is read here. */
interface Report {
  diagnostics: { code?: { value: string }; location?: { path: string }; message: string }[]
}

let folder: string
const diagnostics = new Map<string, Diagnostic[]>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mandatekit-boundaries-'))
  await cp(join(root, 'biome.json'), join(folder, 'biome.json'))
  await cp(join(root, '.biome'), join(folder, '.biome'), { recursive: true })
  for (const [path, source] of [...violations, ...allowed]) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), `${source}\n`)
  }
  const argumentsOfBiome = ['lint', '--vcs-enabled=false', '--max-diagnostics=none', '--reporter=rdjson', '.']
  const { stdout } = await promisify(execFile)(biome, argumentsOfBiome, {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { stdout: string }) => error)
  const report: Report = JSON.parse(stdout)
  for (const found of report.diagnostics) {
    const path = found.location?.path ?? NO_FILE
    const ofFile = diagnostics.get(path) ?? []
    ofFile.push({ category: found.code?.value ?? '', text: found.message })
    diagnostics.set(path, ofFile)
  }
}, 60_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

describe('imports and globals that cross a boundary are refused with the reason', () => {
  test.each(violations)('%s: %s', (path, _source, category, reason) => {
    const found = diagnostics.get(path) ?? []
    expect(
      found
        .filter((one) => one.category === category)
        .map((one) => one.text)
        .join('\n'),
    ).toMatch(reason)
  })
})

test('the rules themselves run without an error', () => {
  expect(diagnostics.get(NO_FILE) ?? []).toEqual([])
})

describe('imports and globals within the boundaries are accepted', () => {
  test.each(allowed)('%s: %s', (path) => {
    const boundaries = [IMPORTS, GLOBALS, PLUGIN]
    const found = diagnostics.get(path) ?? []
    expect(found.filter((one) => boundaries.includes(one.category))).toEqual([])
  })
})
