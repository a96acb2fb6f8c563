import { createServer } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import fc from 'fast-check'
import { EnvHttpProxyAgent, ProxyAgent, fetch as undiciFetch } from 'undici'
import { describe, expect, it } from 'vitest'
import type { FetchFunction } from '../../src/index.ts'
import { CHARGE_REQUEST } from '../support/bodies.ts'
import { errorOf, gatewayClient } from '../support/clients.ts'
import { calls, failureOf } from '../support/open-clients.ts'
import { open } from '../support/serve.ts'

const coded = (code: string, more: object = {}) => Object.assign(new Error('text'), { code, ...more })
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause })
const several = (errors: Error[], code?: string) =>
  fetchFailed(Object.assign(new AggregateError(errors, 'all failed'), code === undefined ? {} : { code }))

/** The error of a charge through such a fetch. */
const failureThrough = (fetch: FetchFunction) => failureOf({}, calls.charge, { retry: false, fetch })
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
    ['with an aggregate that hides an error without a code', several([new Error('x')], 'ECONNREFUSED')],
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
  const openThenClose = (socket: Socket) => {
    socket.write('HTTP/1.1 200 Established\r\n\r\n')
    socket.once('data', () => socket.destroy())
  }

  /** The error of a charge through a proxy that answers CONNECT in such a way. */
  const throughProxy = async (onConnect: (socket: Socket) => unknown, isFromEnvironment = false) => {
    const server = createServer()
    server.on('connect', (_, socket) => void onConnect(socket as Socket))
    const address = `http://127.0.0.1:${await open(server)}`
    const dispatcher = isFromEnvironment
      ? new EnvHttpProxyAgent({ httpsProxy: address, noProxy: '' })
      : new ProxyAgent(address)
    const fetch: FetchFunction = (url, request) => undiciFetch(url, { ...request, dispatcher })
    const gateway = gatewayClient('https://api.example', { fetch, retry: false })
    const error = await errorOf(gateway.charge(CHARGE_REQUEST))
    await dispatcher.destroy()
    return error
  }

  it.each<[string, (socket: Socket) => unknown, named: string, fromEnvironment?: boolean]>([
    ['a proxy demands a password', refusal(407), 'Proxy response (407)'],
    ['a proxy reaches no server', refusal(502), 'Proxy response (502)'],
    ['a proxy of the environment reaches no server', refusal(503), 'Proxy response (503)', true],
    ['a proxy hangs up', hangUp, 'Proxy Connection failed'],
    ['a proxy closes its tunnel before TLS', openThenClose, 'ECONNRESET'],
  ])('%s', async (_, onConnect, named, isFromEnvironment) => {
    const error = await throughProxy(onConnect, isFromEnvironment)
    expect(error).toMatchObject({ ...unsent, reason: named })
    expect(error.message).toContain(named)
  })

  it('a server closes the connection before TLS', async () => {
    const port = await open(createTcpServer((socket) => socket.once('data', () => socket.destroy())))
    const gateway = gatewayClient(`https://127.0.0.1:${port}`, { retry: false })
    expect(await errorOf(gateway.charge(CHARGE_REQUEST))).toMatchObject({ ...unsent, reason: 'ECONNRESET' })
  })

  it('a proxy for http demands a password', async () => {
    const server = createServer((_, response) => void response.writeHead(407).end())
    const dispatcher = new ProxyAgent({ uri: `http://127.0.0.1:${await open(server)}`, proxyTunnel: false })
    const fetch: FetchFunction = (url, request) => undiciFetch(url, { ...request, dispatcher })
    const error = await errorOf(gatewayClient('http://api.example', { fetch, retry: false }).reset())
    expect(error).toMatchObject({ ...unsent, reason: 'Proxy Authentication Required (407)' })
    await dispatcher.destroy()
  })

  it('the runtime blocks the port', async () => {
    const error = await errorOf(gatewayClient('http://127.0.0.1:9', { retry: false }).charge(CHARGE_REQUEST))
    expect(error).toMatchObject({ ...unsent, reason: 'bad port' })
    expect(error.message).toContain('bad port')
  })
})

it.each([
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED/116',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE.42',
  'EPROTO-x',
])('case 77: the error names the code %s', async (code) => {
  expect(await failing(fetchFailed(coded(code)))).toMatchObject({ reason: code })
})
