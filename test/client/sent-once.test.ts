import { constants, createSecureServer, type ServerHttp2Stream } from 'node:http2'
import { Agent, fetch as undiciFetch } from 'undici'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { FetchFunction } from '../../src/index.ts'
import { CANCELLED, CHARGE, CHARGE_REQUEST } from '../support/bodies.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { API_KEY, errorOf, gatewayClient, subscriptionsClient, TOKEN } from '../support/clients.ts'
import { startServer } from '../support/scripted-server.ts'
import { open } from '../support/serve.ts'

const clients: { readonly options: unknown; closed: number }[] = []

beforeEach(() => {
  clients.length = 0
  vi.stubGlobal('Deno', {
    createHttpClient: (options: unknown) => {
      const client = { options, closed: 0, close: () => (client.closed += 1) }
      clients.push(client)
      return client
    },
  })
})

const json = (body: unknown) => new Response(JSON.stringify(body))

const fail = () => {
  throw new Error('Bad resource ID')
}

const confirm = (fetch: FetchFunction, timeout?: number) =>
  gatewayClient('http://api.example', { fetch, timeout }).confirm('conf_1', { otp: '123456' })

/** Records the connection of each request. */
const noting = (respond: (url: string) => Response | Promise<Response>) => {
  const sent: [path: string, client: object | undefined][] = []
  const fetch: FetchFunction = async (url, request) => {
    sent.push([new URL(url).pathname, request.client])
    return respond(url)
  }
  return { sent, fetch }
}

describe('on a runtime that repeats requests over connections that it used before', () => {
  it('a request without a key has a connection of its own, which is closed', async () => {
    const { sent, fetch } = noting((url) =>
      json(url.endsWith('/token') ? { access_token: TOKEN, expires_in: 60 } : CANCELLED),
    )
    await subscriptionsClient('http://api.example', { fetch }).cancel('sub-1')
    await confirm(fetch)
    expect(sent.map(([, client]) => client)).toEqual(clients)
    expect(sent).toHaveLength(3)
    for (const client of clients) {
      expect(client).toMatchObject({ options: { poolMaxIdlePerHost: 0, http2: false }, closed: 1 })
    }
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
    for (const { fetch } of [failing, hanging]) {
      expect(await errorOf(confirm(fetch, 20))).toMatchObject({ outcome: 'unknown' })
    }
    expect(clients.map(({ closed }) => closed)).toEqual([1, 1])
  })

  it.each([
    ['cannot be opened', fail],
    ['is already closed', () => ({ close: fail })],
  ])('a request is sent although its connection %s', async (_, createHttpClient) => {
    vi.stubGlobal('Deno', { createHttpClient })
    const { sent, fetch } = noting(() => json({ status: 'succeeded' }))
    expect(await confirm(fetch)).toEqual({ status: 'succeeded' })
    expect(sent.map(([path]) => path)).toEqual(['/api/v1/mfs/confirm/conf_1'])
  })
})

describe('case 130: over HTTP/2, a proxy that answers REFUSED_STREAM after the server acted', () => {
  /** Clients of a server that acts, and then refuses each request but logins. */
  const openRefusing = async () => {
    const executed: string[] = []
    const server = createSecureServer(localhostCertificate)
    server.on('stream', (stream: ServerHttp2Stream, headers) => {
      const path = String(headers[':path'])
      stream.on('error', () => undefined).resume()
      stream.on('end', () => {
        if (path.endsWith('/token')) {
          stream.respond({ 'content-type': 'application/json' })
          stream.end(JSON.stringify({ access_token: TOKEN, expires_in: 60 }))
          return
        }
        executed.push(`${headers[':method']} ${path}`)
        stream.close(constants.NGHTTP2_REFUSED_STREAM)
      })
    })
    const dispatcher = new Agent({ allowH2: true, connect: { ca: localhostCertificate.cert } })
    const fetch: FetchFunction = (url, request) => undiciFetch(url, { ...request, dispatcher })
    const url = `https://127.0.0.1:${await open(server)}`
    return {
      executed,
      gateway: gatewayClient(url, { fetch }),
      subscriptions: subscriptionsClient(url, { fetch, emptyBody: 'none' }),
      end: () => dispatcher.destroy(),
    }
  }

  it('is sent nothing twice that must be sent once, with or without a body, and the outcome is unknown', async () => {
    const { executed, gateway, subscriptions, end } = await openRefusing()
    const unknown = { code: 'connection_failed', outcome: 'unknown', attempts: 1 }
    expect(await errorOf(gateway.reset())).toMatchObject(unknown)
    expect(await errorOf(gateway.confirm('conf_1', { otp: '1234' }))).toMatchObject(unknown)
    expect(await errorOf(subscriptions.cancel('sub-1'))).toMatchObject(unknown)
    expect(await errorOf(gateway.request({ method: 'DELETE', path: '/api/v1/x' }))).toMatchObject(unknown)
    await end()
    expect(executed.map((line) => line.split('/').at(0))).toEqual(['POST ', 'POST ', 'POST ', 'DELETE '])
  })
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
