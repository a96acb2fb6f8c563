import { createServer } from 'node:tls'
import { Agent, fetch as undiciFetch } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { FetchFunction, FetchRequest, MandateKitError } from '../../src/index.ts'
import { CHARGE_REQUEST } from '../support/bodies.ts'
import { expiredCertificate, localhostCertificate } from '../support/certificates.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { open } from '../support/serve.ts'
import { viaHttps } from './https-fetch.ts'

/** A TLS server that counts the connections and keeps what arrives on them, decrypted. */
const startRecorder = async (certificate: typeof localhostCertificate) => {
  const received: Buffer[] = []
  let connections = 0
  const server = createServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
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

const FETCHES: readonly (readonly [string, FetchFunction | undefined])[] = [
  ['the platform’s', undefined],
  ['undici’s', undiciFetch],
  ['undici’s with HTTP/2', viaUndici(true)],
  ['one made of node:https', viaHttps({})],
]

const { cert } = localhostCertificate
const REFUSED: readonly (readonly [string, typeof localhostCertificate, object, string])[] = [
  ['nobody vouches for', localhostCertificate, {}, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['has expired', expiredCertificate, { ca: expiredCertificate.cert }, 'CERT_HAS_EXPIRED'],
  [
    'is of another host',
    localhostCertificate,
    { ca: cert, servername: 'other.example' },
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ],
]

const refusal = (reason: string): Partial<MandateKitError> & { reason: string } => ({
  code: 'connection_failed',
  outcome: 'not-sent',
  retryable: false,
  attempts: 1,
  reason,
})

describe('a server whose certificate', () => {
  describe.each(REFUSED)('%s', (_, certificate, connect, reason) => {
    it.each([
      ['undici’s fetch', viaUndici(false, connect)],
      ['undici’s fetch with HTTP/2', viaUndici(true, connect)],
      ['a fetch made of node:https', viaHttps(connect)],
    ] as const)('gets no byte of a charge from %s, and the charge is not sent again', async (__, fetch) => {
      const recorder = await startRecorder(certificate)
      const error = await errorOf(gatewayClient(recorder.url, { fetch }).charge(CHARGE_REQUEST))
      expect(error).toMatchObject(refusal(reason))
      expect(error.message).toMatch(new RegExp(`certificate.*${reason}`))
      expect([recorder.connections(), recorder.bytes()]).toEqual([1, 0])
    })
  })

  it.each(FETCHES)(
    'is refused gets no byte from %s fetch, of a login as little as of a call',
    async (_, fetch) => {
      const recorder = await startRecorder(localhostCertificate)
      const client = subscriptionsClient(recorder.url, fetch && { fetch })
      expect(await errorOf(client.login())).toMatchObject(refusal('DEPTH_ZERO_SELF_SIGNED_CERT'))
      expect(await errorOf(client.cancel('sub-1'))).toMatchObject({ phase: 'login', outcome: 'not-sent' })
      expect([recorder.connections(), recorder.bytes()]).toEqual([2, 0])
    },
  )

  it('is accepted gets the charge: the recorder would show a byte that was sent', async () => {
    for (const fetch of [
      viaUndici(false, { ca: cert }),
      viaUndici(true, { ca: cert }),
      viaHttps({ ca: cert }),
    ]) {
      const recorder = await startRecorder(localhostCertificate)
      const options = { fetch, retry: false } as const
      expect(await errorOf(gatewayClient(recorder.url, options).reset())).toMatchObject({
        outcome: 'unknown',
      })
      expect(recorder.bytes()).toBeGreaterThan(0)
    }
  })

  it('is refused after an answer has begun has received the request', async () => {
    const cause = Object.assign(new Error('x'), { code: 'CERT_HAS_EXPIRED' })
    const fetch = async () => ({
      status: 200,
      headers: new Headers(),
      text: () => Promise.reject(cause),
    })
    expect(await errorOf(gatewayClient('https://g.example', { fetch }).reset())).toMatchObject({
      outcome: 'unknown',
    })
  })

  it('is not what a failure of TLS tells of: a request may have arrived before it', async () => {
    for (const code of [
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      'CERT_X',
    ]) {
      const fetch = () => Promise.reject(Object.assign(new Error('x'), { code }))
      const error = await errorOf(gatewayClient('https://g.example', { fetch }).reset())
      expect(error).toMatchObject({ outcome: 'unknown', reason: code })
    }
  })
})
