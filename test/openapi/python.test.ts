import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createMock } from 'mandatekit/mocks/core'
import { expect, test } from 'vitest'
import { readDocument } from '../docs/documents.ts'
import { startServer } from '../support/mock-server.ts'
import { without } from '../support/without.ts'

test.skipIf(without('python3'))(
  'the Python program in docs/openapi.md runs against the mock server',
  async () => {
    const [, program = ''] = /^```python\n(.*?)^```$/ms.exec(await readDocument('docs/openapi.md')) ?? []
    const { url, mock } = await startServer({ mock: createMock({ clock: '2026-11-28T12:00:00Z' }) })
    const { stdout } = await promisify(execFile)('python3', ['-c', program, url])
    expect(stdout).toContain(`Send the payer to ${url}/authorize/`)
    expect(stdout).toContain('read the status: INITIALIZED')
    expect(stdout).toContain('The charge is succeeded')
    expect(mock.state.charges().length).toBe(1)
  },
)
