import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FetchFunction } from '../../src/index.ts'
import { calls, failureOf } from '../support/open-clients.ts'

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
