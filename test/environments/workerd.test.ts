import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { startServer } from '../support/mock-server.ts'

// workerd without Node's compatibility flag: no process, no Buffer, no node: modules.

const repository = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const workerd = join(repository, 'node_modules/.bin/workerd')

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mandatekit-workerd-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const bundle = (entry: string, outfile: string) =>
  build({
    entryPoints: [join(repository, entry)],
    outfile: join(folder, outfile),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    tsconfig: join(repository, 'tsconfig.json'),
    logLevel: 'error',
  })

/** Runs a configuration's tests; resolves to what was printed, or rejects with it. */
const runTests = async (configuration: string, environment: Record<string, string> = {}): Promise<string> => {
  const options = { cwd: folder, timeout: 60_000, env: { ...process.env, ...environment } }
  const { stdout, stderr } = await run(workerd, ['test', configuration, '--verbose'], options)
  return `${stdout}${stderr}`
}

test('both clients and the mock run in workerd', { timeout: 60_000 }, async () => {
  await bundle('test/matrix/worker.mjs', 'worker.bundle.js')
  await copyFile(join(repository, 'test/matrix/workerd.capnp'), join(folder, 'workerd.capnp'))
  expect(await runTests('workerd.capnp')).toContain('a subscription and a charge')
})

const OUTBOUND = `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "outbound", worker = .outbound), (name = "internet", network = (allow = ["private"]))],
);

const outbound :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "outbound.js")],
  bindings = [
    (name = "BASE_URL", fromEnvironment = "BASE_URL"),
    (name = "API_KEY", fromEnvironment = "API_KEY"),
  ],
  compatibilityDate = "2026-01-01",
);
`

test('a worker charges through workerd’s own fetch, once for one key', { timeout: 60_000 }, async () => {
  const mock = createMock()
  await startServer({ mock })
  await bundle('test/environments/outbound-worker.ts', 'outbound.js')
  await writeFile(join(folder, 'outbound.capnp'), OUTBOUND)
  const { baseUrl, apiKey } = mock.clientOptions.gateway
  await runTests('outbound.capnp', { BASE_URL: baseUrl, API_KEY: apiKey })
  expect(mock.requests.of('gateway.charge').map(({ decision }) => decision)).toEqual(['accepted', 'replayed'])
  expect(mock.state.charges()).toHaveLength(1)
})
