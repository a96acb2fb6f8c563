import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { startMockServer } from '../../mocks/server.ts'
import { MOCK_CHARGE } from '../support/mock-clients.ts'
import { sized } from '../support/sizes.ts'
import { START } from './open.ts'
import { openFolder } from './state-folder.ts'

const inUse = (path: string) => ({
  code: 'ERR_STATE_FILE',
  message: `The state file ${path} cannot be locked: another server uses it. Stop that server, or name another file`,
})

test('a second server on the same file is refused, and neither it nor a failed start frees the file', async () => {
  const { folder, state, start } = await openFolder()
  const { close } = await start()
  await expect(start()).rejects.toMatchObject(inUse(state))
  const path = join(folder, '.', 'team.state')
  await expect(start({}, { state: path })).rejects.toMatchObject(inUse(path))
  await close()
  const again = await start()
  await again.close()
  await writeFile(state, 'broken')
  await expect(start()).rejects.toThrow(/broken/)
  expect(await readdir(folder)).toEqual(['team.state'])
})

/** Starts a server in another process, which ends with this test. Returns whether it has started. */
const startProcess = async (state: string, wrapper: readonly string[] = []) => {
  const program = fileURLToPath(new URL('../../mocks/cli.ts', import.meta.url))
  const [command = '', ...rest] = [...wrapper, process.execPath, program]
  const child = spawn(command, [...rest, 'mock', '--port', '0', '--state', state])
  onTestFinished(() => void child.kill('SIGKILL'))
  const [output, errors] = [child.stdout, child.stderr].map((stream) => {
    const texts: string[] = []
    stream.setEncoding('utf8').on('data', (part) => texts.push(part))
    return () => texts.join('')
  })
  await vi.waitFor(() => expect(`${output?.()}${errors?.()}`).toMatch(/http:|state file/), 50_000)
  return { child, hasStarted: output?.().includes('http:') === true, errors: () => errors?.() ?? '' }
}

const SERVERS = sized(6, 3)

test(`case 122: after a crash, exactly one of ${SERVERS} servers that start at once gets the file`, async () => {
  const { folder, state } = await openFolder()
  const { child } = await startProcess(state)
  await expect.poll(() => readdir(folder)).toContain('team.state')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await readdir(folder)).toHaveLength(2)
  const others = await Promise.all(Array.from({ length: SERVERS }, () => startProcess(state)))
  expect(others.filter(({ hasStarted }) => hasStarted)).toHaveLength(1)
  for (const { hasStarted, errors } of others)
    if (!hasStarted) expect(errors()).toContain(inUse(state).message)
}, 120_000)

const hasNamespaces = spawnSync('unshare', ['--user', '--pid', '--fork', 'true']).status === 0
test.runIf(hasNamespaces)(
  'case 122: two containers do not share a file, although both servers have process id 1',
  async () => {
    const { folder, state } = await openFolder()
    const container = ['unshare', '--user', '--pid', '--fork', '--kill-child']
    const first = await startProcess(state, container)
    const second = await startProcess(state, container)
    expect([first.hasStarted, second.hasStarted]).toEqual([true, false])
    expect((await readdir(folder)).filter((name) => name.endsWith('.lock'))).toHaveLength(1)
  },
  120_000,
)

const left = `team.state.${randomUUID()}.lock`

test.each([
  ['an empty lock', ''],
  ['the lock of a crashed server', 'in use'],
])('%s is removed by a later start', async (_, content) => {
  const { folder, start } = await openFolder()
  const past = new Date(Date.now() - 60_000)
  for (const name of [left, left.replace(/lock$/, 'draft')]) {
    await writeFile(join(folder, name), content)
    await utimes(join(folder, name), past, past)
  }
  await (await start()).close()
  expect(await readdir(folder)).toEqual(['team.state'])
})

test('a new lock that nobody renews delays a start by a few seconds only', async () => {
  const { folder, start } = await openFolder()
  await writeFile(join(folder, left), '')
  await (await start()).close()
  expect(await readdir(folder)).toEqual(['team.state'])
})

test('servers with other files of the same folder do not wait for each other', async () => {
  const { folder, start } = await openFolder()
  for (const name of ['team', 'team.state', 'team.state.old']) await start({}, { state: join(folder, name) })
})

test('a server that lost its lock while it was suspended does not overwrite the file', async () => {
  const { folder, state, start } = await openFolder()
  const first = await startMockServer({ mock: createMock({ clock: START }), state })
  await expect.poll(() => readdir(folder)).toContain('team.state')
  const [lock = ''] = (await readdir(folder)).filter((name) => name.endsWith('.lock'))
  await rm(join(folder, lock))
  const second = await start()
  await second.gateway.charge(MOCK_CHARGE)
  await second.close()
  const kept = await readFile(state)
  const warned = once(process, 'warning')
  first.mock.outage.start()
  const [{ message }] = await warned
  expect(message).toMatch(/was not written: another server uses it/)
  await expect(first.close()).rejects.toThrow(message)
  expect(await readFile(state)).toEqual(kept)
  expect(await readdir(folder)).toEqual(['team.state'])
})
