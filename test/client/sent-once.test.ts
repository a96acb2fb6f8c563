import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
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

afterEach(() => vi.unstubAllGlobals())

const json = (body: unknown) => new Response(JSON.stringify(body))

/** Notes by which connection a request was sent. */
const noting = (answer: (url: string) => Response | Promise<Response>) => {
  const sent: [path: string, client: object | undefined][] = []
  const fetch: FetchFunction = async (url, request) => {
    sent.push([new URL(url).pathname, request.client])
    return answer(url)
  }
  return { sent, fetch }
}

describe('on a platform that sends again over connections that it used before', () => {
  it('what has no key to protect it goes over a connection of its own, which is closed', async () => {
    const { sent, fetch } = noting((url) =>
      json(url.endsWith('/token') ? { access_token: TOKEN, expires_in: 60 } : CANCELLED),
    )
    await subscriptionsClient('http://api.example', { fetch }).cancel('sub-1')
    await gatewayClient('http://api.example', { fetch }).confirm('conf_1', { otp: '123456' })
    expect(sent.map(([, client]) => client)).toEqual(clients)
    expect(sent).toHaveLength(3)
    for (const client of clients) {
      expect(client).toMatchObject({ options: { poolMaxIdlePerHost: 0 }, closed: 1 })
    }
  })

  it('reads and charges share connections as ever', async () => {
    const { sent, fetch } = noting(() => json(CHARGE))
    const gateway = gatewayClient('http://api.example', { fetch })
    await gateway.charge(CHARGE_REQUEST)
    await gateway.status('ch_1')
    expect(sent.map(([, client]) => client)).toEqual([undefined, undefined])
    expect(clients).toEqual([])
  })

  it('the connection is closed, too, when the request fails or takes too long', async () => {
    const failing = noting(() => Promise.reject(new TypeError('failed')))
    const hanging = noting(() => new Promise<never>(() => undefined))
    for (const { fetch } of [failing, hanging]) {
      const gateway = gatewayClient('http://api.example', { fetch, timeout: 20 })
      expect(await errorOf(gateway.confirm('conf_1', { otp: '123456' }))).toMatchObject({
        outcome: 'unknown',
      })
    }
    expect(clients.map(({ closed }) => closed)).toEqual([1, 1])
  })

  it('a host that refuses to make a connection is taken as it is', async () => {
    vi.stubGlobal('Deno', {
      createHttpClient: () => {
        throw new Error('not here')
      },
    })
    const { sent, fetch } = noting(() => json({}))
    await gatewayClient('http://api.example', { fetch }).confirm('conf_1', { otp: '123456' })
    expect(sent).toEqual([['/api/v1/mfs/confirm/conf_1', undefined]])
  })

  it('a call ends when its connection was closed by somebody else', async () => {
    vi.stubGlobal('Deno', {
      createHttpClient: () => ({
        close: () => {
          throw new Error('Bad resource ID')
        },
      }),
    })
    const { fetch } = noting(() => json({ status: 'succeeded' }))
    const confirmed = gatewayClient('http://api.example', { fetch }).confirm('conf_1', { otp: '123456' })
    expect(await confirmed).toEqual({ status: 'succeeded' })
  })
})
