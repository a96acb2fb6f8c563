import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createMock } from 'mandatekit/mocks/core'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { expect, test } from 'vitest'
import { runNode } from '../package/project.ts'
import { startServer } from '../support/mock-server.ts'

const folder = fileURLToPath(new URL('typed', import.meta.url))
const run = async (...args: string[]) => (await runNode(args)).output

test('openapi-fetch with generated types walks through the quickstart, on a server', async () => {
  const mock = createMock({ clock: new Date('2026-12-01T06:00:00Z') })
  const { url } = await startServer({ mock })
  const types = astToString(await openapiTypescript(new URL(`${url}/openapi.json`), { silent: true }))
  await writeFile(`${folder}/api.ts`, types)
  expect(await run('node_modules/typescript7/bin/tsc', '--noEmit', '-p', folder)).toBe('')
  expect(await run('--disable-warning=ExperimentalWarning', `${folder}/walk.ts`, url)).toBe(
    'Walked through both APIs; 3 calls do not compile.\n',
  )
  const operations = new Set(mock.requests.all().map(({ operation }) => operation))
  expect(operations.size).toBe(15)
})
