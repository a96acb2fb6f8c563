import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyNetworkFailure } from '../../src/transport/network-failure.ts'

const coded = (code: string, more: object = {}) => Object.assign(new Error('text'), { code, ...more })
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause })

describe('a request was surely not sent', () => {
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
  ])('%s', (_, error) => {
    expect(classifyNetworkFailure(error)).toMatchObject({ surelyNotSent: true, reason: expect.any(String) })
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
  ])('%s', (_, error) => {
    expect(classifyNetworkFailure(error).surelyNotSent).toBe(false)
  })

  it('whatever is thrown, classifying it neither fails nor claims a proof', () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        expect(classifyNetworkFailure(thrown).surelyNotSent).toBe(false)
      }),
    )
  })

  it('a circle of causes ends', () => {
    const error = coded('ECONNRESET')
    error.cause = error
    expect(classifyNetworkFailure(error)).toMatchObject({ surelyNotSent: false, reason: 'ECONNRESET' })
  })
})
