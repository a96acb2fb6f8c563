import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { Agent, fetch as undiciFetch } from 'undici'
import { describe, expect, test, vi } from 'vitest'
import type { Mock } from '../../mocks/core.ts'
import { createMock } from '../../mocks/core.ts'
import { startMockServer } from '../../mocks/server.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { startServer } from '../support/mock-server.ts'

const KEYS = { Authorization: 'Bearer mock-api-key', 'Idempotency-Key': 'k' }
const text = expect.any(String)

/** A valid charge of exactly so many bytes. */
const chargeOf = (bytes: number): string => {
  const start = JSON.stringify({ ...CHARGE, note: '' })
  return JSON.stringify({ ...CHARGE, note: 'x'.repeat(bytes - start.length) })
}

const chunked = (body: string): ReadableStream<Uint8Array> =>
  new Blob([body]).stream() as ReadableStream<Uint8Array>

/** Sends bytes as they are; what comes back until the server is silent or closes. */
const raw = (url: string, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.on('data', (part) => {
      answer += part.toString()
    })
    socket.on('close', () => resolve(answer)).on('error', reject)
  })

describe('a body that is too large', () => {
  test.each(['declared', 'chunked'])(
    'is 413 in its area’s shape, and executes nothing, when its length is %s',
    async (how) => {
      const { url, mock } = await startServer({ maxBodyBytes: 1_000 })
      const post = async (path: string, bytes: number, headers: Record<string, string> = {}) => {
        const body = how === 'declared' ? chargeOf(bytes) : chunked(chargeOf(bytes))
        const answer = await undiciFetch(`${url}${path}`, {
          method: 'POST',
          headers,
          body,
          duplex: 'half',
        } as never)
        return { status: answer.status, headers: answer.headers, body: await answer.text() }
      }
      const ofG = await post('/api/v1/mfs/charges', 1_001, KEYS)
      expect([ofG.status, JSON.parse(ofG.body)]).toEqual([
        413,
        { error: { code: 'invalid_request', message: text } },
      ])
      const ofS = await post('/oauth/token', 500_000)
      expect([ofS.status, JSON.parse(ofS.body)]).toEqual([413, { errorCode: '01', errorMessage: text }])
      expect(ofS.headers.get('x-ratelimit-remaining')).toBe('599')
      expect(mock.state.charges()).toEqual([])
      expect(mock.requests.of('gateway.charge')).toMatchObject([
        { status: 413, executed: false, decision: 'body-too-large' },
      ])
      expect(mock.explain('gateway.charge')).toContain('maxBodyBytes')
      expect((await post('/api/v1/mfs/charges', 1_000, KEYS)).status).toBe(202)
      expect(
        (await post('/confirm/conf_x', 2_000, { 'Content-Type': 'application/x-www-form-urlencoded' }))
          .status,
      ).toBe(413)
    },
  )

  test('a mebibyte is read when nothing else is said', async () => {
    const { url } = await startServer()
    const status = async (bytes: number) =>
      (
        await undiciFetch(`${url}/api/v1/mfs/charges`, {
          method: 'POST',
          headers: KEYS,
          body: chargeOf(bytes),
        })
      ).status
    expect([await status(1_048_576), await status(1_048_577)]).toEqual([202, 413])
  })

  test('the connection is as good as before', async () => {
    const { url } = await startServer({ maxBodyBytes: 100 })
    const dispatcher = new Agent({ connections: 1 })
    const statuses: number[] = []
    for (const body of ['x'.repeat(300_000), undefined, 'x'.repeat(300_000), undefined]) {
      const path = body === undefined ? '/health' : '/api/v1/mfs/charges'
      const init = body === undefined ? {} : { method: 'POST', body }
      const answer = await undiciFetch(`${url}${path}`, { ...init, dispatcher })
      await answer.arrayBuffer()
      statuses.push(answer.status)
    }
    expect(statuses).toEqual([413, 200, 413, 200])
    await dispatcher.close()
  })

  test('is 413 over HTTP/2 too', async () => {
    const { url, mock } = await startServer({ tls: localhostCertificate, maxBodyBytes: 100 })
    const session = connectHttp2(url, { ca: localhostCertificate.cert })
    const stream = session.request({ ':method': 'POST', ':path': '/api/v1/mfs/charges' })
    stream.on('error', () => undefined)
    stream.end('x'.repeat(1_000_000))
    stream.resume()
    const status = await new Promise((resolve) =>
      stream.on('response', (headers) => resolve(headers[':status'])),
    )
    expect(status).toBe(413)
    await new Promise<void>((resolve) => session.close(resolve))
    expect(mock.state.charges()).toEqual([])
  })
})

describe('a sender that leaves over HTTP/2', () => {
  const open = async (mock: Mock) => {
    const { url } = await startServer({ mock, tls: localhostCertificate })
    const session = connectHttp2(url, { ca: localhostCertificate.cert })
    const headers = {
      ':method': 'POST',
      ':path': '/api/v1/mfs/charges',
      authorization: 'Bearer mock-api-key',
      'idempotency-key': 'k',
    }
    const stream = session.request(headers)
    stream.on('error', () => undefined)
    return { session, stream }
  }

  test('before the end of its body, whole as it may look, has its request not executed', async () => {
    const mock = createMock()
    const { session, stream } = await open(mock)
    stream.write(JSON.stringify(CHARGE))
    await vi.waitFor(() => expect(stream.pending).toBe(false))
    stream.destroy(new Error('gone'))
    await vi.waitFor(() =>
      expect(mock.requests.all()).toMatchObject([{ decision: 'aborted', executed: false }]),
    )
    expect(mock.state.charges()).toEqual([])
    session.destroy()
  })

  test('before a latency that comes first is over has its request not executed', async () => {
    const mock = createMock()
    mock.faults.add({ operation: 'gateway.charge', kind: 'status', latencyMs: 2_000 })
    const { session, stream } = await open(mock)
    stream.end(JSON.stringify(CHARGE))
    await vi.waitFor(() => expect(stream.writableFinished).toBe(true))
    await new Promise((resolve) => session.ping(resolve))
    stream.close(8)
    await vi.waitFor(() =>
      expect(mock.requests.all()).toMatchObject([{ decision: 'aborted', executed: false }]),
    )
    session.destroy()
  })
})

describe('a request of odd form', () => {
  test.each([
    ['//health', 404],
    ['/health/', 404],
    ['/%68ealth', 404],
    ['/api/v1/mfs/charges/', 404],
    ['/api/v1/mfs/charges/ch%2F1', 401],
    ['/api/v1/mfs/charges/%00', 401],
    ['/api/v1/mfs/charges/%zz', 401],
    ['/api/v1/../v1/reference', 404],
    ['/authorize/%zz', 404],
    ['/_mock/%zz', 404],
    [`/${'a/'.repeat(4_000)}`, 404],
    [`/${'a'.repeat(12_000)}`, 404],
    [`/${'a'.repeat(20_000)}`, 431],
  ])('%s is answered %i, and the server goes on', async (path, status) => {
    const { url } = await startServer()
    const answer = await raw(
      url,
      `GET ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect((await undiciFetch(`${url}/health`)).status).toBe(200)
  })

  test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    '%s where POST is meant is 405 with Allow, and carries area S’s headers',
    async (method) => {
      const { url, mock } = await startServer()
      const answer = await raw(
        url,
        `${method} /api/v1.0/subscribe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      )
      expect(answer).toMatch(/^HTTP\/1\.1 405 /)
      expect(answer).toMatch(/\r\nAllow: POST\r\n/)
      expect(answer).toMatch(/\r\nX-RateLimit-Limit: 600\r\n/)
      expect(answer).toMatch(/\r\nX-RateLimit-Reset: \d{10}\r\n/)
      expect(mock.state.subscriptions()).toEqual([])
    },
  )

  test('no HTTP at all is 400, and the server goes on', async () => {
    const { url } = await startServer()
    expect(await raw(url, 'hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
    expect((await undiciFetch(`${url}/health`)).status).toBe(200)
  })

  test('a slow body is waited for', async () => {
    const { url, mock } = await startServer()
    const body = JSON.stringify(CHARGE)
    const { hostname, port } = new URL(url)
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `POST /api/v1/mfs/charges HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer mock-api-key\r\nIdempotency-Key: k\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
        )
        let sent = 0
        const next = (): void => {
          socket.write(body.slice(sent, sent + 10), () => setImmediate(next))
          sent += 10
          if (sent >= body.length) socket.off('drain', next)
        }
        next()
      })
      let text = ''
      socket.on('data', (part) => {
        text += part.toString()
      })
      socket.on('close', () => resolve(text)).on('error', reject)
    })
    expect(answer).toMatch(/^HTTP\/1\.1 202 /)
    expect(mock.state.charges()).toHaveLength(1)
  })
})

describe('the options of the server', () => {
  test('an IPv6 host stands in brackets, and its pages work', async () => {
    const { url, mock } = await startServer({ host: '::1' })
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await undiciFetch(`${url}/health`)).status).toBe(200)
    mock.add({
      subscriptions: [
        {
          request: { start: '2026-12-01', end: '2027-12-01', cycle: 'DAILY', amount: '5' },
          invoiceId: 'invoice',
          authorizedAt: false,
        },
      ],
    })
    const answer = await undiciFetch(`${url}/authorize/invoice`, {
      method: 'POST',
      headers: { Origin: url },
      body: new URLSearchParams({ decision: 'authorize' }),
      redirect: 'manual',
    })
    expect(answer.status).toBe(303)
  })

  test.each<[object, RegExp]>([
    [{ port: -1 }, /options\.port must be a port/],
    [{ port: 70_000 }, /options\.port/],
    [{ port: '8080' }, /options\.port/],
    [{ port: 80.5 }, /options\.port/],
    [{ host: '' }, /options\.host/],
    [{ host: 5 }, /options\.host/],
    [{ mock: 'mock' }, /options\.mock must be a mock that createMock made/],
    [{ mock: {} }, /createMock/],
    [{ panel: 'no' }, /options\.panel/],
    [{ maxBodyBytes: 0 }, /options\.maxBodyBytes/],
    [{ tls: true }, /options\.tls/],
    [{ tls: { cert: localhostCertificate.cert } }, /options\.tls\.key/],
    [{ tls: { ...localhostCertificate, ca: localhostCertificate.cert } }, /options\.tls\.ca does not exist/],
    [{ prot: 8080 }, /options\.prot does not exist; there are port, host/],
    [
      { clock: new Date(0) },
      /options\.clock is an option of the mock: give it to createMock and pass mock\./,
    ],
    [{ gateway: {} }, /options\.gateway .* createMock and pass mock\./],
    [null as never, /options must be an object/],
    [createMock(), /options\.fetch does not exist; there are port, host, mock/],
  ])('one that makes no sense is refused by name: %o', async (options, words) => {
    await expect(startMockServer(options)).rejects.toThrow(words)
  })
})
