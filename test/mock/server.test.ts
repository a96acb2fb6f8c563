import { createServer } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { Agent, fetch as undiciFetch } from 'undici'
import { describe, expect, test, vi } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { startMockServer } from '../../mocks/server.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { startServer } from '../support/mock-server.ts'
import { open } from '../support/serve.ts'

describe('the HTTP server', () => {
  test('serves both areas at its root, and its mock points at it', async () => {
    const { url, mock } = await startServer()
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect([mock.clientOptions.subscriptions.baseUrl, mock.clientOptions.gateway.baseUrl]).toEqual([url, url])
    expect(await (await undiciFetch(`${url}/health`)).json()).toEqual({ status: 'ok' })
    const ofS = await undiciFetch(`${url}/api/v1.0/subscribe`, { method: 'POST' })
    expect([ofS.status, await ofS.json()]).toEqual([
      401,
      { errorCode: '401', errorMessage: expect.any(String) },
    ])
    expect(mock.requests.all().map(({ operation }) => operation)).toEqual([
      'gateway.health',
      'subscriptions.subscribe',
    ])
  })

  test('gives an unknown path the shape of the area whose route is nearest', async () => {
    const { url } = await startServer()
    const shape = async (path: string) =>
      Object.keys((await (await undiciFetch(`${url}${path}`, { method: 'POST' })).json()) as object)
    expect(await shape('/api/v1/mfs/charge')).toEqual(['error'])
    expect(await shape('/api/v1.0/subscribes')).toEqual(['errorCode', 'errorMessage'])
  })

  test('serves a mock that is given, next to its own base URLs', async () => {
    const mock = createMock({ gateway: { baseUrl: 'https://own.example' } })
    const server = await startServer({ mock })
    expect(server.mock).toBe(mock)
    expect((await mock.fetch('https://own.example/health')).status).toBe(200)
    expect((await mock.fetch(`${server.url}/health`)).status).toBe(200)
    await server.close()
    expect(mock.clientOptions.gateway.baseUrl).toBe('https://own.example')
    await expect(mock.fetch(`${server.url}/health`)).rejects.toThrow(/own\.example/)
  })

  test('two servers in front of one mock: the later one is handed out until it closes', async () => {
    const mock = createMock()
    const first = await startServer({ mock })
    const second = await startServer({ mock })
    expect(mock.clientOptions.gateway.baseUrl).toBe(second.url)
    await second.close()
    expect(mock.clientOptions.gateway.baseUrl).toBe(first.url)
    expect((await undiciFetch(`${first.url}/health`)).status).toBe(200)
  })

  test('close ends requests that are never answered, and can be called twice', async () => {
    const { url, mock, close } = await startServer()
    mock.faults.add({ operation: 'gateway.health', kind: 'timeout' })
    const hanging = undiciFetch(`${url}/health`)
    hanging.catch(() => undefined)
    await vi.waitFor(() => expect(mock.requests.all()).toHaveLength(1))
    await Promise.all([close(), close()])
    await expect(hanging).rejects.toThrow(TypeError)
    await expect(undiciFetch(`${url}/health`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  })

  test('a body that is not UTF-8 is 400 and stores nothing, after the checks that come before the body', async () => {
    const { url, mock } = await startServer()
    const body = new Uint8Array(
      Buffer.from(
        '{"msisdn":"+1","amount":5,"currency":"é","redirect_uri":"https://shop.example/paid"}',
        'latin1',
      ),
    )
    const charge = (headers: Record<string, string>) =>
      undiciFetch(`${url}/api/v1/mfs/charges`, { method: 'POST', headers, body })
    expect((await charge({ 'Idempotency-Key': 'k' })).status).toBe(401)
    const answer = await charge({ 'Idempotency-Key': 'k', Authorization: 'Bearer mock-api-key' })
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: { code: 'invalid_request', message: 'The body is not UTF-8.' } },
    ])
    expect(mock.state.charges()).toEqual([])
  })

  test('a request whose sender leaves in the middle of its body is not executed', async () => {
    const { url, mock } = await startServer()
    const { port } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    const head = [
      'POST /api/v1/mfs/charges HTTP/1.1',
      'Host: a',
      'Authorization: Bearer mock-api-key',
      'Idempotency-Key: k',
      'Content-Length: 500',
    ].join('\r\n')
    socket.write(`${head}\r\n\r\n{"msisdn":"+1"`, () => socket.destroy())
    await vi.waitFor(() => expect(mock.requests.all()).toHaveLength(1))
    expect(mock.requests.all()[0]).toMatchObject({ executed: false, decision: 'aborted' })
    expect(mock.state.charges()).toEqual([])
  })

  test('reads the path of a proxy’s absolute form, and answers a form that is no path', async () => {
    const { url } = await startServer()
    const { port } = new URL(url)
    const ask = (target: string): Promise<string> =>
      new Promise((resolve, reject) => {
        let text = ''
        const socket = connect(Number(port), '127.0.0.1')
        socket.on('data', (data) => {
          text += data
        })
        socket.on('end', () => resolve(text))
        socket.on('error', reject)
        socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      })
    expect(await ask('http://elsewhere.example/health?a=1')).toMatch(/^HTTP\/1\.1 200 /)
    expect(await ask('*')).toMatch(/^HTTP\/1\.1 40/)
  })

  test('an occupied port rejects with the system’s error', async () => {
    const port = await open(createServer())
    await expect(startMockServer({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  test('refuses what is no mock', async () => {
    await expect(startMockServer({ mock: {} as never })).rejects.toThrow(/createMock/)
  })

  test('the form of a hosted page works under the name that the browser used', async () => {
    const { url, mock } = await startServer()
    const charged = await undiciFetch(`${url}/api/v1/mfs/charges`, {
      method: 'POST',
      headers: { Authorization: 'Bearer mock-api-key', 'Idempotency-Key': 'k' },
      body: '{"msisdn":"+1","amount":1,"currency":"BDT","redirect_uri":"https://shop.example/paid"}',
    })
    const charge = (await charged.json()) as { confirmation_url: string }
    expect(charge.confirmation_url.startsWith(`${url}/`)).toBe(true)
    const address = charge.confirmation_url.replace('127.0.0.1', 'localhost')
    const answer = await undiciFetch(address, {
      method: 'POST',
      redirect: 'manual',
      headers: { Origin: new URL(address).origin, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'otp=123456',
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, 'https://shop.example/paid'])
    expect(mock.state.charges()[0]?.status).toBe('succeeded')
  })
})

describe('the HTTP server with a certificate', () => {
  const trusting = (allowH2: boolean) => new Agent({ allowH2, connect: { ca: localhostCertificate.cert } })

  test.each([true, false])('speaks HTTP/2 and HTTP/1.1 over TLS (HTTP/2: %s)', async (allowH2) => {
    const { url, mock } = await startServer({ tls: localhostCertificate })
    expect(url).toMatch(/^https:/)
    const dispatcher = trusting(allowH2)
    const answer = await undiciFetch(`${url}/api/v1/mfs/charges`, {
      method: 'POST',
      dispatcher,
      headers: { Authorization: 'Bearer mock-api-key', 'Idempotency-Key': 'k' },
      body: '{"msisdn":"+1","amount":1,"currency":"BDT","redirect_uri":"https://shop.example/paid"}',
    })
    expect([answer.status, await answer.json()]).toEqual([202, expect.objectContaining({ amount: 1 })])
    expect(mock.state.charges()[0]?.confirmation_url.startsWith(url)).toBe(true)
    await dispatcher.destroy()
  })

  test.each(['reset', 'lost-response', 'truncated'] as const)('%s ends the HTTP/2 stream', async (kind) => {
    const { url, mock } = await startServer({ tls: localhostCertificate })
    mock.faults.add({ operation: 'gateway.reference', kind })
    const session = connectHttp2(url, { ca: localhostCertificate.cert })
    const stream = session.request({ ':path': '/api/v1/reference' })
    let received = ''
    stream.setEncoding('utf8')
    stream.on('data', (data: string) => {
      received += data
    })
    const failure = await new Promise<unknown>((resolve) => stream.once('error', resolve))
    expect(failure).toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' })
    expect(String(failure)).toContain('NGHTTP2_INTERNAL_ERROR')
    expect(received.length > 0).toBe(kind === 'truncated')
    expect(() => JSON.parse(received)).toThrow()
    session.close()
  })

  test('HEAD over HTTP/2 has no body', async () => {
    const { url } = await startServer({ tls: localhostCertificate })
    const dispatcher = trusting(true)
    const answer = await undiciFetch(`${url}/health`, { method: 'HEAD', dispatcher })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    await dispatcher.destroy()
  })

  test('close ends HTTP/2 sessions and their hanging requests', async () => {
    const { url, mock, close } = await startServer({ tls: localhostCertificate })
    mock.faults.add({ operation: 'gateway.health', kind: 'timeout' })
    const dispatcher = trusting(true)
    const hanging = undiciFetch(`${url}/health`, { dispatcher })
    hanging.catch(() => undefined)
    await vi.waitFor(() => expect(mock.requests.all()).toHaveLength(1))
    await close()
    await expect(hanging).rejects.toThrow(TypeError)
    await dispatcher.destroy()
  })
})
