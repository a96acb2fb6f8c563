import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Mock } from 'mandatekit/mocks/core'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { proxyTo } from '../openapi/prism.ts'
import { full } from '../support/sizes.ts'

const proxied = vi.hoisted(() => ({
  fetchOf: (_mock: Mock): Mock['fetch'] => {
    throw new Error('No proxy is open.')
  },
}))

// The examples create their mocks themselves. Here, their requests pass through Prism to a server of the mock.
vi.mock('mandatekit/mocks/core', async (original) => {
  const core = await original<typeof import('mandatekit/mocks/core')>()
  const createMock: typeof core.createMock = (options) => {
    const mock = core.createMock(options)
    return Object.assign(Object.create(mock), { fetch: proxied.fetchOf(mock) })
  }
  return { ...core, createMock }
})
vi.mock('mandatekit/mocks/server', async (original) => {
  const { startMockServer } = await original<typeof import('mandatekit/mocks/server')>()
  return {
    startMockServer: async () => {
      const server = await startMockServer()
      const { gateway } = server.mock.clientOptions
      const clientOptions = { gateway: { ...gateway, fetch: proxied.fetchOf(server.mock) } }
      return { ...server, mock: { clientOptions } }
    },
  }
})
const { startMockServer } =
  await vi.importActual<typeof import('mandatekit/mocks/server')>('mandatekit/mocks/server')

const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})
afterEach(() => vi.restoreAllMocks())

/** Opens a server of a mock and Prism before it. */
const open = async (mock: Mock) => {
  const { url, close } = await startMockServer({ mock })
  closing.push(close)
  return { url, ...(await proxyTo(url)) }
}

const folder = fileURLToPath(new URL('../../examples', import.meta.url))
const numbered = readdirSync(folder)
  .filter((name) => /^\d+-.*\.ts$/.test(name))
  .sort()
// The first two call both areas.
const examples = full ? numbered : numbered.slice(0, 2)

test.each(examples)('Prism as a proxy sees no violation in the example %s', async (name) => {
  vi.spyOn(console, 'log').mockReturnValue()
  const opened: ReturnType<typeof open>[] = []
  proxied.fetchOf = (mock) => {
    const proxy = open(mock)
    opened.push(proxy)
    return async (input, init) => {
      const request = new Request(input, init)
      const { url, fetch } = await proxy
      const { pathname, search } = new URL(request.url)
      try {
        return await fetch(new Request(`${url}${pathname}${search}`, request))
      } catch (cause) {
        // Prism reports a lost connection by an object of its own.
        throw new TypeError('fetch failed', { cause })
      }
    }
  }
  await import(`${folder}/${name}`)
  const proxies = await Promise.all(opened)
  expect(proxies.flatMap(({ found }) => found)).toEqual([])
  expect(proxies.reduce((sum, { count }) => sum + count(), 0)).toBeGreaterThan(1)
})
