import { readFile } from 'node:fs/promises'
import { testNumbers } from 'mandatekit/mocks/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { actionNames } from '../../mocks/panel/actions.ts'
import { startSite } from '../pages/site.ts'
import { ask, stateOf } from './asking.ts'

let site: Awaited<ReturnType<typeof startSite>>

beforeEach(async () => {
  site = await startSite()
})

afterEach(() => site.close())

const act = (action: string, fields?: Record<string, string>) => ask(site.url, action, fields)
const health = async () => (await fetch(`${site.url}/health`)).status

describe('a program drives the mock through the panel', () => {
  test('moves the clock by days, hours, minutes and seconds, and everything due happens', async () => {
    const { invoiceID } = await site.subscribe()
    expect(await act('authorize', { invoiceId: invoiceID, payments: 'succeed, fail' })).toEqual({
      ok: true,
      message: `The payer authorized ${invoiceID}.`,
    })
    const moved = await act('advance', { days: '15', hours: '1', minutes: '1', seconds: '1.5' })
    expect(moved).toMatchObject({ ok: true, message: expect.stringContaining('It is 2026-12-13T13:01:01Z.') })
    expect(site.mock.state.payments().map(({ status }) => status)).toEqual([
      'SUCCEEDED_PAYMENT',
      'FAILED_PAYMENT',
    ])
  })

  test.each(['2027-02-03T04:05', '2027-02-03T10:05:00+06:00', '2027-02-03T04:05:00Z'])(
    'sets the clock to %s; without a zone it is UTC',
    async (time) => {
      expect(await act('set-clock', { time })).toMatchObject({ ok: true })
      expect(new Date(site.mock.clock.now()).toISOString()).toBe('2027-02-03T04:05:00.000Z')
    },
  )

  test.each([
    ['2027-01-31T12:00:00Z', 1, '2027-02-28T12:00:00.000Z'],
    ['2027-11-30T23:59:59Z', 3, '2028-02-29T23:59:59.000Z'],
    ['2027-12-15T00:00:00Z', 1, '2028-01-15T00:00:00.000Z'],
  ])('moves the clock from %s by %i calendar months', async (time, months, expected) => {
    await act('set-clock', { time })
    await act('advance', { months: String(months) })
    expect(new Date(site.mock.clock.now()).toISOString()).toBe(expected)
  })

  test('sends JSON instead of a form', async () => {
    const post = (body: string) =>
      fetch(`${site.url}/_mock`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json; charset=utf-8' },
      })
    const fault = { action: 'fault', operation: '*', kind: 'status', status: 418, when: { msisdn: '017' } }
    expect(await (await post(JSON.stringify(fault))).json()).toMatchObject({ ok: true })
    expect((await stateOf(site.url)).faults).toMatchObject([
      { fault: { status: 418, when: { msisdn: '017' } } },
    ])
    expect((await post(JSON.stringify({ action: 'explode' }))).status).toBe(409)
    for (const wrong of ['{', '']) expect((await post(wrong)).status).toBe(400)
    for (const wrong of ['null', '[]', '"reset"']) expect((await post(wrong)).status).toBe(409)
    const notText = { toString: 1 }
    for (const action of [notText, [notText], { toString: null, valueOf: 1 }, true]) {
      const response = await post(JSON.stringify({ action }))
      expect([response.status, (await response.json()).message]).toEqual([
        409,
        expect.stringMatching(/^action must be a string, received (?:object|array|boolean)$/),
      ])
    }
    const nested = { action: 'authorize', invoiceId: 'none', payments: [notText] }
    expect((await post(JSON.stringify(nested))).status).toBe(409)
  })

  test('sets the behavior of a number, confirms a charge, declines a request, and reverses a payment', async () => {
    await act('behavior', { msisdn: testNumbers.succeeds, behavior: 'wallet_blocked' })
    const { id } = await site.charge()
    await act('confirm', { confirmationId: site.mock.state.charges()[0]?.confirmation_id ?? '' })
    expect(site.chargeStatus(id)).toBe('failed')

    const { invoiceID: declined } = await site.subscribe()
    expect(await act('decline', { invoiceId: declined })).toMatchObject({ ok: true })
    expect(site.requestStatus(declined)).toBe('FAILED')

    const { invoiceID } = await site.subscribe()
    await act('authorize', { invoiceId: invoiceID })
    await act('reverse', { paymentId: String(site.mock.state.payments()[0]?.paymentId) })
    expect(site.mock.state.payments()[0]?.reverseTransactionAmount).toBe('249.00')
  })

  test('adds faults with a number of times, and removes what is left of them', async () => {
    await act('fault', { operation: 'gateway.health', kind: 'status', status: '503', times: '2' })
    await act('fault', { operation: '*', kind: 'html', times: 'always' })
    expect(await health()).toBe(503)
    expect((await stateOf(site.url)).faults).toMatchObject([
      { number: 1, fault: { operation: 'gateway.health', kind: 'status', status: 503 }, left: 1 },
      { number: 2, fault: { operation: '*', kind: 'html' }, left: 'always' },
    ])
    await act('remove-fault', { number: '1' })
    expect(await health()).toBe(502)
    await act('clear-faults')
    expect(await health()).toBe(200)
    expect(await act('remove-fault', { number: '1' })).toEqual({
      ok: false,
      message: 'control.faults.remove: This fault has already been used up or removed.',
    })
  })

  test('says what came of a notification that is sent, and of a fault that is added', async () => {
    const sent = { type: 'SUBSCRIPTION', status: 'CANCELLED', notificationId: 'n-1' }
    const nobody = 'to nobody, because no receiver is connected.'
    expect((await act('send', sent)).message).toBe(`Notification n-1 was sent ${nobody}`)
    expect((await act('resend', { notificationId: 'n-1' })).message).toBe(
      `Notification n-1 was sent again ${nobody}`,
    )
    let status = 500
    site.mock.notifications.connect(() => new Response(null, { status }))
    expect((await act('resend', { notificationId: 'n-1' })).message).toBe(
      'Notification n-1 was sent again, but its delivery failed: status 500.',
    )
    status = 204
    expect((await act('resend', { notificationId: 'n-1' })).message).toBe('Notification n-1 was sent again.')
    const fault = { operation: 'gateway.charge', kind: 'status', status: '503' }
    expect((await act('fault', fault)).message).toBe('A fault was added: 503 for gateway.charge, once.')
  })

  test('starts and ends an outage, and resets everything', async () => {
    await act('start-outage')
    await act('start-outage', { area: 'subscriptions' })
    expect([await health(), (await stateOf(site.url)).outages]).toEqual([503, ['gateway', 'subscriptions']])
    await act('end-outage', { area: 'gateway' })
    expect([await health(), (await stateOf(site.url)).outages]).toEqual([200, ['subscriptions']])
    await act('end-outage')
    expect((await stateOf(site.url)).outages).toEqual([])
    const { ok, message } = await act('start-outage', { area: 'everything' })
    expect([ok, message]).toEqual([false, expect.stringContaining('"subscriptions" or "gateway"')])

    await site.charge()
    await act('start-outage')
    await act('fault', { operation: '*', kind: 'reset' })
    await act('advance', { days: '3' })
    await act('reset')
    expect(await stateOf(site.url)).toMatchObject({
      now: '2026-11-28T12:00:00.000Z',
      outages: [],
      faults: [],
      charges: { total: 0, items: [] },
      requests: { total: 0, items: [] },
    })
  })
})

test.each([
  ['explode', {}, /Unknown action "explode"\. Actions: advance, /],
  ['constructor', {}, /Unknown action "constructor"/],
  ['advance', {}, /Missing duration/],
  ['advance', { days: '-1' }, /^days must be a number from 0/],
  ['advance', { days: '1e9' }, /^days must be a number from 0/],
  ['advance', { days: '999999' }, /at most ten years/],
  ['advance', { months: '1.5' }, /months must be a whole number/],
  ['advance', { months: '121' }, /at most ten years/],
  ['advance', { weeks: '1' }, /^Unknown field weeks \(fields: months, days, /],
  ['reset', { now: 'true' }, /^Unknown field now \(fields: action\)$/],
  ['set-payments', { id: 'none', payments: 'fail' }, /payer\.setPayments: /],
  ['cancel', { id: 'none' }, /payer\.cancel: /],
  ['resend', { notificationId: 'none' }, /notifications\.resend: /],
  ['send', { type: 'SUBSCRIPTION' }, /^Missing status: /],
  ['connect', { url: 'ftp://a' }, /notifications\.connect: /],
  ['connect', { url: 'http://127.0.0.1:9', retries: '0' }, /retries/],
  ['disconnect', { number: '7' }, /no such receiver/],
  ['restore-snapshot', { name: 'none' }, /no snapshot none/],
  ['remove-snapshot', { name: 'none' }, /no snapshot none/],
  ['explain', { operation: 'none' }, /operation must be/],
  ['add', { subscriptions: '[{}]' }, /^Missing subscriptions\.0\.request: /],
  ['set-clock', { time: 'tomorrow' }, /time must be .*ISO 8601 text with its zone/],
  ['set-clock', {}, /^Missing time: /],
  ['authorize', { invoiceId: 'none', payments: 'explode' }, /^payments\.0 must be "succeed" or "fail"/],
  ['decline', {}, /^Missing invoiceId: /],
  ['reverse', { paymentId: '1' }, /payer\.reverse: /],
  ['behavior', { msisdn: '+1', behavior: 'toString' }, /^behavior must be "succeeds" or /],
  ['fault', { operation: 'gateway.explode', kind: 'reset' }, /^operation must be .*"gateway\.charge" or /],
  ['fault', { operation: '*', kind: 'explode' }, /^kind must be "latency" or /],
  ['fault', { operation: '*', kind: 'latency' }, /Missing latencyMs: .* the kind is "latency"$/],
  ['fault', { operation: '*', kind: 'reset', when: '+999' }, /^when must be a plain object/],
  ['fault', { operation: '*', kind: 'reset', when: '{"msisdn":""}' }, /^Missing when\.msisdn: /],
  [
    'connect',
    { url: 'http://127.0.0.1:9', signing: 'true' },
    /^signing must be a plain object with secret, /,
  ],
  ['advance', { days: '1', ['__proto__']: '3' }, /Unknown field __proto__/],
  ['advance', { '__proto__.days': '3' }, /Unknown field __proto__/],
])('a failed action reports why, and changes nothing: %s %j', async (action, fields, message) => {
  const before = site.mock.snapshot()
  expect(await act(action, fields)).toEqual({ ok: false, message: expect.stringMatching(message) })
  expect(site.mock.snapshot()).toEqual(before)
  expect((await stateOf(site.url)).faults).toEqual([])
})

test('the guide names every action of the panel, and no other', async () => {
  const guide = await readFile(new URL('../../docs/server.md', import.meta.url), 'utf8')
  const table = guide.split('| `action` |')[1]?.split('\n\n')[0] ?? ''
  const firstCells = table
    .split('\n')
    .slice(2)
    .map((row) => row.split('|')[1] ?? '')
  const named = firstCells.flatMap((cell) => [...cell.matchAll(/`([^`\s]+)`/g)].map(([, name]) => name))
  expect(named.sort()).toEqual([...actionNames].sort())
})
