import { testNumbers } from 'mandatekit/mocks/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startSite } from '../pages/served-site.ts'
import { ask, stateOf } from './asking.ts'

let site: Awaited<ReturnType<typeof startSite>>

beforeEach(async () => {
  site = await startSite()
})

afterEach(() => site.close())

const health = async () => (await fetch(`${site.url}/health`)).status

describe('a program drives the mock through the panel', () => {
  test('moves the clock by days, hours, minutes and seconds; what falls due happens', async () => {
    const { invoiceID } = await site.subscribe()
    expect(await ask(site.url, 'authorize', { invoiceId: invoiceID, payments: 'succeed, fail' })).toEqual({
      ok: true,
      message: `The payer authorized ${invoiceID}.`,
    })
    const moved = await ask(site.url, 'advance', { days: '15', hours: '1', minutes: '1', seconds: '1.5' })
    expect(moved).toEqual({ ok: true, message: 'The clock was moved. It is 2026-12-13T13:01:01Z.' })
    expect(site.mock.state.payments().map(({ status }) => status)).toEqual([
      'SUCCEEDED_PAYMENT',
      'FAILED_PAYMENT',
    ])
  })

  test('sets the clock, where a time without a zone is UTC', async () => {
    for (const time of ['2027-02-03T04:05', '2027-02-03T10:05:00+06:00', '2027-02-03T04:05:00Z']) {
      expect(await ask(site.url, 'set-clock', { time })).toMatchObject({ ok: true })
      expect(new Date(site.mock.clock.now()).toISOString()).toBe('2027-02-03T04:05:00.000Z')
    }
  })

  test('declines a request', async () => {
    const { invoiceID } = await site.subscribe()
    expect(await ask(site.url, 'decline', { invoiceId: invoiceID })).toMatchObject({ ok: true })
    expect(site.requestStatus(invoiceID)).toBe('FAILED')
  })

  test('gives the right code of a charge, and reverses a payment', async () => {
    const { id } = await site.charge()
    const [charge] = site.mock.state.charges()
    await ask(site.url, 'confirm', { confirmationId: charge?.confirmation_id ?? '' })
    expect(site.chargeStatus(id)).toBe('succeeded')

    const { invoiceID } = await site.subscribe()
    await ask(site.url, 'authorize', { invoiceId: invoiceID })
    const [payment] = site.mock.state.payments()
    await ask(site.url, 'reverse', { paymentId: String(payment?.paymentId) })
    expect(site.mock.state.payments()[0]?.reverseTransactionAmount).toBe('249.00')
  })

  test('changes how the charges of a number go', async () => {
    await ask(site.url, 'behavior', { msisdn: testNumbers.succeeds, behavior: 'wallet_blocked' })
    const { id } = await site.charge()
    const [charge] = site.mock.state.charges()
    await ask(site.url, 'confirm', { confirmationId: charge?.confirmation_id ?? '' })
    expect(site.chargeStatus(id)).toBe('failed')
  })

  test('adds faults that act as often as it says, and removes what is left of them', async () => {
    await ask(site.url, 'fault', { operation: 'gateway.health', kind: 'status', status: '503', times: '2' })
    await ask(site.url, 'fault', { operation: '*', kind: 'html', times: 'always' })
    expect(await health()).toBe(503)
    expect((await stateOf(site.url)).faults).toMatchObject([
      { number: 1, fault: { operation: 'gateway.health', kind: 'status', status: 503 }, left: 1 },
      { number: 2, fault: { operation: '*', kind: 'html' }, left: 'always' },
    ])
    await ask(site.url, 'remove-fault', { number: '1' })
    expect(await health()).toBe(502)
    await ask(site.url, 'clear-faults')
    expect(await health()).toBe(200)
    expect(await ask(site.url, 'remove-fault', { number: '1' })).toEqual({
      ok: false,
      message: 'This fault is used up, or was removed.',
    })
  })

  test('starts and ends an outage', async () => {
    await ask(site.url, 'start-outage')
    expect(await health()).toBe(503)
    expect(await stateOf(site.url)).toMatchObject({ outage: true })
    await ask(site.url, 'end-outage')
    expect(await health()).toBe(200)
  })

  test('makes tokens run out, or void', async () => {
    const { clientId, clientSecret, username, password } = site.mock.clientOptions.subscriptions.credentials
    const token = async (fields: Record<string, string>) => {
      const answer = await fetch(`${site.url}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret, ...fields }),
      })
      return { status: answer.status, ...(await answer.json()) }
    }
    const call = async (access: string) =>
      (
        await fetch(`${site.url}/api/v1.0/subscription/none`, {
          method: 'POST',
          headers: { authorization: `Bearer ${access}` },
        })
      ).status
    const refresh = (from: { refresh_token: string }) =>
      token({ grant_type: 'refresh_token', refresh_token: from.refresh_token })

    const first = await token({ grant_type: 'password', username, password })
    expect(await call(first.access_token)).toBe(404)
    await ask(site.url, 'expire-tokens')
    expect(await call(first.access_token)).toBe(401)
    const second = await refresh(first)
    expect(await call(second.access_token)).toBe(404)
    await ask(site.url, 'revoke-tokens')
    expect(await call(second.access_token)).toBe(401)
    expect((await refresh(second)).status).toBe(401)
  })

  test('resets everything', async () => {
    await site.charge()
    await ask(site.url, 'start-outage')
    await ask(site.url, 'fault', { operation: '*', kind: 'reset' })
    await ask(site.url, 'advance', { days: '3' })
    await ask(site.url, 'reset')
    expect(await stateOf(site.url)).toMatchObject({
      now: '2026-11-28T12:00:00.000Z',
      outage: false,
      faults: [],
      charges: { total: 0, items: [] },
      requests: { total: 0, items: [] },
    })
  })
})

test.each([
  ['explode', {}, /There is no such action; there are advance, /],
  ['constructor', {}, /There is no such action/],
  ['advance', {}, /Say by how much/],
  ['advance', { days: '-1' }, /field days is a number/],
  ['advance', { days: '1e9' }, /field days is a number/],
  ['advance', { days: '999999' }, /at most ten years/],
  ['set-clock', { time: 'tomorrow' }, /"tomorrow" is not a point in time/],
  ['set-clock', {}, /field time is missing/],
  ['authorize', { invoiceId: 'none' }, /payer\.authorize: /],
  ['authorize', { invoiceId: 'none', payments: 'explode' }, /succeed and fail/],
  ['decline', {}, /field invoiceId is missing/],
  ['confirm', { confirmationId: 'none' }, /payer\.confirm: /],
  ['reverse', { paymentId: '1' }, /payer\.reverse: /],
  ['behavior', { msisdn: '+1', behavior: 'toString' }, /no behavior toString/],
  ['fault', { operation: 'gateway.explode', kind: 'reset' }, /There is no operation "gateway\.explode"/],
  ['fault', { operation: '*', kind: 'explode' }, /there is no kind "explode"/],
  ['fault', { operation: '*', kind: 'reset', times: '0' }, /times must be/],
  ['fault', { operation: '*', kind: 'latency' }, /needs latencyMs/],
])('what cannot be done is told, and changes nothing: %s %j', async (action, fields, message) => {
  const before = site.mock.snapshot()
  const answer = await ask(site.url, action, fields)
  expect(answer).toEqual({ ok: false, message: expect.stringMatching(message) })
  expect(site.mock.snapshot()).toEqual(before)
  expect((await stateOf(site.url)).faults).toEqual([])
})

describe('the state as JSON', () => {
  test('lists the newest first, as many as asked for, and how many there are', async () => {
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) ids.push((await site.charge()).id)
    const { charges, requests } = await stateOf(site.url, '?limit=2')
    expect(charges).toMatchObject({ total: 3, items: [{ id: ids[2] }, { id: ids[1] }] })
    expect(requests).toMatchObject({ total: 3, items: [{ number: 3 }, { number: 2 }] })
  })

  test('tells every time of a subscription in one form', async () => {
    const { invoiceID } = await site.subscribe()
    const at = new Date(site.mock.clock.now()).toISOString()
    expect((await stateOf(site.url)).subscriptions.items[0]).not.toHaveProperty('authorizedAt')
    site.mock.payer.authorize(invoiceID)
    const [state] = (await stateOf(site.url)).subscriptions.items
    expect(state).toMatchObject({ createdAt: at, authorizedAt: at })
    expect(state).not.toHaveProperty('cancelledAt')
  })

  test('joins notifications with the tries to deliver them', async () => {
    site.mock.notifications.connect(() => new Response(null, { status: 500 }))
    site.mock.payer.authorize((await site.subscribe()).invoiceID)
    await site.mock.notifications.flush()
    const { notifications } = await stateOf(site.url)
    expect(notifications.items.at(-1)).toMatchObject({
      type: 'SUBSCRIPTION',
      tries: [{ attempt: 1, delivered: false, status: 500 }],
    })
  })

  test('holds no credential, token, key or code, nor a merchant’s return address', async () => {
    const { url } = await site.subscribe({ userReturnURL: 'https://shop.example/?session=private-session' })
    await site.charge()
    await fetch(`${site.url}/api/v1/mfs/confirm/conf_none`, {
      method: 'POST',
      headers: { authorization: `Bearer ${site.mock.clientOptions.gateway.apiKey}` },
      body: JSON.stringify({ otp: '123456' }),
    })
    const { subscriptions } = await stateOf(site.url)
    expect(JSON.stringify(subscriptions)).not.toContain('private-session')
    const text = JSON.stringify(await stateOf(site.url)) + (await (await fetch(`${site.url}/_mock`)).text())
    expect(text).toContain(url.split('/').at(-1))
    for (const secret of ['mock-client-secret', 'mock-password', 'mock-api-key', '123456']) {
      expect(text).not.toContain(secret)
    }
  })
})
