import { describe, expect, it } from 'vitest'
import { createMemoryTokenStore } from '../../src/index.ts'
import { errorOf } from '../support/clients.ts'
import type { Script } from '../support/scripted-server.ts'
import { api, clock, merchant, useTokenServer } from '../support/token-set-up.ts'

useTokenServer()

const html = { 'content-type': 'text/html' }
const coded = { errorCode: '17', errorMessage: 'no' }
const lines = { token_type: 'Bearer', expires_in: 3600, access_token: 'a\nb' }
const wrong = { error: { code: 'invalid_credentials', message: 'no' } }
const grant = { error: 'invalid_grant', error_description: 'no' }
const HOUR = 3_600_000

type Shape = readonly [name: string, code: string, response: Script]

// Node's fetch reports a 407 as a failed connection, so the tables have none. (Fetch standard, HTTP-network-or-cache fetch)

/** Responses that reject the credentials: a further login could lock the account. */
const REJECTIONS: readonly Shape[] = [
  ['401 with a code', 'authentication_failed', { status: 401, body: coded }],
  ['401 without a code', 'authentication_failed', { status: 401 }],
  ['400 with a code', 'api_error', { status: 400, body: coded }],
  ['400 of OAuth', 'api_error', { status: 400, body: grant }],
  ['403 with a code', 'locked_out', { status: 403, body: coded }],
  ['200 with a code', 'api_error', { status: 200, body: coded }],
  ['200 of OAuth', 'api_error', { status: 200, body: grant }],
]

/** Responses without a token that say nothing about the credentials. */
const PAUSES: readonly Shape[] = [
  ['a 403 of a firewall', 'api_error', { status: 403, body: '<h1>Forbidden</h1>', headers: html }],
  ['a 403 of a framework', 'api_error', { status: 403, body: { message: 'Forbidden' } }],
  ['case 54: a 404 page', 'api_error', { status: 404, body: '<h1>Not here</h1>', headers: html }],
  ['case 54: a 404 with a code', 'api_error', { status: 404, body: coded }],
  ['a 429 without a time', 'rate_limited', { status: 429, body: {} }],
  ['case 55: 200 with success: false', 'unexpected_response', { body: { success: false } }],
  ['200 with an error object', 'api_error', { body: wrong }],
  ['200 with a page', 'unexpected_response', { body: '<form action="/login">', headers: html }],
  ['200 with half of the JSON', 'unexpected_response', { body: '{"errorCode":"17","errorMes' }],
  ['200 with a token of two lines', 'unexpected_response', { body: lines }],
  ['204', 'unexpected_response', { status: 204 }],
  ['302 to a login page', 'unexpected_response', { status: 302, headers: { location: '/login' } }],
  ['case 55: a 500 with a code', 'api_error', { status: 500, body: coded }],
  ['case 10: a 500 with a page', 'api_error', { status: 500, body: '<h1>Oops</h1>', headers: html }],
  ['a 503 without Retry-After', 'api_error', { status: 503 }],
]

/** Calls of two clients with one store, at the same time and later. All fail alike after one token request. */
const fleetFails = async ([, code, response]: Shape, expected: object) => {
  api.onToken = () => response
  const tokenStore = createMemoryTokenStore()
  const [one, other] = [merchant({ tokenStore }), merchant({ tokenStore })]
  const errors = await Promise.all([one, one, other, other, one].map(({ details }) => errorOf(details())))
  for (const { details } of [one, other, one, other, one]) errors.push(await errorOf(details()))
  const facts = { code, status: response.status ?? 200, phase: 'login', outcome: 'not-sent', attempts: 0 }
  for (const error of errors) expect(error).toMatchObject({ ...facts, ...expected, name: errors[0]?.name })
  expect(api.tokenRequests).toHaveLength(1)
  expect(api.calls).toEqual([])
  return { one, other, errors }
}

describe.each(REJECTIONS)('case 5: a login that is answered %s', (...shape) => {
  it('is one token request in 15 minutes for all calls of a fleet, also when a Retry-After is shorter', async () => {
    const { body } = shape[2]
    const own = body === coded ? { errorCode: '17' } : {}
    const named: Script = { ...shape[2], headers: { 'retry-after': '5' } }
    const rejected = { retryable: false, retryAfterMs: 900_000, ...own }
    const { one, other } = await fleetFails([shape[0], shape[1], named], rejected)
    clock.jump(899_999)
    expect(await errorOf(other.details())).toMatchObject({ code: shape[1], attempts: 0 })
    expect(api.tokenRequests).toHaveLength(1)
    clock.jump(1)
    api.grant()
    await Promise.all([one.details(), other.details()])
    expect(api.tokenRequests).toHaveLength(2)
  })
})

describe.each(PAUSES)('cases 55 and 94: a login that is answered %s', (...shape) => {
  it('pauses the logins of a fleet for 10 s, and speaks of no locked account', async () => {
    const { one, other, errors } = await fleetFails(shape, { retryable: true, retryAfterMs: 10_000 })
    for (const { code, message } of errors) expect(`${code} ${message}`).not.toMatch(/lock/i)
    clock.jump(10_000)
    api.grant()
    await Promise.all([one.details(), other.details()])
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('doubles the pause up to 15 minutes, and a login ends it', async () => {
    api.onToken = (_request, index) => (index === 10 ? { body: api.tokenBody(index) } : shape[2])
    const { details } = merchant()
    const later = () => errorOf(details())
    for (const pause of [1, 2, 4, 8, 16, 32, 64, 90, 90].map((pause) => pause * 10_000)) {
      await later()
      expect(await later()).toMatchObject({ retryAfterMs: pause })
      clock.jump(pause)
    }
    await details()
    clock.jump(HOUR)
    await later()
    expect(await later()).toMatchObject({ retryAfterMs: 10_000 })
    expect(api.tokenRequests).toHaveLength(11)
  })
})
