import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { startServer } from '../support/mock-server.ts'
import { bundleWorkers, repository, workerd } from '../support/worker.ts'

// workerd without Node's compatibility flag: no process, no Buffer, no node: modules.

/** Runs the tests of a configuration; resolves to what was printed, or rejects with it. */
const runTests = async (
  config: string,
  entries: Readonly<Record<string, string>>,
  environment: Record<string, string> = {},
): Promise<string> => {
  const folder = await bundleWorkers(config, entries)
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const options = { cwd: folder, timeout: 60_000, env: { ...process.env, ...environment } }
  const { stdout, stderr } = await promisify(execFile)(
    workerd,
    ['test', 'config.capnp', '--verbose'],
    options,
  )
  return `${stdout}${stderr}`
}

test('both clients and the mock run in workerd', async () => {
  const config = await readFile(join(repository, 'test/matrix/workerd.capnp'), 'utf8')
  const entries = { 'worker.bundle': 'test/matrix/worker.mjs' }
  expect(await runTests(config, entries)).toContain('a subscription and a charge')
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

test('a worker charges through workerd’s own fetch, once for one key', async () => {
  const mock = createMock()
  await startServer({ mock })
  const { baseUrl, apiKey } = mock.clientOptions.gateway
  const entries = { outbound: 'test/environments/outbound-worker.ts' }
  await runTests(OUTBOUND, entries, { BASE_URL: baseUrl, API_KEY: apiKey })
  expect(mock.requests.of('gateway.charge').map(({ decision }) => decision)).toEqual(['accepted', 'replayed'])
  expect(mock.state.charges()).toHaveLength(1)
})
