import { setupServer } from 'msw/node'
import { http as http2 } from 'msw2'
import { setupServer as setupServer2 } from 'msw2/node'
import { fetch as undiciFetch } from 'undici'
import { internalsOf } from '../../mocks/assemble.ts'
import { createMock as createCoreMock } from '../../mocks/core.ts'
import { createMock } from '../../mocks/index.ts'
import { createMswHandlers } from '../../mocks/msw.ts'
import type { MockOptions } from '../../mocks/options.ts'
import { startMockServer } from '../../mocks/server.ts'
import type { Mock } from '../../mocks/types.ts'
import type { Fetch } from '../support/raw-requests.ts'

/** A mock, and a way to it. */
export interface Opened {
  readonly mock: Mock
  readonly fetch: Fetch
  close(): Promise<void>
}

export interface Transport {
  readonly name: string
  open(options?: MockOptions): Promise<Opened>
}

/** The mock's own fetch: no interception, no socket. */
export const throughFetch: Transport = {
  name: 'mock.fetch',
  async open(options) {
    const mock = createCoreMock(options)
    return { mock, fetch: mock.fetch, close: async () => undefined }
  },
}

/** MSW 3 around the platform's fetch. */
export const throughMsw3: Transport = {
  name: 'MSW 3',
  async open(options) {
    const mock = createMock(options)
    const server = setupServer(...mock.handlers)
    server.listen()
    return { mock, fetch: (url, init) => globalThis.fetch(url, init), close: async () => server.close() }
  },
}

/** MSW 2 around the platform's fetch: the same adapter, with that version's `http`. */
export const throughMsw2: Transport = {
  name: 'MSW 2',
  async open(options) {
    const mock = createCoreMock(options)
    const { handler, ownBases } = internalsOf(mock)
    const server = setupServer2(...createMswHandlers(http2, handler, ownBases))
    server.listen({ onUnhandledRequest: 'error' })
    return { mock, fetch: (url, init) => globalThis.fetch(url, init), close: async () => server.close() }
  },
}

/** Sockets, and a client that we did not write. */
export const throughHttp: Transport = {
  name: 'HTTP',
  async open(options) {
    const mock = createCoreMock(options)
    const server = await startMockServer({ mock })
    return { mock, fetch: (url, init) => undiciFetch(url, init), close: server.close }
  },
}

/** Every way to a mock. */
export const transports: readonly Transport[] = [throughFetch, throughMsw3, throughMsw2, throughHttp]
