import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deserialize } from 'node:v8'
import { onTestFinished } from 'vitest'
import { createMock, type MockOptions } from '../../mocks/core.ts'
import type { MockServerOptions } from '../../mocks/server.ts'
import { clientsOf } from '../support/mock-clients.ts'
import { startServer } from '../support/mock-server.ts'
import { START } from './open.ts'

/** Servers that keep their state in one file of a new folder. */
export const openFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mandatekit-state-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const state = join(folder, 'team.state')
  const start = async (options: MockOptions = { clock: START }, more: MockServerOptions = {}) => {
    const mock = createMock(options)
    const server = await startServer({ mock, state, ...more })
    return { ...server, ...clientsOf(mock, { fetch, retry: false }) }
  }
  const savedCharges = async () => deserialize(await readFile(state)).state.gateway.charges.length
  return { folder, state, start, savedCharges }
}
