import { describe, expect, it } from 'vitest'
import type { FetchFunction } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST } from '../support/bodies.ts'
import { errorOf, gatewayClient } from '../support/clients.ts'

const answering = (answer: unknown): FetchFunction => (async () => answer) as FetchFunction
const throwing =
  (thrown: unknown): FetchFunction =>
  async () => {
    throw thrown
  }
const answer = (more: object) => ({
  status: 202,
  headers: new Headers(),
  text: async () => JSON.stringify(CHARGE),
  ...more,
})
describe('a given fetch', () => {
  it.each<[string, FetchFunction]>([
    ['resolves to null', answering(null)],
    ['resolves to a number', answering(5)],
    ['resolves to what has no status', answering(answer({ status: undefined }))],
    ['resolves to a status that is no number', answering(answer({ status: Number.NaN }))],
    ['resolves to a status in text', answering(answer({ status: '202' }))],
    ['resolves to a body that is no body', answering(answer({ text: undefined }))],
    ['throws nothing', throwing(undefined)],
  ])('that %s ends the call at once, without a claim of what happened', async (_, fetch) => {
    const gateway = gatewayClient('http://gateway.example', { fetch, retry: false })
    const error = await errorOf(gateway.charge(CHARGE_REQUEST, { totalTimeout: 20_000 }))
    expect(error).toMatchObject({ code: 'connection_failed', outcome: 'unknown', attempts: 1 })
  })
})
