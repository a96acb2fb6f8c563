import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHARGE_REQUEST } from '../support/bodies.ts'
import { errorOf, gatewayClient } from '../support/clients.ts'

const coded = (code: string, more: object = {}) => Object.assign(new Error('text'), { code, ...more })
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause })

/** The error of a charge whose attempt fails so. */
const failing = (thrown: unknown) =>
  errorOf(
    gatewayClient('https://g.example', { retry: false, fetch: () => Promise.reject(thrown) }).charge(
      CHARGE_REQUEST,
    ),
  )

describe('a request was not sent', () => {
  it.each([
    ['refused', fetchFailed(coded('ECONNREFUSED'))],
    ['unknown host', fetchFailed(coded('ENOTFOUND'))],
    ['name server down', fetchFailed(coded('EAI_AGAIN'))],
    ['connect timeout', fetchFailed(coded('UND_ERR_CONNECT_TIMEOUT'))],
    ['certificate refused', fetchFailed(coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'))],
    ['unreachable while connecting', fetchFailed(coded('EHOSTUNREACH', { syscall: 'connect' }))],
    ['the code on the error itself', coded('ECONNREFUSED')],
    [
      'every address refused',
      fetchFailed(
        Object.assign(
          new AggregateError(
            [coded('ECONNREFUSED'), coded('ETIMEDOUT', { syscall: 'connect' })],
            'all failed',
          ),
          {
            code: 'ECONNREFUSED',
          },
        ),
      ),
    ],
  ])('%s', async (_, thrown) => {
    expect(await failing(thrown)).toMatchObject({ code: 'connection_failed', outcome: 'not-sent' })
  })
})

describe('a request may have been sent', () => {
  it.each([
    ['reset', fetchFailed(coded('ECONNRESET'))],
    ['socket closed', fetchFailed(coded('UND_ERR_SOCKET'))],
    ['unreachable in the middle', fetchFailed(coded('EHOSTUNREACH', { syscall: 'read' }))],
    [
      'one address refused, the other reset',
      fetchFailed(new AggregateError([coded('ECONNREFUSED'), coded('ECONNRESET')], 'all failed')),
    ],
    [
      'an aggregate that hides an error without a code',
      fetchFailed(
        Object.assign(new AggregateError([new Error('x')], 'all failed'), { code: 'ECONNREFUSED' }),
      ),
    ],
    [
      'a certificate refused after a reset',
      fetchFailed(new AggregateError([coded('ECONNRESET'), coded('CERT_HAS_EXPIRED')], 'all failed')),
    ],
    ['TLS that broke', fetchFailed(coded('ERR_SSL_WRONG_VERSION_NUMBER'))],
    ['a wrapper whose first try was reset', coded('ECONNRESET', { cause: coded('ECONNREFUSED') })],
    ['a code that is no code', fetchFailed({ code: 'Bearer secret' })],
  ])('%s', async (_, thrown) => {
    expect(await failing(thrown)).toMatchObject({ code: 'connection_failed', outcome: 'unknown' })
  })

  it('whatever is thrown', async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (thrown) => {
        expect(await failing(thrown)).toMatchObject({ code: 'connection_failed', outcome: 'unknown' })
      }),
    )
  })

  it('a circle of causes ends', async () => {
    const error = coded('ECONNRESET')
    error.cause = error
    const failure = await failing(error)
    expect(failure).toMatchObject({ code: 'connection_failed', outcome: 'unknown' })
    expect(failure.message).toContain('ECONNRESET')
  })
})
