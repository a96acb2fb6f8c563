import { expect } from 'vitest'
import { testNumbers } from '../../mocks/core.ts'
import type { OpenMock } from '../mock/open.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { burst, CHARGES, G, statusesOf, strictOr, test, testCases } from './set-up.ts'

test('row 77: a wrong code is always the same 400, and a correct one is 409, 409 or 404 for a charge that is not open', async (open) => {
  const { charge, confirm, mock } = await open()
  const { confirmation_id: late } = (await charge('late')).json
  await mock.clock.advance({ days: 1 })
  const { confirmation_id: done } = (await charge('done')).json
  const { confirmation_id: waiting } = (await charge('open')).json
  await confirm(done)
  const before = mock.state.charges()
  const wrong = []
  for (const id of [late, done, waiting, 'conf_none'])
    for (const otp of ['0', '654321', '', '1234567', ' 123456', '１２３４５６'])
      wrong.push(await confirm(id, otp))
  expect(mock.state.charges()).toEqual(before)
  const [refusal = '', ...others] = new Set(wrong.map(({ status, text }) => `${status} ${text}`))
  expect([refusal, others]).toEqual([expect.stringMatching(/^400 /), []])
  expect(refusal).not.toMatch(/123456|fixed|dummy|test|always/i)
  expect((await confirm(waiting, 123456)).json.error.code).toBe('invalid_request')
  const right = [await confirm(late), await confirm(done), await confirm('conf_none'), await confirm(waiting)]
  expect(right.map(({ status, json }) => `${status} ${json.error?.code}`)).toEqual([
    ...['409 charge_expired', '409 already_confirmed', '404 not_found', '200 undefined'],
  ])
})

test('row 77: maxOtpAttempts is the number of wrong codes after which a charge expires', async (open) => {
  const { charge, confirm, mock } = await open(G({ maxOtpAttempts: 3 }))
  const { confirmation_id: id } = (await charge('a')).json
  const statuses = statusesOf([await confirm(id, 'x'), await confirm(id, 'x')])
  expect([...statuses, mock.state.charges()[0]?.status]).toEqual([400, 400, 'pending_confirmation'])
  expect(statusesOf([await confirm(id, 'x'), await confirm(id)])).toEqual([400, 409])
  expect(mock.state.charges()[0]?.status).toBe('expired')
})

test('row 78: 120 calls pass in any 60 seconds over all routes and callers, and Retry-After is in whole seconds (case 45)', async (open) => {
  const { g, mock } = await open()
  const ask = async (count: number) => {
    const answers = await burst(count, (call) => {
      const path = ['/health', '/api/v1/reference', '/api/v1/mfs/charges/x'][call % 3] ?? ''
      return g(path, { method: 'GET', anonymous: call % 3 === 0 })
    })
    return [...new Set(answers.map(({ status }) => status))].sort()
  }
  expect((await g('/api/v1/reset', { anonymous: true })).status).toBe(401)
  expect(await ask(59)).toEqual([200, 404])
  await mock.clock.advance({ seconds: 30 })
  expect(await ask(60)).toEqual([200, 404])
  const refused = await g('/health', { method: 'GET' })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30'])
  // Refused calls do not prolong it, and the window rolls.
  expect(await ask(50)).toEqual([429])
  await mock.clock.advance({ milliseconds: 29_500 })
  expect((await g('/health', { method: 'GET' })).headers.get('retry-after')).toBe('1')
  await mock.clock.advance({ milliseconds: 500 })
  expect(await ask(60)).toEqual([200, 404])
  expect(await ask(1)).toEqual([429])

  const free = await open(G({ rateLimit: false }))
  expect(new Set(await burst(121, free.health))).toEqual(new Set([200]))
})

test('row 79: health is ok, or 503 in an outage like every other route', async (open) => {
  const { g, gateway, mock, charge } = await open()
  const healthy = await g('/health', { method: 'GET', anonymous: true })
  expect([healthy.status, healthy.json]).toEqual([200, { status: 'ok' }])
  mock.outage.start()
  expect(await gateway.health()).toMatchObject({ ok: false, status: 503 })
  expect((await charge('a')).status).toBe(503)
  mock.outage.end()
  expect([await gateway.health(), mock.state.charges()]).toEqual([{ ok: true, status: 200 }, []])
})

test('row 80: every step of a charge is an event with id, type, created_at and the charge at that time', async (open) => {
  const { mock, charge, paid, renew } = await open()
  await charge('unconfirmed')
  await renew((await paid()).id, 'k')
  await paid({ msisdn: testNumbers.retry_then_fails })
  await mock.clock.advance({ days: 1 })
  const events = mock.state.events()
  const pending = ['created pending_confirmation', 'confirmed pending_confirmation']
  expect(events.map(({ type, data }) => `${type} ${data.status}`.slice(7))).toEqual([
    ...['created pending_confirmation', ...pending, 'succeeded succeeded', 'renewed succeeded'],
    ...['succeeded succeeded', ...pending, 'pending_retry pending_retry', 'expired expired', 'failed failed'],
  ])
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  expect(events.at(-1)?.created_at).toBe('2026-12-02T06:00:00.000Z')
})

test('row 81: created_at is ISO 8601 in UTC', async (open) => {
  expect((await (await open()).charge('a')).json.created_at).toBe('2026-12-01T06:00:00.000Z')
})

/** The statuses of charges with one other field. */
const charging =
  (name: string, ...values: readonly unknown[]) =>
  async ({ charge }: OpenMock) => {
    const responses = []
    for (const value of values) responses.push(await charge(String(value), { [name]: value }))
    return statusesOf(responses)
  }
const formats = strictOr(G({ inputRules: 'formats' }))

testCases('row 82: a charge is checked for the stated rules, and for more formats strictly (case 85)', [
  [
    {},
    charging('msisdn', '+8801', '8801700000000', 17, '01711', '+1234567890123456'),
    [202, 202, 400, 400, 400],
  ],
  [{}, charging('amount', 0, '1'), [202, 400]],
  [{}, charging('currency', 'taka', null, ' '), [202, 400, 400]],
  [{}, charging('redirect_uri', '/paid', 'javascript:alert(1)'), [400, 400]],
  [formats, charging('msisdn', '017', '+8801'), [400, 400]],
  [formats, charging('amount', 0, -1, 1), [400, 400, 202]],
  [formats, charging('currency', 'taka', 'bdt', 'ZZZ', 'BDT'), [400, 400, 400, 202]],
])

const returned =
  (redirect_uri: string) =>
  async ({ charge, fetch }: OpenMock) => {
    const { json } = await charge('a', { redirect_uri })
    const body = new URLSearchParams({ otp: '123456' })
    const response = await fetch(json.confirmation_url, { method: 'POST', body, redirect: 'manual' })
    return response.headers.get('location')?.replace(json.id, '<id>')
  }
const uri = 'https://shop.example/paid?order=1#top'

testCases('row 83: the payer returns to redirect_uri as it is, or with the id of the charge', [
  [{}, returned(uri), uri],
  [
    G({ returnParameter: 'charge_id' }),
    returned(uri),
    'https://shop.example/paid?order=1&charge_id=<id>#top',
  ],
  [G({ returnParameter: 'charge id' }), returned('myshop:back'), 'myshop:back?charge%20id=<id>'],
])

test('row 84: an API key uses the charges of every key, or with the option only its own (case 86)', async (open) => {
  const apiKeys = ['one', 'two']
  const used = async ({ g, charge, paid, mock }: Awaited<ReturnType<typeof open>>) => {
    const two = { token: 'two' }
    const { json: waiting } = await charge('waiting')
    const { id } = await paid()
    await g(CHARGES, { key: 'own', body: CHARGE, ...two })
    const statuses = [
      await g(`${CHARGES}/${id}`, { method: 'GET', ...two }),
      await g(`${CHARGES}/${id}/renew`, { key: 'k', body: { mandate_id: id }, ...two }),
      await g(`/api/v1/mfs/confirm/${waiting.confirmation_id}`, { body: { otp: '123456' }, ...two }),
      await g('/api/v1/reset', two),
    ].map(({ status }) => status)
    return [statuses, mock.state.charges().length, mock.state.events().length]
  }
  expect(await used(await open({ gateway: { apiKeys } }))).toEqual([[200, 201, 200, 200], 0, 0])
  const separate = await open({ gateway: { apiKeys, apiKeyScope: 'own' } })
  expect(await used(separate)).toEqual([[404, 404, 404, 200], 2, 4])
  // What belongs to the other key goes on: keys, expiries and the numbers of events.
  const { mock, charge, g } = separate
  const [waiting] = mock.state.charges()
  expect((await charge('waiting')).json.id).toBe(waiting?.id)
  expect((await g(CHARGES, { key: 'own', body: CHARGE, token: 'two' })).json.id).not.toBe(waiting?.id)
  await mock.clock.advance({ days: 1 })
  expect(mock.state.charges().map(({ status }) => status)).toEqual(['expired', 'succeeded', 'expired'])
  expect(new Set(mock.state.events().map(({ id }) => id)).size).toBe(mock.state.events().length)
  expect((await g('/api/v1/reset')).status).toBe(200)
  expect(mock.state.charges()).toHaveLength(1)
})
