import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { actionNames } from '../../mocks/panel/actions.ts'
import { GatewayClient } from '../../src/index.ts'
import { startSite } from '../pages/site.ts'
import { startServer } from '../support/mock-server.ts'
import { ask, stateOf } from './asking.ts'

let site: Awaited<ReturnType<typeof startSite>>

beforeEach(async () => {
  site = await startSite()
})

afterEach(() => site.close())

const act = (action: string, fields?: Record<string, string>) => ask(site.url, action, fields)
// A Python script drives every action (other-languages.test.ts). These tests are about what actions do with their input.

test('the clock moves by days, hours, minutes and seconds, and everything due happens', async () => {
  const { invoiceID } = await site.subscribe()
  const authorized = { ok: true, message: `The payer authorized ${invoiceID}.` }
  expect(await act('authorize', { invoiceId: invoiceID, payments: 'succeed, fail' })).toEqual(authorized)
  const moved = await act('advance', { days: '15', hours: '1', minutes: '1', seconds: '1.5' })
  expect(moved).toMatchObject({ ok: true, message: expect.stringContaining('It is 2026-12-13T13:01:01Z.') })
  const paid = site.mock.state.payments().map(({ status }) => status)
  expect(paid).toEqual(['SUCCEEDED_PAYMENT', 'FAILED_PAYMENT'])
})

test.each([
  ['2027-02-03T04:05', 0, '2027-02-03T04:05:00.000Z'],
  ['2027-02-03T10:05:00+06:00', 0, '2027-02-03T04:05:00.000Z'],
  ['2027-01-31T12:00:00Z', 1, '2027-02-28T12:00:00.000Z'],
  ['2027-11-30T23:59:59Z', 3, '2028-02-29T23:59:59.000Z'],
  ['2027-12-15T00:00:00Z', 1, '2028-01-15T00:00:00.000Z'],
])(
  'the clock is set to %s, without a zone in UTC, and moves by %i calendar months',
  async (time, months, expected) => {
    expect(await act('set-clock', { time })).toMatchObject({ ok: true })
    if (months > 0) await act('advance', { months: String(months) })
    expect(new Date(site.mock.clock.now()).toISOString()).toBe(expected)
  },
)

const json = 'application/json; charset=utf-8'
test.each<[status: number, body: string, message?: RegExp]>([
  [200, '{"action":"fault","operation":"*","kind":"status","status":418,"when":{"msisdn":"017"}}', /418/],
  [400, '{'],
  [400, ''],
  [409, 'null', /action/],
  [409, '[]', /action/],
  [409, '"reset"', /action/],
  [409, '{"action":{"toString":1}}', /^action must be a string, received object$/],
  [409, '{"action":[{"toString":1}]}', /^action must be a string, received array$/],
  [409, '{"action":{"toString":null,"valueOf":1}}', /^action must be a string, received object$/],
  [409, '{"action":true}', /^action must be a string, received boolean$/],
  [409, '{"action":"authorize","invoiceId":"none","payments":[{"toString":1}]}', /payments\.0/],
])('an action as JSON gets %i: %s', async (status, body, message) => {
  const sent = { method: 'POST', body, headers: { 'content-type': json } }
  const response = await fetch(`${site.url}/_mock`, sent)
  expect(response.status).toBe(status)
  if (message) expect((await response.json()).message).toMatch(message)
})

test('an action says what came of a notification and of a fault, which is listed with what is left of it', async () => {
  const sent = { type: 'SUBSCRIPTION', status: 'CANCELLED', notificationId: 'n-1' }
  const messageOf = async (...given: Parameters<typeof act>) => (await act(...given)).message
  const resent = () => messageOf('resend', { notificationId: 'n-1' })
  const nobody = 'to nobody, because no receiver is connected.'
  expect(await messageOf('send', sent)).toBe(`Notification n-1 was sent ${nobody}`)
  expect(await resent()).toBe(`Notification n-1 was sent again ${nobody}`)
  let status = 500
  site.mock.notifications.connect(() => new Response(null, { status }))
  expect(await resent()).toBe('Notification n-1 was sent again, but its delivery failed: status 500.')
  status = 204
  expect(await resent()).toBe('Notification n-1 was sent again.')
  const fault = { operation: 'gateway.health', kind: 'status', status: '503', times: '2' }
  expect(await messageOf('fault', fault)).toBe('A fault was added: 503 for gateway.health, 2 times.')
  expect((await fetch(`${site.url}/health`)).status).toBe(503)
  expect((await stateOf(site.url)).faults).toMatchObject([{ number: 1, fault: { status: 503 }, left: 1 }])
})

test('an action says that its notification failed, even if the list of deliveries is full', async () => {
  const { url, mock } = await startServer({ mock: createMock({ logSize: 1 }) })
  for (const status of [500, 204]) mock.notifications.connect(() => new Response(null, { status }))
  for (const notificationId of ['n-1', 'n-2']) {
    const sent = { type: 'SUBSCRIPTION', status: 'CANCELLED', notificationId }
    const message = `Notification ${notificationId} was sent, but its delivery failed: status 500.`
    expect((await ask(url, 'send', sent)).message).toBe(message)
  }
})

test('the panel never sends a key twice, even after its log was cleared or another mock’s state was restored', async () => {
  const other = await startSite()
  const create = async (url = site.url) => [await ask(url, 'charge'), await ask(url, 'subscribe')]
  const first = await create()
  await act('clear-requests')
  expect(await create()).not.toEqual(first)
  other.mock.restore(site.mock.snapshot())
  await create(other.url).finally(other.close)
  expect(other.mock.state.charges()).toHaveLength(3)
  const ids = other.mock.requests.of('subscriptions.subscribe').map(({ body }) => Object(body).requestID)
  const earlier = site.mock.requests.of('subscriptions.subscribe').map(({ body }) => Object(body).requestID)
  expect(ids).toEqual([expect.stringMatching(/^panel-\w+$/)])
  expect(earlier).not.toContain(ids[0])
})

test('the next event may be the expiry of a subscription request that the payer has not decided', async () => {
  const { invoiceID } = await site.subscribe()
  const request = { start: '2026-12-24', end: '2026-12-24', cycle: 'DAILY', amount: '5' } as const
  const seed = { request, createdAt: '2026-11-27T18:00:00Z', authorizedAt: false } as const
  for (const invoiceId of ['declined', 'earlier']) site.mock.add({ subscriptions: [{ ...seed, invoiceId }] })
  site.mock.payer.decline('declined')
  expect((await stateOf(site.url)).nextEventAt).toBe('2026-11-28T18:00:00.000Z')
  expect((await act('next-event')).message).toContain('It is 2026-11-28T18:00:00Z.')
  expect(['earlier', invoiceID].map(site.requestStatus)).toEqual(['EXPIRED', 'INITIALIZED'])
  expect((await act('next-event')).message).toContain('It is 2026-11-29T12:00:00Z.')
  expect(site.requestStatus(invoiceID)).toBe('EXPIRED')
  expect((await act('next-event')).message).toMatch(/^Nothing is planned/)
})

test('the result that the panel gives to one charge applies to no other, and lists no number', async () => {
  const gateway = new GatewayClient({ ...site.mock.clientOptions.gateway, baseUrl: site.url })
  const numbers = await gateway.reference()
  const charges = [await site.charge({ msisdn: '+8801700000000' }), await site.charge()]
  for (const { url } of charges) {
    const confirmationId = url.split('/').at(-1) ?? ''
    await act('end-charge', { confirmationId, behavior: 'retry_then_fails' })
  }
  const statuses = () => charges.map(({ id }) => site.chargeStatus(id))
  expect(statuses()).toEqual(['pending_retry', 'pending_retry'])
  expect(await gateway.reference()).toEqual(numbers)
  await act('next-event')
  expect(statuses()).toEqual(['failed', 'failed'])
  const given = { confirmationId: 'conf_none', behavior: 'expires' }
  expect((await act('end-charge', given)).message).toBe('payer.confirm: No such confirmation.')
})

test('a payment is reversed by the number that the API returns', async () => {
  site.mock.payer.authorize((await site.subscribe()).invoiceID)
  const [{ paymentId } = { paymentId: 0 }] = site.mock.state.payments()
  const body = JSON.stringify({ action: 'reverse', paymentId: Number(paymentId) })
  const response = await fetch(`${site.url}/_mock`, {
    method: 'POST',
    body,
    headers: { 'content-type': json },
  })
  expect(await response.json()).toEqual({ ok: true, message: `Payment ${paymentId} was reversed.` })
})

test('a reset sets the clock back and removes objects, faults, outages and requests', async () => {
  await site.charge()
  await act('start-outage')
  await act('fault', { operation: '*', kind: 'reset' })
  await act('advance', { days: '3' })
  await act('reset')
  const empty = { total: 0, items: [] }
  const state = { now: '2026-11-28T12:00:00.000Z', outages: [], faults: [], charges: empty, requests: empty }
  expect(await stateOf(site.url)).toMatchObject(state)
})

test.each([
  ['explode', {}, /Unknown action "explode"\. Actions: advance, /],
  ['', {}, /^Missing action\. Actions: advance, /],
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
  [
    'remove-fault',
    { number: '1' },
    /^control\.faults\.remove: This fault has already been used up or removed\.$/,
  ],
  ['start-outage', { area: 'everything' }, /"subscriptions" or "gateway"/],
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

test.each([
  [
    'advance',
    { days: '-1', months: '1.5' },
    'Months must be a whole number from 0. Days must be a number from 0.',
  ],
  [
    'connect',
    { 'signing.header': 'x' },
    /URL is missing: give an absolute URL .*\. Signing secret is missing: give a string/,
  ],
  [
    'connect',
    { delay: '{"weeks":1}', url: 'http://127.0.0.1:9' },
    'Unknown field delay.weeks (fields: days, hours',
  ],
  ['subscribe', { end: '2026-11-01' }, 'Last day must not be before start.'],
  ['authorize', { invoiceId: 'declined' }, 'The request is FAILED; a payer can authorize it only while'],
])('a form says in its own words what is wrong: %s %j', async (action, fields, words) => {
  const request = { start: '2026-12-24', end: '2026-12-24', cycle: 'DAILY', amount: '5' } as const
  site.mock.add({ subscriptions: [{ request, invoiceId: 'declined', authorizedAt: false }] })
  site.mock.payer.decline('declined')
  const form = new URLSearchParams({ action, ...fields })
  const page = await (await fetch(`${site.url}/_mock`, { method: 'POST', body: form })).text()
  expect(page.replace(/<[^>]*>/g, '')).toMatch(words)
})

test('the guide names every action of the panel, and no other', async () => {
  const guide = await readFile(new URL('../../docs/server.md', import.meta.url), 'utf8')
  const rows = guide.split('| `action` |')[1]?.split('\n\n')[0]?.split('\n').slice(2) ?? []
  const named = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`\s]+)`/g)].map(([, name]) => name),
  )
  expect(named.sort()).toEqual([...actionNames].sort())
})
