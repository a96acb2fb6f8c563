import { describe, expect, it } from 'vitest'
import type { FetchFunction } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, errorOf, gatewayClient } from './clients.ts'

const bytes = () => new TextEncoder().encode(JSON.stringify(CHARGE)).buffer

const answering = (answer: unknown): FetchFunction => (async () => answer) as FetchFunction
const throwing =
  (thrown: unknown): FetchFunction =>
  async () => {
    throw thrown
  }
const answer = (more: object) => ({
  status: 202,
  headers: new Headers(),
  arrayBuffer: async () => bytes(),
  ...more,
})
const failing = (): never => {
  throw new Error('not to be looked at')
}
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const holdingEachOther = () => {
  const error = Object.assign(new Error('x'), { code: 'ECONNREFUSED', errors: [] as unknown[] })
  for (let count = 0; count < 200; count += 1) error.errors.push(error)
  return error
}

describe('a given fetch', () => {
  it.each<[string, FetchFunction]>([
    ['resolves to null', answering(null)],
    ['resolves to a number', answering(5)],
    ['resolves to what has no status', answering(answer({ status: undefined }))],
    ['resolves to a status that is no number', answering(answer({ status: Number.NaN }))],
    ['resolves to a status in text', answering(answer({ status: '202' }))],
    [
      'resolves to what throws when it is looked at',
      answering({
        get status() {
          return failing()
        },
      }),
    ],
    ['resolves to headers that cannot be read', answering(answer({ headers: { get: () => null } }))],
    ['resolves to headers that throw', answering(answer({ headers: { get: failing, forEach: failing } }))],
    ['resolves to a body that is no body', answering(answer({ arrayBuffer: async () => 'text' }))],
    [
      'throws what throws when it is looked at',
      throwing({
        get code() {
          return failing()
        },
      }),
    ],
    ['throws what was revoked', throwing(revoked())],
    ['throws errors that hold each other', throwing(holdingEachOther())],
    ['throws nothing', throwing(undefined)],
  ])('that %s ends the call at once, without a claim of what happened', async (_, fetch) => {
    const gateway = gatewayClient('http://gateway.example', { fetch, retry: false })
    const error = await errorOf(gateway.charge(CHARGE_REQUEST, { totalTimeout: 20_000 }))
    expect(error).toMatchObject({ code: 'connection_failed', outcome: 'unknown', attempts: 1 })
  })

  it('that gives headers which are no text is read all the same', async () => {
    const headers = {
      get: () => null,
      forEach: (visit: (value: unknown, name: string) => void) => visit(7, 'X-RateLimit-Remaining'),
    }
    const gateway = gatewayClient('http://gateway.example', { fetch: answering(answer({ headers })) })
    const { response } = await gateway.charge(CHARGE_REQUEST).withResponse()
    expect(response.rateLimit).toEqual({ remaining: 7 })
  })
})
