import { GatewayClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'
import { type MockServerOptions, startMockServer } from 'mandatekit/mocks/server'
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { Agent, buildConnector, fetch as undiciFetch } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import type { FetchFunction } from '../../src/index.ts'
import { throughFetch, throughMsw2, throughMsw3 } from '../mock/transports.ts'
import { CHARGE_REQUEST } from '../support/bodies.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { errorOf } from '../support/clients.ts'
import { LIFE_BEGINS, liveThrough } from './client-life.ts'

const clock = LIFE_BEGINS

const liveOnServer = async (fetch?: FetchFunction, options: MockServerOptions = {}) => {
  const mock = createMock({ clock })
  const server = await startMockServer({ ...options, mock })
  onTestFinished(() => server.close())
  return liveThrough(mock, fetch)
}

test.each([throughMsw3, throughMsw2])('both clients work through $name', async ({ open }) => {
  const { mock, close } = await open({ clock })
  onTestFinished(close)
  await liveThrough(mock)
})

test.each<[string, FetchFunction | undefined]>([
  ['the runtime', undefined],
  ['undici', undiciFetch],
])('both clients work over HTTP through the fetch of %s', async (_, fetch) => {
  await liveOnServer(fetch)
})

test('both clients work over HTTP/2 with TLS through undici', async () => {
  const protocols = new Set<unknown>()
  const connect = buildConnector({ allowH2: true, ca: localhostCertificate.cert })
  const dispatcher = new Agent({
    allowH2: true,
    connect: (target, done) =>
      connect(target, (...result) => {
        protocols.add(result[1] !== null && 'alpnProtocol' in result[1] && result[1].alpnProtocol)
        done(...result)
      }),
  })
  const fetch: FetchFunction = (url, request) => undiciFetch(url, { ...request, dispatcher })
  await liveOnServer(fetch, { tls: localhostCertificate })
  await dispatcher.close()
  expect([...protocols]).toEqual(['h2'])
})

test('fetch is called without this, and with members that every runtime knows', async () => {
  const mock = createMock({ clock })
  const members = new Set<string>()
  const receivers = new Set<unknown>()

  /** Refuses, as the fetches of browsers and workers do, to be a method of anything. */
  function strictFetch(this: unknown, url: unknown, init: RequestInit = {}): Promise<Response> {
    receivers.add(this)
    for (const name of Object.keys(init)) members.add(name)
    expect(Object.getPrototypeOf(init.headers)).toBe(Object.prototype)
    expect(typeof url).toBe('string')
    expect(
      typeof init.body === 'string' || ((init.body ?? new ArrayBuffer(0)) as ArrayBuffer).byteLength === 0,
    ).toBe(true)
    return mock.fetch(String(url), init)
  }

  await liveThrough(mock, strictFetch as FetchFunction)
  expect([...receivers]).toEqual([undefined])
  expect([...members].sort()).toEqual(['body', 'headers', 'method', 'redirect', 'signal'])
})

test.each([
  { transport: throughFetch, outcome: 'not-sent' },
  { transport: throughMsw3, outcome: 'unknown' },
  { transport: throughMsw2, outcome: 'unknown' },
])('a refused connection is $outcome through $transport.name', async ({ transport, outcome }) => {
  const { mock, fetch, close } = await transport.open()
  onTestFinished(close)
  mock.faults.add({ operation: 'gateway.charge', kind: 'reset', code: 'ECONNREFUSED' })
  const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch, retry: false })
  const expected = { code: 'connection_failed', outcome, attempts: 1 }
  expect(await errorOf(gateway.charge(CHARGE_REQUEST))).toMatchObject(expected)
})

test('a network error of MSW has no code: the outcome is unknown', async () => {
  const server = setupServer(http.post('https://gateway.example/*', () => HttpResponse.error()))
  server.listen()
  onTestFinished(() => server.close())
  const gateway = new GatewayClient({ baseUrl: 'https://gateway.example', apiKey: 'api-key', retry: false })
  const expected = { code: 'connection_failed', outcome: 'unknown' }
  expect(await errorOf(gateway.charge(CHARGE_REQUEST))).toMatchObject(expected)
})
