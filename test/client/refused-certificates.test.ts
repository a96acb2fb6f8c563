import { request as httpsRequest, type RequestOptions } from 'node:https'
import { createServer } from 'node:tls'
import { Agent, fetch as undiciFetch } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { FetchFunction, FetchRequest, MandateKitError } from '../../src/index.ts'
import { CHARGE_REQUEST } from '../support/bodies.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { errorOf, gatewayClient } from '../support/clients.ts'
import { open } from '../support/serve.ts'

/** A TLS server that counts the connections and keeps what arrives on them, decrypted. */
const startRecorder = async () => {
  const received: Buffer[] = []
  let connections = 0
  const server = createServer({ ...localhostCertificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
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
      const sent = httpsRequest(url, { agent: false, ...options, method, headers, signal }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 500 })),
        )
      })
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

const OTHER_HOST = { ca: cert, servername: 'other.example' }
const REFUSED = [
  ['is self-signed', {}, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['belongs to another host', OTHER_HOST, 'ERR_TLS_CERT_ALTNAME_INVALID'],
] as const

const refusal = (reason: string): Partial<MandateKitError> & { reason: string } => ({
  code: 'connection_failed',
  outcome: 'not-sent',
  retryable: false,
  attempts: 1,
  reason,
})

describe('a server whose certificate', () => {
  describe.each(REFUSED)('%s', (_, connect, reason) => {
    it.each(FETCHES)(
      'receives no byte of a charge from %s, and the client does not retry',
      async (__, via) => {
        const recorder = await startRecorder()
        const error = await errorOf(
          gatewayClient(recorder.url, { fetch: via(connect) }).charge(CHARGE_REQUEST),
        )
        expect(error).toMatchObject(refusal(reason))
        expect(error.message).toMatch(new RegExp(`certificate.*${reason}`))
        expect([recorder.connections(), recorder.bytes()]).toEqual([1, 0])
      },
    )
  })

  it.each(FETCHES)(
    'is accepted receives the request from %s: the recorder shows its bytes',
    async (_, via) => {
      const recorder = await startRecorder()
      const client = gatewayClient(recorder.url, { fetch: via({ ca: cert }), retry: false })
      expect(await errorOf(client.reset())).toMatchObject({ outcome: 'unknown' })
      expect(recorder.bytes()).toBeGreaterThan(0)
    },
  )
})
