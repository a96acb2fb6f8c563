import { describe, expect, test } from 'vitest'
import type { MockOptions } from '../../mocks/options.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import type { OpenMerchant } from './merchant.ts'
import { openMerchant, REQUEST } from './merchant.ts'
import { throughFetch, transports } from './transports.ts'

const text = expect.any(String)

describe.each(transports)('requests that belong to no operation, through $name', (transport) => {
  const open = (options?: MockOptions) => openMerchant(transport, options)

  test('an unknown path is 404 in its area’s shape, and the log names the nearest route', async () => {
    const { mock, s, g } = await open()
    const ofS = await s('/api/v1.0/subscribes', { body: REQUEST })
    expect([ofS.status, ofS.json]).toEqual([404, { errorCode: '02', errorMessage: text }])
    expect(ofS.headers.get('x-ratelimit-limit')).toBe('600')
    const ofG = await g('/api/v1/mfs/charge', { body: CHARGE })
    expect([ofG.status, ofG.json]).toEqual([404, { error: { code: 'not_found', message: text } }])
    expect((await s('/auth/login', { body: { username: 'a', password: 'b' } })).status).toBe(404)
    expect(mock.requests.all().map(({ nearestRoute }) => nearestRoute)).toEqual([
      'POST /api/v1.0/subscribe',
      'POST /api/v1/mfs/charges',
      'POST /oauth/token',
    ])
    expect(mock.explain('gateway.charge')).toMatch(
      /no such request has arrived.*POST \/api\/v1\/mfs\/charge /,
    )
    expect(mock.state.charges()).toEqual([])
  })

  test('a wrong method is 405 with Allow', async () => {
    const { s, g } = await open()
    const ofS = await s('/api/v1.0/subscribe', { method: 'GET' })
    expect([ofS.status, ofS.headers.get('allow'), ofS.json]).toEqual([
      405,
      'POST',
      { errorCode: '01', errorMessage: text },
    ])
    const ofG = await g('/api/v1/reference', { method: 'DELETE' })
    expect([ofG.status, ofG.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await s('/api/v1.0/subscribe', { method: 'HEAD' })).status).toBe(405)
  })

  test('HEAD answers the headers of GET and no body', async () => {
    const { g } = await open()
    const answer = await g('/api/v1/reference', { method: 'HEAD' })
    expect([answer.status, answer.headers.get('content-type'), answer.text]).toEqual([
      200,
      'application/json',
      '',
    ])
  })

  test('malformed JSON is 400 and changes nothing; JSON is read whatever its label', async () => {
    const { mock, s, g, bearer, key } = await open()
    const headers = await bearer()
    for (const body of ['{"clientID":', '[1]', '"text"', 'clientID=1']) {
      const answer = await s('/api/v1.0/subscribe', { headers, body })
      expect([answer.status, answer.json]).toEqual([400, { errorCode: '01', errorMessage: text }])
    }
    const ofG = await g('/api/v1/mfs/charges', { headers: key('k'), body: '{' })
    expect([ofG.status, ofG.json]).toEqual([400, { error: { code: 'invalid_request', message: text } }])
    const labeled = { ...key('k'), 'Content-Type': 'text/plain' }
    expect([mock.state.charges(), mock.state.subscriptions()]).toEqual([[], []])
    const accepted = await g('/api/v1/mfs/charges', { headers: labeled, body: JSON.stringify(CHARGE) })
    expect(accepted.status).toBe(202)
  })

  test('calls without body fields accept no body, an empty one and {}', async () => {
    const { s, subscription } = await open()
    const { headers, subscriptionId } = await subscription()
    const path = `/api/v1.0/subscription/${subscriptionId}`
    const statuses = await Promise.all(
      [{ headers }, { headers, body: '' }, { headers, body: {} }].map(async (sending) => {
        const { status } = await s(path, sending)
        return status
      }),
    )
    expect(statuses).toEqual([200, 200, 200])
  })

  test('checks come in order: route, rate limit, authentication, headers, body, state', async () => {
    const { g, key } = await open({ gateway: { rateLimit: { limit: 4, windowMs: 60_000 } } })
    const path = '/api/v1/mfs/charges/ch_unknown/renew'
    const code = async (sending: Parameters<typeof g>[1]) => {
      const { status, json } = await g(path, sending)
      return [status, (json.error as { code: string }).code]
    }
    expect(await code({ body: '{' })).toEqual([401, 'unauthorized'])
    expect(await code({ headers: key(), body: '{' })).toEqual([400, 'missing_idempotency_key'])
    expect(await code({ headers: key('k'), body: '{' })).toEqual([400, 'invalid_request'])
    expect(await code({ headers: key('k'), body: { mandate_id: 'ch_unknown' } })).toEqual([404, 'not_found'])
    expect(await code({ body: '{' })).toEqual([429, 'rate_limited'])
    expect((await g('/api/v1/nothing')).status).toBe(404)
  })
})

describe('options of how refusals are worded', () => {
  let merchant: OpenMerchant
  const open = async (options?: MockOptions) => {
    merchant = await openMerchant(throughFetch, options)
    return merchant
  }
  const subscribe = async (fields: Record<string, unknown>) => {
    const { status, json } = await merchant.s('/api/v1.0/subscribe', {
      headers: await merchant.bearer(),
      body: { ...REQUEST, ...fields },
    })
    return [status, json.errorCode]
  }

  test('a refused field is 422 with code 01 by default', async () => {
    await open()
    expect(await subscribe({ cycle: 'MONTHLY' })).toEqual([422, '01'])
    expect(await subscribe({ amount: 25 })).toEqual([422, '01'])
    expect(await subscribe({ end: '2028-12-02' })).toEqual([422, '01'])
  })

  test('status and codes of refusals can be chosen', async () => {
    await open({
      rules: 'strict',
      subscriptions: {
        validationStatus: 400,
        notFoundStatus: 400,
        errorCodes: { invalid: 'E1', not_found: 'E2' },
      },
    })
    expect(await subscribe({ cycle: 'MONTHLY' })).toEqual([400, 'E1'])
    expect(await subscribe({ clientID: 'another' })).toEqual([400, '05'])
    expect(await subscribe({})).toEqual([200, '00'])
    expect(await subscribe({})).toEqual([409, '03'])
    const unknown = await merchant.s('/api/v1.0/subscription/none', { headers: await merchant.bearer() })
    expect([unknown.status, unknown.json.errorCode]).toEqual([400, 'E2'])
  })

  test('errorsAs200 answers refusals 200 with their code, but not 401, 403 and 429', async () => {
    await open({ subscriptions: { errorsAs200: true } })
    expect(await subscribe({ cycle: 'MONTHLY' })).toEqual([200, '01'])
    expect((await merchant.login({ password: 'wrong' })).status).toBe(401)
  })

  test('strict rules refuse other labels than JSON with 415', async () => {
    await open({ rules: 'strict' })
    const headers = { ...merchant.key('k'), 'Content-Type': 'text/plain' }
    const answer = await merchant.g('/api/v1/mfs/charges', { headers, body: JSON.stringify(CHARGE) })
    expect(answer.status).toBe(415)
    expect(merchant.mock.explain('gateway.charge')).toContain('gateway.contentType')
    expect((await merchant.charge('k')).status).toBe(202)
  })

  test('strict rules refuse a field in a body for which none is defined', async () => {
    const { mock, s, g, bearer, key } = await open({ rules: 'strict' })
    const headers = await bearer()
    const path = '/api/v1.0/subscription/nobody/cancel'
    const ofS = await s(path, { headers, body: { reason: 'too dear' } })
    expect([ofS.status, ofS.json.errorCode]).toEqual([422, '01'])
    expect(mock.explain('subscriptions.cancel')).toContain('Field: reason.')
    expect((await s(path, { headers, body: {} })).status).toBe(404)
    const ofG = await g('/api/v1/reset', { headers: key(), body: { all: true } })
    expect([ofG.status, ofG.json]).toMatchObject([400, { error: { code: 'invalid_request' } }])
    expect((await g('/api/v1/reset', { headers: key() })).status).toBe(200)
  })

  test('an area answers under a base with a path prefix, and another version prefix', async () => {
    await open({
      subscriptions: { baseUrl: 'https://api.example/pay/', apiPrefix: '/v2' },
      gateway: { baseUrl: 'https://api.example/pay/sandbox' },
    })
    const subscribed = await merchant.send('https://api.example/pay/v2/subscribe', {
      headers: await merchant.bearer(),
      body: REQUEST,
    })
    expect([subscribed.status, subscribed.json.url]).toEqual([
      200,
      `https://api.example/pay/authorize/${String(subscribed.json.invoiceID)}`,
    ])
    expect((await merchant.charge('k')).status).toBe(202)
    expect((await merchant.send('https://api.example/pay/sandbox/health', { method: 'GET' })).status).toBe(
      200,
    )
    expect(merchant.mock.clientOptions.subscriptions.apiPrefix).toBe('/v2')
  })

  test('variants change casing and types of successful answers', async () => {
    await open({
      subscriptions: { variant: ['id-casing', 'text-amounts', 'boolean-flags', 'text-ids', 'iso-dates'] },
    })
    const { status, subscribed } = await merchant.subscription()
    expect(subscribed.json).toHaveProperty('invoiceId')
    expect(status.json).toMatchObject({ invoiceID: expect.any(String), subscriptionID: expect.any(String) })
    const details = await merchant.s(`/api/v1.0/subscription/${String(status.json.subscriptionID)}`, {
      headers: await merchant.bearer(),
    })
    expect(details.json).toMatchObject({
      amount: '25.00',
      enabled: true,
      nextPaymentDate: expect.stringMatching(/T12:00:00$/),
    })
  })

  test.each<[MockOptions, RegExp]>([
    [{ subscriptions: { variant: ['casing' as 'id-casing'] } }, /variant.*id-casing/],
    [{ subscriptions: { baseUrl: 'api.example' } }, /subscriptions\.baseUrl/],
    [{ gateway: { baseUrl: 'https://api.example/?a=1' } }, /gateway\.baseUrl/],
    [{ gateway: { apiPrefix: '/v2/' } }, /gateway\.apiPrefix/],
    [{ gateway: { contentType: 'xml' as 'json' } }, /gateway\.contentType/],
    [{ logSize: 0 }, /logSize/],
    [{ rules: 'loose' as 'spec' }, /rules/],
    [{ color: 'red' } as MockOptions, /color/],
    [{ gateway: { otps: '1' } } as MockOptions, /gateway\.otps/],
    [{ subscriptions: { tokenTTL: 1 } } as MockOptions, /tokenTTL/],
  ])('an option that cannot be is refused by name: %o', async (options, words) => {
    await expect(openMerchant(throughFetch, options)).rejects.toThrow(words)
  })
})
