import { constants, createSecureServer, type ServerHttp2Stream } from 'node:http2'
import { Agent, fetch as undiciFetch } from 'undici'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { FetchFunction } from '../../src/index.ts'
import { CANCELLED, CHARGE, CHARGE_REQUEST, OK, SUBSCRIBED, SUBSCRIPTION } from '../support/bodies.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { API_KEY, errorOf, gatewayClient, subscriptionsClient, TOKEN } from '../support/clients.ts'
import { startServer } from '../support/scripted-server.ts'
import { open, serve } from '../support/serve.ts'

const json = (body: unknown) => new Response(JSON.stringify(body))
const confirm = (fetch: FetchFunction, timeout?: number) =>
  gatewayClient('http://api.example', { fetch, timeout }).confirm('conf_1', { otp: '123456' })
const lost = { code: 'connection_failed', outcome: 'unknown', attempts: 1 }

/** Records the path of each request, and what it asks of its connection. */
const noting = (respond: (url: string) => Response | Promise<Response>) => {
  const sent: [path: string, own: unknown][] = []
  const fetch: FetchFunction = async (url, { client, keepalive }) => {
    sent.push([new URL(url).pathname, client ?? keepalive])
    return url.endsWith('/token') ? json({ access_token: TOKEN, expires_in: 60 }) : respond(url)
  }
  return { sent, fetch }
}

describe('on Deno, which repeats requests over connections that it used before', () => {
  const clients: { readonly options: unknown; closed: number }[] = []
  const fail = () => {
    throw new Error('Bad resource ID')
  }

  beforeEach(() => {
    clients.length = 0
    const createHttpClient = (options: unknown) => {
      const client = { options, closed: 0, close: () => (client.closed += 1) }
      clients.push(client)
      return client
    }
    vi.stubGlobal('Deno', { createHttpClient })
  })

  it('a request without a key has a connection of its own, which is closed', async () => {
    const { sent, fetch } = noting(() => json(CANCELLED))
    await subscriptionsClient('http://api.example', { fetch }).cancel('sub-1')
    await confirm(fetch)
    expect(sent.map(([, client]) => client)).toEqual(clients)
    const options = { poolMaxIdlePerHost: 0, http2: false }
    expect(clients).toMatchObject(Array(3).fill({ options, closed: 1 }))
  })

  it('reads and charges share connections', async () => {
    const { sent, fetch } = noting(() => json(CHARGE))
    const gateway = gatewayClient('http://api.example', { fetch })
    await gateway.charge(CHARGE_REQUEST)
    await gateway.status('ch_1')
    expect(sent.map(([, client]) => client)).toEqual([undefined, undefined])
    expect(clients).toEqual([])
  })

  it('the connection is closed, too, when the request fails or times out', async () => {
    const failing = noting(() => Promise.reject(new TypeError('failed')))
    const hanging = noting(() => new Promise<never>(() => undefined))
    for (const { fetch } of [failing, hanging])
      expect(await errorOf(confirm(fetch, 20))).toMatchObject({ outcome: 'unknown' })
    expect(clients.map(({ closed }) => closed)).toEqual([1, 1])
  })

  it.each([
    ['cannot be opened', fail],
    ['is already closed', () => ({ close: fail })],
  ])('a request is sent although its connection %s', async (_, createHttpClient) => {
    vi.stubGlobal('Deno', { createHttpClient })
    const { sent, fetch } = noting(() => json({ status: 'succeeded' }))
    expect(await confirm(fetch)).toEqual({ status: 'succeeded' })
    expect(sent).toHaveLength(1)
  })
})

describe('case 73: on Bun', () => {
  beforeEach(() => void vi.stubGlobal('Bun', { version: '1.3.12' }))

  it('subscribe and its login have a connection of their own', async () => {
    const { sent, fetch } = noting(() => json(SUBSCRIBED))
    await subscriptionsClient('http://api.example', { fetch }).subscribe(SUBSCRIPTION)
    expect(sent).toEqual([
      ['/oauth/token', false],
      ['/api/v1.0/subscribe', false],
    ])
  })

  it('a read has not, nor has any request on another runtime', async () => {
    const { sent, fetch } = noting(() => json(CHARGE))
    await gatewayClient('http://api.example', { fetch }).status('ch_1')
    vi.unstubAllGlobals()
    await confirm(fetch)
    expect(sent.map(([, keepalive]) => keepalive)).toEqual([undefined, undefined])
  })
})

it('case 73: subscribe on a reused connection that closes without an answer is one request', async () => {
  const used = new WeakSet<object>()
  const received: string[] = []
  const url = await serve((request, response) => {
    const isReused = used.has(request.socket)
    used.add(request.socket)
    received.push(`${request.url} ${isReused}`)
    request.resume().on('end', () => {
      if (isReused && request.url?.endsWith('/subscribe')) request.socket.destroy()
      else response.end(JSON.stringify({ ...OK, access_token: TOKEN, expires_in: 60, id: 'sub-1' }))
    })
  })
  const subscriptions = subscriptionsClient(url)
  await subscriptions.details('sub-1')
  expect(await errorOf(subscriptions.subscribe(SUBSCRIPTION))).toMatchObject({ outcome: 'unknown' })
  expect(received.filter((line) => line.includes('/subscribe '))).toHaveLength(1)
})

it('case 130: over HTTP/2, a proxy that answers REFUSED_STREAM after the server acted is sent nothing twice', async () => {
  const executed: (string | undefined)[] = []
  const server = createSecureServer(localhostCertificate)
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined).resume()
    stream.on('end', () => {
      if (headers[':path']?.endsWith('/token')) {
        stream.respond({ 'content-type': 'application/json' })
        stream.end(JSON.stringify({ access_token: TOKEN, expires_in: 60 }))
        return
      }
      executed.push(headers[':method'])
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
    })
  })
  const dispatcher = new Agent({ allowH2: true, connect: { ca: localhostCertificate.cert } })
  const fetch: FetchFunction = (url, request) => undiciFetch(url, { ...request, dispatcher })
  const url = `https://127.0.0.1:${await open(server)}`
  const gateway = gatewayClient(url, { fetch })
  const subscriptions = subscriptionsClient(url, { fetch, emptyBody: 'none' })
  // With a body and without one.
  expect(await errorOf(gateway.reset())).toMatchObject(lost)
  expect(await errorOf(gateway.confirm('conf_1', { otp: '1234' }))).toMatchObject(lost)
  expect(await errorOf(subscriptions.cancel('sub-1'))).toMatchObject(lost)
  expect(await errorOf(gateway.request({ method: 'DELETE', path: '/api/v1/x' }))).toMatchObject(lost)
  await dispatcher.destroy()
  expect(executed).toEqual(['POST', 'POST', 'POST', 'DELETE'])
})

describe('a call without a body', () => {
  it('that must be sent once looks to the server as before: no content, no type, and the length 0', async () => {
    const { url, requests } = await startServer([{ body: {} }])
    const client = gatewayClient(url)
    await client.reset()
    await client.request({ method: 'DELETE', path: '/api/v1/x' })
    for (const { headers, body } of requests) {
      expect(body).toBe('')
      expect(headers['content-type'] ?? headers['transfer-encoding']).toBeUndefined()
    }
    // The fetch of Node gives a DELETE without content no Content-Length.
    expect(requests.map(({ headers }) => headers['content-length'])).toEqual(['0', undefined])
  })

  it('that only reads has none', async () => {
    const sent: unknown[] = []
    const fetch: FetchFunction = async (_, { body, headers }) => {
      sent.push(body)
      expect(headers.authorization).toBe(`Bearer ${API_KEY}`)
      return json(CHARGE)
    }
    await gatewayClient('http://api.example', { fetch }).status('ch_1')
    expect(sent).toEqual([undefined])
  })
})
