import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createMock } from 'mandatekit/mocks/core'
import { describe, expect, test } from 'vitest'
import { actionNames } from '../../mocks/panel/actions.ts'
import { startServer } from '../support/mock-server.ts'
import { without } from '../support/without.ts'

const run = promisify(execFile)

const noPython = without('python3')
const noCurl = without('curl')

test.skipIf(noPython)('a Python script drives every action of the table', async () => {
  const { url } = await startServer({ mock: createMock({ clock: '2027-01-01T06:00:00Z' }) })
  const script = fileURLToPath(new URL('every-action.py', import.meta.url))
  const { stdout } = await run('python3', [script, url])
  expect(JSON.parse(stdout)).toEqual([...actionNames].sort())
})

describe('the snippets of the panel', () => {
  const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  const serve = async (options: Parameters<typeof createMock>[0] = {}) => {
    const { url, mock } = await startServer({
      mock: createMock({ clock: '2027-01-01T06:00:00Z', ...options }),
    })
    const page = await (await fetch(`${url}/_mock/connect`)).text()
    const snippet = (name: string): string =>
      (new RegExp(`<pre id="snippet-${name}"[^>]*>([^<]*)</pre>`).exec(page)?.[1] ?? '').replace(
        /&(amp|lt|gt|quot|#39);/g,
        (_, name: string) => ENTITIES[name] ?? '',
      )
    const done = () => [mock.state.charges().length, mock.state.subscriptions().length]
    return { mock, page, snippet, done }
  }

  test.skipIf(noCurl)('for curl charges, subscribes and moves the clock', async () => {
    const { mock, snippet, done } = await serve()
    const { stdout } = await run('bash', ['-ec', snippet('curl')])
    expect(stdout).toContain('"ok":true')
    expect([...done(), new Date(mock.clock.now()).getUTCMonth()]).toEqual([1, 1, 1])
  })

  test.skipIf(noPython)('for Python charges, subscribes and moves the clock', async () => {
    const { mock, snippet, done } = await serve({ gateway: { apiPrefix: '/gateway' } })
    await run('python3', ['-c', snippet('Python')])
    expect([...done(), new Date(mock.clock.now()).getUTCMonth()]).toEqual([1, 1, 1])
  })

  test('for TypeScript charges and subscribes', async () => {
    const { snippet, done } = await serve({ subscriptions: { apiPrefix: '/s' } })
    const folder = await mkdtemp(join(tmpdir(), 'snippet-'))
    const file = join(folder, 'snippet.ts')
    const entry = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)
    await writeFile(file, snippet('TypeScript').replace("'mandatekit'", entry))
    await run(process.execPath, [file])
    await rm(folder, { recursive: true })
    expect(done()).toEqual([1, 1])
  })

  test('contain no secret of the options', async () => {
    const merchant = {
      name: 'Shop',
      clientId: 'own',
      clientSecret: 'own-secret',
      users: [{ username: 'u', password: 'own-password' }],
    }
    const { page } = await serve({
      subscriptions: { merchants: [merchant] },
      gateway: { apiKeys: ['own-key'], otp: '987654' },
    })
    expect(page).not.toMatch(/own-secret|own-password|own-key|987654/)
    expect(page).toContain('YOUR_API_KEY')
  })
})
