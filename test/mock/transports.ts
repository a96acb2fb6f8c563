import { setupServer } from 'msw/node'
import { http as http2 } from 'msw2'
import { setupServer as setupServer2 } from 'msw2/node'
import { internalsOf } from '../../mocks/assemble.ts'
import { createMock as createCoreMock } from '../../mocks/core.ts'
import { createMock } from '../../mocks/index.ts'
import { createMswHandlers } from '../../mocks/msw.ts'
import type { MockOptions } from '../../mocks/options.ts'
import { startMockServer } from '../../mocks/server.ts'
import type { Mock } from '../../mocks/types.ts'

/** A mock, and a way to it. */
export interface Opened {
  readonly mock: Mock
  readonly fetch: Mock['fetch']
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

interface MswServer<Handler> {
  listen(): void
  resetHandlers(...handlers: Handler[]): void
  close(): void
}

/** One server around the global fetch; each call installs the handlers of its own mock, since mocks share base URLs. */
const throughMsw = <Handler>(
  name: string,
  server: MswServer<Handler>,
  create: (options?: MockOptions) => { readonly mock: Mock; readonly handlers: readonly Handler[] },
): Transport => {
  const open = new Set<Mock>()
  return {
    name,
    async open(options) {
      const { mock, handlers } = create(options)
      if (open.size === 0) server.listen()
      server.resetHandlers(...handlers)
      open.add(mock)
      return {
        mock,
        fetch(input, init) {
          server.resetHandlers(...handlers)
          return globalThis.fetch(input, init)
        },
        async close() {
          if (open.delete(mock) && open.size === 0) server.close()
        },
      }
    },
  }
}

export const throughMsw3: Transport = throughMsw('MSW 3', setupServer(), (options) => {
  const mock = createMock(options)
  return { mock, handlers: mock.handlers }
})

/** The same adapter, with that version's `http`. */
export const throughMsw2: Transport = throughMsw('MSW 2', setupServer2(), (options) => {
  const mock = createCoreMock(options)
  const { handler, ownBases } = internalsOf(mock)
  return { mock, handlers: createMswHandlers(http2, handler, ownBases) }
})

/** The HTTP server, and the runtime's own fetch. */
export const throughHttp: Transport = {
  name: 'HTTP',
  async open(options) {
    const mock = createCoreMock(options)
    const server = await startMockServer({ mock })
    return { mock, fetch: (input, init) => globalThis.fetch(input, init), close: server.close }
  },
}

/** Every way to a mock. */
export const transports: readonly Transport[] = [throughFetch, throughMsw3, throughMsw2, throughHttp]
