import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { FetchFunction } from '../../src/index.ts'
import { CANCELLED, CHARGE, CHARGE_REQUEST } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient, TOKEN } from '../support/clients.ts'

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
      expect(client).toMatchObject({ options: { poolMaxIdlePerHost: 0 }, closed: 1 })
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
