import { execFile, execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { createMock } from 'mandatekit/mocks/core'
import { expect, test } from 'vitest'
import { startServer } from '../support/mock-server.ts'

const run = promisify(execFile)

const withoutPython = (): boolean => {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' })
    return false
  } catch {
    process.stderr.write(
      'Skipped: the program in docs/openapi.md. Install it with: apt-get install -y python3\n',
    )
    return process.env.MANDATEKIT_NO_SKIP !== '1'
  }
}

test.skipIf(withoutPython())(
  'the Python program in docs/openapi.md runs against the mock server',
  async () => {
    const page = await readFile(new URL('../../docs/openapi.md', import.meta.url), 'utf8')
    const [, program = ''] = /^```python\n(.*?)^```$/ms.exec(page) ?? []
    const { url, mock } = await startServer({ mock: createMock({ clock: '2026-11-28T12:00:00Z' }) })
    const { stdout } = await run('python3', ['-c', program, url])
    expect(stdout).toContain(`Send the payer to ${url}/authorize/`)
    expect(stdout).toContain('read the status: INITIALIZED')
    expect(stdout).toContain('The charge is succeeded')
    expect(mock.state.charges().length).toBe(1)
  },
)
