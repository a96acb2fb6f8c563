import { createServer } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { Agent, fetch as undiciFetch } from 'undici'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { startMockServer } from '../../mocks/server.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { startServer } from '../support/mock-server.ts'
import { open } from '../support/serve.ts'
import { CHARGES, KEYS } from './open.ts'

// The scheme of a header's credentials is not case-sensitive.
const headers = { ...KEYS, Authorization: 'bearer mock-api-key' }
const charge = { method: 'POST', headers, body: JSON.stringify(CHARGE) }

describe('the HTTP server', () => {
  test('case 128: serves both areas at its root, gives an unknown path the shape of the nearest area, and its mock uses its URL', async () => {
    const { url, mock } = await startServer()
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect([mock.clientOptions.subscriptions.baseUrl, mock.clientOptions.gateway.baseUrl]).toEqual([url, url])
    for (const [path, shape] of [
      ['/health', ['error']],
      ['/api/v1.0/subscribe', ['errorCode', 'errorMessage']],
      ['/api/v1/mfs/charge', ['error']],
      ['/api/v1.0/subscribes', ['errorCode', 'errorMessage']],
    ] as const) {
      const answer = await undiciFetch(`${url}${path}`, { method: 'POST' })
      expect(Object.keys((await answer.json()) as object)).toEqual(shape)
    }
    const areas = mock.requests.all().map(({ area }) => area)
    expect(areas).toEqual(['gateway', 'subscriptions', 'gateway', 'subscriptions'])
  })

  test('serves a given mock beside its own base URLs, and the latest of two servers is in clientOptions', async () => {
    const mock = createMock({ gateway: { baseUrl: 'https://own.example' } })
    const first = await startServer({ mock })
    const second = await startServer({ mock })
    expect(first.mock).toBe(mock)
    for (const base of ['https://own.example', first.url, second.url]) {
      expect((await mock.fetch(`${base}/health`)).status).toBe(200)
    }
    expect(mock.clientOptions.gateway.baseUrl).toBe(second.url)
    await second.close()
    expect(mock.clientOptions.gateway.baseUrl).toBe(first.url)
    expect((await undiciFetch(`${first.url}/health`)).status).toBe(200)
    await first.close()
    expect(mock.clientOptions.gateway.baseUrl).toBe('https://own.example')
    await expect(mock.fetch(`${first.url}/health`)).rejects.toThrow(/own\.example/)
  })

  test('rejects an occupied port with the system’s error', async () => {
    const port = await open(createServer())
    await expect(startMockServer({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  test.each([
    ['127.0.0.1', 'localhost'],
    ['::1', '[::1]'],
    ['LOCALHOST', 'localhost'],
  ])('on %s serves pages whose forms work under the name that the browser used, %s', async (host, name) => {
    const { url, mock } = await startServer({ host })
    await undiciFetch(`${url}${CHARGES}`, charge)
    const [{ confirmation_url = '' } = {}] = mock.state.charges()
    expect(confirmation_url.startsWith(`${url}/`)).toBe(true)
    const address = Object.assign(new URL(confirmation_url), { hostname: name }).href
    const answer = await undiciFetch(address, {
      method: 'POST',
      redirect: 'manual',
      headers: { Origin: new URL(address).origin },
      body: new URLSearchParams({ otp: '123456' }),
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, CHARGE.redirect_uri])
    expect(mock.state.charges()[0]?.status).toBe('succeeded')
  })
})

describe.each([
  ['HTTP/1.1', false, undefined],
  ['HTTP/1.1 over TLS', false, localhostCertificate],
  ['HTTP/2', true, localhostCertificate],
] as const)('the server through %s', (_, allowH2, tls) => {
  const start = async (maxBodyBytes?: number) => {
    const server = await startServer({ ...(tls && { tls }), ...(maxBodyBytes && { maxBodyBytes }) })
    const dispatcher = new Agent({ allowH2, connect: { ca: localhostCertificate.cert }, connections: 1 })
    onTestFinished(() => dispatcher.destroy())
    const ask = (path: string, init: object = {}) =>
      undiciFetch(`${server.url}${path}`, { dispatcher, ...init })
    return { ...server, ask }
  }

  test('creates a charge whose page lies under its URL, and responds to HEAD without a body', async () => {
    const { url, mock, ask } = await start()
    const answer = await ask(CHARGES, charge)
    expect([answer.status, await answer.json()]).toEqual([202, expect.objectContaining({ amount: 250 })])
    expect(mock.state.charges()[0]?.confirmation_url.startsWith(url)).toBe(true)
    const head = await ask('/health', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('close ends requests that are never answered, and can be called twice', async () => {
    const { mock, ask, close } = await start()
    mock.faults.add({ operation: 'gateway.health', kind: 'timeout' })
    const hanging = ask('/health')
    hanging.catch(() => undefined)
    await vi.waitFor(() => expect(mock.requests.all()).toHaveLength(1))
    await Promise.all([close(), close()])
    await expect(hanging).rejects.toThrow(TypeError)
    await expect(ask('/health')).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  })

  test('a body that is too large is 413, and the connection can be used again', async () => {
    const { mock, ask } = await start(1_000)
    const statuses: number[] = []
    for (const [path, init] of [
      [CHARGES, { ...charge, body: 'x'.repeat(300_000) }],
      ['/health', {}],
      ['/oauth/token', { method: 'POST', body: 'x'.repeat(300_000) }],
      [CHARGES, charge],
    ] as const) {
      const answer = await ask(path, init)
      await answer.arrayBuffer()
      statuses.push(answer.status)
    }
    expect(statuses).toEqual([413, 200, 413, 202])
    expect(mock.requests.of('gateway.charge')[0]).toMatchObject({
      executed: false,
      decision: 'body-too-large',
    })
  })
})

describe('HTTP/2', () => {
  const stream = async (path: string, more: Record<string, string> = {}) => {
    const { url, mock } = await startServer({ tls: localhostCertificate })
    const session = connectHttp2(url, { ca: localhostCertificate.cert })
    onTestFinished(() => session.destroy())
    return { mock, session, request: () => session.request({ ':path': path, ...more }) }
  }
  const post = { ':method': 'POST', authorization: 'Bearer mock-api-key', 'idempotency-key': 'k' }
  const aborted = [{ decision: 'aborted', executed: false }]

  test.each(['reset', 'lost-response', 'truncated'] as const)(
    'the fault %s ends the stream',
    async (kind) => {
      const { mock, request } = await stream('/api/v1/reference')
      mock.faults.add({ operation: 'gateway.reference', kind })
      const incoming = request().setEncoding('utf8')
      let received = ''
      incoming.on('data', (data: string) => {
        received += data
      })
      const failure = await new Promise<unknown>((resolve) => incoming.once('error', resolve))
      expect(failure).toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' })
      expect(String(failure)).toContain('NGHTTP2_INTERNAL_ERROR')
      expect(received.length > 0).toBe(kind === 'truncated')
      expect(() => JSON.parse(received)).toThrow()
    },
  )

  test('a request whose sender leaves before the end of its body is not executed', async () => {
    const { mock, request } = await stream(CHARGES, post)
    const outgoing = request().on('error', () => undefined)
    outgoing.write(JSON.stringify(CHARGE))
    await vi.waitFor(() => expect(outgoing.pending).toBe(false))
    outgoing.destroy(new Error('gone'))
    await vi.waitFor(() => expect(mock.requests.all()).toMatchObject(aborted))
    expect(mock.state.charges()).toEqual([])
  })

  test('a request whose sender leaves during a latency is not executed', async () => {
    const { mock, session, request } = await stream(CHARGES, post)
    mock.faults.add({ operation: 'gateway.charge', kind: 'status', latencyMs: 2_000 })
    const outgoing = request().on('error', () => undefined)
    outgoing.end(JSON.stringify(CHARGE))
    await vi.waitFor(() => expect(outgoing.writableFinished).toBe(true))
    await new Promise((resolve) => session.ping(resolve))
    outgoing.close(8)
    await vi.waitFor(() => expect(mock.requests.all()).toMatchObject(aborted))
  })
})
