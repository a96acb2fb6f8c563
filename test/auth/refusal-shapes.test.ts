import { describe, expect, it } from 'vitest'
import { errorOf } from '../support/clients.ts'
import type { Script } from '../support/scripted-server.ts'
import { api, clock, merchant, useTokenServer } from '../support/token-set-up.ts'

useTokenServer()

const html = { 'content-type': 'text/html' }
const token = (fields: object) => ({ token_type: 'Bearer', expires_in: 3600, ...fields })

// Node's fetch reports a 407 as a failed connection, so the table has none. (Fetch standard, HTTP-network-or-cache fetch)

/** Responses to a token request with wrong credentials, in the shapes that servers and proxies give them. */
const shapes: Readonly<Record<string, Script>> = {
  '401 with a code': { status: 401, body: { errorCode: '401', errorMessage: 'Unauthorized' } },
  '400 of OAuth': { status: 400, body: { error: 'invalid_grant', error_description: 'no' } },
  '403 with a code': { status: 403, body: { errorCode: '403', errorMessage: 'Locked' } },
  '403 of a firewall': { status: 403, body: '<h1>Forbidden</h1>', headers: html },
  '404 with a page': { status: 404, body: '<h1>Not found</h1>', headers: html },
  '429 without Retry-After': { status: 429, body: {} },
  '200 with a code': { status: 200, body: { errorCode: '17', errorMessage: 'Wrong' } },
  '200 with success: false': { status: 200, body: { success: false } },
  '200 with a page': { status: 200, body: '<form action="/login">', headers: html },
  '200 with half of the JSON': { status: 200, body: '{"errorCode":"17","errorMes' },
  '200 with a token of two lines': { status: 200, body: token({ access_token: 'a\nb' }) },
  '204': { status: 204, body: '' },
  '302 to a login page': { status: 302, body: '', headers: { location: '/login' } },
  '500 with a code': { status: 500, body: { errorCode: '17', errorMessage: 'Wrong' } },
  '503 without Retry-After': { status: 503, body: '' },
}

// Each call has less time than any pause between token requests: it must not wait for a third request.
const options = { totalTimeout: 5_000 }

describe.each(Object.entries(shapes))('case 55: a login that is answered %s', (_, shape) => {
  const refuse = () => {
    api.onToken = () => shape
    const { client } = merchant()
    const details = () => client.details('sub-1', options)
    return { details, call: () => errorOf(details()) }
  }

  it('is at most two token requests for five calls, one after the other', async () => {
    const { call } = refuse()
    for (let count = 0; count < 5; count += 1) expect(await call()).toMatchObject({ outcome: 'not-sent' })
    expect(api.tokenRequests.length).toBeLessThanOrEqual(2)
    expect(api.calls).toEqual([])
  })

  it('is at most two token requests for five parallel calls', async () => {
    const { call } = refuse()
    await Promise.all([call(), call(), call(), call(), call()])
    expect(api.tokenRequests.length).toBeLessThanOrEqual(2)
  })

  it('is no longer in the way after 15 minutes', async () => {
    const { call, details } = refuse()
    await call()
    api.grant()
    clock.jump(900_000)
    await details()
  })
})

it.each<Script>([
  { status: 400, body: { error: 'invalid_grant' } },
  { status: 400, body: { errorCode: '07', errorMessage: 'Wrong' } },
  { status: 401, body: '' },
  { status: 403, body: { errorCode: '403', errorMessage: 'Locked' } },
])('a short Retry-After does not shorten the pause after a login that was rejected: %o', async (shape) => {
  api.onToken = () => ({ ...shape, headers: { 'retry-after': '5' } })
  const { details } = merchant()
  const rejected = await errorOf(details())
  expect(rejected).toMatchObject({ retryable: false, retryAfterMs: 900_000 })
  for (let count = 0; count < 8; count += 1) {
    clock.jump(100_000)
    expect(await errorOf(details())).toMatchObject({ attempts: 0, code: rejected.code })
  }
  expect(api.tokenRequests).toHaveLength(1)
  clock.jump(100_000)
  await errorOf(details())
  expect(api.tokenRequests).toHaveLength(2)
})
