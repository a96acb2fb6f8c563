import { createServer } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import fc from 'fast-check'
import { Agent, type Dispatcher, EnvHttpProxyAgent, ProxyAgent, fetch as undiciFetch } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { FetchFunction, FetchRequest } from '../../src/index.ts'
import { CHARGE_REQUEST } from '../support/bodies.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { errorOf, gatewayClient } from '../support/clients.ts'
import { calls, failureOf, once } from '../support/open-clients.ts'
import { open } from '../support/serve.ts'

const coded = (code: string, more: object = {}) => Object.assign(new Error('text'), { code, ...more })
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause })
const several = (errors: Error[], code?: string) =>
  fetchFailed(Object.assign(new AggregateError(errors, 'all failed'), code === undefined ? {} : { code }))

/** The error of a charge through such a fetch. */
const failureThrough = (fetch: FetchFunction) => failureOf({}, calls.charge, { ...once, fetch })
const failing = (thrown: unknown) => failureThrough(() => Promise.reject(thrown))

const ECONNREFUSED = coded('ECONNREFUSED')
const unsent = { code: 'connection_failed', outcome: 'not-sent' }
const unknown = { code: 'connection_failed', outcome: 'unknown', attempts: 1 }

it.each([
  ['the connection was refused', fetchFailed(ECONNREFUSED)],
  ['the host is unknown', fetchFailed(coded('ENOTFOUND'))],
  ['the name server is down', fetchFailed(coded('EAI_AGAIN'))],
  ['connecting took too long', fetchFailed(coded('UND_ERR_CONNECT_TIMEOUT'))],
  ['the certificate was refused', fetchFailed(coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'))],
  ['the certificate has expired', fetchFailed(coded('CERT_HAS_EXPIRED'))],
  ['the host was unreachable', fetchFailed(coded('EHOSTUNREACH', { syscall: 'connect' }))],
  ['the connection was refused, with the code on the error itself', ECONNREFUSED],
  [
    'every address refused the connection',
    several([ECONNREFUSED, coded('ETIMEDOUT', { syscall: 'connect' })], 'ECONNREFUSED'),
  ],
])('a request was not sent when fetch fails because %s', async (_, thrown) => {
  expect(await failing(thrown)).toMatchObject(unsent)
})

describe('a request may have been sent when fetch fails', () => {
  const circle = coded('ECONNRESET')
  circle.cause = circle

  it.each([
    ['because the connection was reset', fetchFailed(coded('ECONNRESET'))],
    ['because the socket closed', fetchFailed(coded('UND_ERR_SOCKET'))],
    ['because the host became unreachable', fetchFailed(coded('EHOSTUNREACH', { syscall: 'read' }))],
    ['because of two addresses, of which one reset', several([ECONNREFUSED, coded('ECONNRESET')])],
    [
      'with an aggregate that hides one without a code',
      several([ECONNREFUSED, new Error('x')], 'ECONNREFUSED'),
    ],
    ['because a certificate was refused after a reset', several([circle, coded('CERT_HAS_EXPIRED')])],
    ['because TLS failed', fetchFailed(coded('ERR_SSL_WRONG_VERSION_NUMBER'))],
    ['because the server demands a certificate', coded('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED')],
    ['with a code that only resembles one', coded('CERT_X')],
    ['with a wrapper around a refused connection', coded('ECONNRESET', { cause: ECONNREFUSED })],
    ['with a code that is a header', fetchFailed({ code: 'Bearer secret' })],
    ['with a circle of causes', circle],
    ['because the request was aborted', coded('UND_ERR_ABORTED')],
    ['with a text that only resembles one', new Error('bad ports')],
    ['without a reason', undefined],
  ])('%s', async (_, thrown) => {
    expect(await failing(thrown)).toMatchObject(unknown)
  })

  it('with any value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (thrown) => {
        expect(await failing(thrown)).toMatchObject(unknown)
      }),
      { numRuns: 50 },
    )
  })

  it.each([coded('ECONNREFUSED', { syscall: 'connect' }), coded('CERT_HAS_EXPIRED')])(
    'with %s after the response has begun',
    async (thrown) => {
      const text = () => Promise.reject(thrown)
      const fetch = async () => ({ status: 200, headers: new Headers(), text })
      expect(await failureThrough(fetch)).toMatchObject(unknown)
    },
  )
})

describe('the outcome is unknown when a given fetch resolves to', () => {
  const response = { status: 202, headers: new Headers(), text: async () => '{}' }
  it.each([
    ['null', null],
    ['text', 'ok'],
    ['an object without a status', { ...response, status: undefined }],
    ['a status that is not a number', { ...response, status: Number.NaN }],
    ['a status in text', { ...response, status: '202' }],
    ['a body that cannot be read', { ...response, text: undefined }],
  ])('%s', async (_, resolved) => {
    expect(await failureThrough((async () => resolved) as FetchFunction)).toMatchObject(unknown)
  })
})

describe('case 107: nothing was sent, and the error names the reason, when', () => {
  const refusal = (status: number) => (socket: Socket) =>
    socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\n\r\n`)
  const hangUp = (socket: Socket) => socket.destroy()
  const closeOnData = (socket: Socket) => socket.once('data', hangUp.bind(null, socket))
  const openThenClose = (socket: Socket) => {
    socket.write('HTTP/1.1 200 Established\r\n\r\n')
    closeOnData(socket)
  }
  const tunnel = (uri: string) => new ProxyAgent(uri)
  const ofEnvironment = (httpsProxy: string) => new EnvHttpProxyAgent({ httpsProxy, noProxy: '' })
  const forHttp = (uri: string) => new ProxyAgent({ uri, proxyTunnel: false })

  it.each<
    [
      string,
      (uri: string) => Dispatcher,
      onConnect: (socket: Socket) => unknown,
      named: string,
      scheme?: string,
    ]
  >([
    ['a proxy demands a password', tunnel, refusal(407), 'Proxy response (407)'],
    ['a proxy reaches no server', tunnel, refusal(502), 'Proxy response (502)'],
    ['a proxy of the environment reaches no server', ofEnvironment, refusal(503), 'Proxy response (503)'],
    ['a proxy hangs up', tunnel, hangUp, 'Proxy Connection failed'],
    ['a proxy closes its tunnel before TLS', tunnel, openThenClose, 'ECONNRESET'],
    ['a proxy for http demands a password', forHttp, hangUp, 'Proxy Authentication Required (407)', 'http'],
  ])('%s', async (_, agent, onConnect, named, scheme = 'https') => {
    const server = createServer((__, response) => void response.writeHead(407).end())
    server.on('connect', (__, socket) => void onConnect(socket as Socket))
    const dispatcher = agent(`http://127.0.0.1:${await open(server)}`)
    const fetch: FetchFunction = (url, request) => undiciFetch(url, { ...request, dispatcher })
    const error = await errorOf(
      gatewayClient(`${scheme}://api.example`, { fetch, ...once }).charge(CHARGE_REQUEST),
    )
    expect(error).toMatchObject({ ...unsent, reason: named, message: expect.stringContaining(named) })
    await dispatcher.destroy()
  })

  it('a server closes the connection before TLS, or the runtime blocks the port', async () => {
    const port = await open(createTcpServer((socket) => void closeOnData(socket)))
    for (const [url, reason] of [
      [`https://127.0.0.1:${port}`, 'ECONNRESET'],
      ['http://127.0.0.1:9', 'bad port'],
    ] as const) {
      const error = await errorOf(gatewayClient(url, once).charge(CHARGE_REQUEST))
      expect(error).toMatchObject({ ...unsent, reason, message: expect.stringContaining(reason) })
    }
  })
})

it.each([
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED/116',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE.42',
  'EPROTO-x',
])('case 77: the error names the code %s', async (code) => {
  expect(await failing(fetchFailed(coded(code)))).toMatchObject({ reason: code })
})

/** A TLS server that counts the connections and keeps what arrives on them, decrypted. */
const startRecorder = async () => {
  const received: Buffer[] = []
  let connections = 0
  const server = createTlsServer({ ...localhostCertificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => {
      received.push(bytes)
      socket.destroy()
    })
  })
  server.on('connection', () => {
    connections += 1
  })
  return {
    url: `https://127.0.0.1:${await open(server)}`,
    connections: () => connections,
    bytes: () => received.reduce((sum, { length }) => sum + length, 0),
  }
}

const viaUndici =
  (allowH2: boolean, connect: object = {}): FetchFunction =>
  async (url: string, request: FetchRequest) => {
    const dispatcher = new Agent({ allowH2, connect })
    onTestFinished(() => dispatcher.destroy())
    return undiciFetch(url, { ...request, dispatcher })
  }

/** A `fetch` made of node:https, which knows nothing of undici. */
const viaHttps =
  (options: RequestOptions): FetchFunction =>
  (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const sent = httpsRequest(url, { agent: false, ...options, method, headers, signal }, (answer) =>
        buffer(answer).then(
          (bytes) => resolve(new Response(bytes, { status: answer.statusCode ?? 500 })),
          reject,
        ),
      )
      sent.on('error', reject)
      sent.end(body instanceof ArrayBuffer ? new Uint8Array(body) : body)
    })

const { cert } = localhostCertificate

/** Implementations of fetch, each with its own TLS options. */
const FETCHES: readonly (readonly [string, (connect: object) => FetchFunction])[] = [
  ['the fetch of undici', (connect) => viaUndici(false, connect)],
  ['the fetch of undici with HTTP/2', (connect) => viaUndici(true, connect)],
  ['a fetch made of node:https', viaHttps],
]

const REFUSED = [
  ['is self-signed', {}, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['belongs to another host', { ca: cert, servername: 'other.example' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
] as const

describe.each(FETCHES)('through %s, a server whose certificate', (_, via) => {
  it.each(REFUSED)(
    '%s receives no byte of a charge, and the client does not retry',
    async (__, connect, reason) => {
      const recorder = await startRecorder()
      const error = await errorOf(gatewayClient(recorder.url, { fetch: via(connect) }).charge(CHARGE_REQUEST))
      expect(error).toMatchObject({ ...unsent, retryable: false, attempts: 1, reason })
      expect(error.message).toMatch(new RegExp(`certificate.*${reason}`))
      expect([recorder.connections(), recorder.bytes()]).toEqual([1, 0])
    },
  )

  it('is accepted receives the request: the recorder shows its bytes', async () => {
    const recorder = await startRecorder()
    const client = gatewayClient(recorder.url, { fetch: via({ ca: cert }), retry: false })
    expect(await errorOf(client.reset())).toMatchObject({ outcome: 'unknown' })
    expect(recorder.bytes()).toBeGreaterThan(0)
  })
})
