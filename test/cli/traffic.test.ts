import { stripVTControlCharacters } from 'node:util'
import { testNumbers } from 'mandatekit/mocks/core'
import { describe, expect, test } from 'vitest'
import { internalsOf } from '../../mocks/assemble.ts'
import { createTraffic } from '../../mocks/cli/traffic.ts'
import { createMock } from '../../mocks/core.ts'
import { CHARGES, KEYS } from '../mock/open.ts'
import { ask } from '../panel/asking.ts'
import { CHARGE_REQUEST, SUBSCRIPTION } from '../support/bodies.ts'
import { MOCK_CHARGE } from '../support/mock-clients.ts'
import { serve } from '../support/serve.ts'
import { useCommands } from './command.ts'

const { started } = useCommands()

const FROZEN = ['--clock', '2027-01-01T06:00:00Z']
const order = { ...SUBSCRIPTION, start: '2027-01-01', end: '2027-12-31' }

/** A mock whose lines are kept. */
const watched = (isColored = false) => {
  const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
  const traffic = createTraffic({ isJson: false, isColored })
  const lines: string[] = []
  const { log, outbox } = internalsOf(mock)
  log.onWrite((request) => lines.push(traffic.request(request)))
  outbox.onSent((delivery) => lines.push(traffic.delivery(delivery)))
  const { baseUrl, apiKey } = mock.clientOptions.gateway
  const ask = (path: string, init: RequestInit = {}) =>
    mock.fetch(`${baseUrl}${path}`, { headers: { Authorization: `Bearer ${apiKey}` }, ...init })
  return { mock, lines, ask, traffic }
}

describe('a line', () => {
  test('of a success has time, status, operation, object and duration, and no reason', async () => {
    const { ask, lines } = watched()
    await ask('/health')
    await ask('/api/v1/mfs/charges/ch%0A1')
    expect(lines[0]).toMatch(/^2027-01-01 06:00:00 200 {2}gateway\.health +\d+ ms\n$/)
    expect(lines[1]).toMatch(/ 404 {2}gateway\.status .* ch\?1 not_found: .+ \d+ ms\n$/)
  })

  test('of a refused request says why', async () => {
    const { ask, lines } = watched()
    await ask('/health', { method: 'DELETE' })
    await ask('/api/v1/mfs/charges/ch_1', { headers: {} })
    await ask('/api/v1/mfs/chargez')
    expect(lines[0]).toMatch(/ 405 {2}DELETE \/health +wrong-method: /)
    expect(lines[1]).toMatch(/ 401 {2}gateway\.status +ch_1 \w+: /)
    expect(lines[2]).toMatch(/ 404 {2}GET \/api\/v1\/mfs\/chargez +unknown-path: /)
  })

  test('of a request without a response, and of a failed delivery, says so without control characters', async () => {
    const { mock, ask, lines, traffic } = watched()
    mock.faults.add({ operation: 'gateway.health', kind: 'reset' })
    await expect(ask('/health')).rejects.toThrow()
    mock.notifications.connect(() => new Response(null, { status: 503 }), {
      retries: { attempts: 2, delays: [1] },
    })
    mock.notifications.send({ type: 'SUBSCRIPTION', status: 'CANCELLED', subscriptionId: 'sub\u001B[1' })
    await mock.clock.advance({ seconds: 1 })
    expect(lines[0]).toMatch(/ none gateway\.health +fault: /)
    mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })
    const lost = { method: 'POST', headers: KEYS, body: JSON.stringify(MOCK_CHARGE) }
    await expect(ask(CHARGES, lost)).rejects.toThrow()
    expect(lines[3]).toMatch(new RegExp(` none gateway.charge +${mock.state.charges()[0]?.id} fault: `))
    expect(lines[1]).toMatch(/ 503 {2}notification +sub\?\[1 CANCELLED to a function \d+ ms\n$/)
    expect(lines[2]).toMatch(/ CANCELLED to a function, attempt 2 \d+ ms\n$/)
    expect(traffic.summary()).toBe(
      '\nStopped after 2 requests, 0 refused (4xx), 2 failed (5xx or no response); 2 deliveries, 2 failed.\n',
    )
  })

  test('is colored only on request', async () => {
    const { ask, lines } = watched(true)
    await ask('/health')
    expect(lines[0]).toContain('\u001B[32m200 \u001B[39m')
  })
})

test('the command prints each request and delivery, without secrets, and the counts at its end', async () => {
  const hook = `${await serve((_request, response) => response.writeHead(204).end())}/hook`
  const { subscriptions, gateway, url, stop } = await started(...FROZEN, '--notify', hook)
  const charge = await gateway.charge({ ...CHARGE_REQUEST, msisdn: testNumbers.succeeds })
  const { invoiceID } = await subscriptions.subscribe(order)
  await ask(url, 'authorize', { invoiceId: invoiceID })
  await ask(url, 'flush')
  const { out } = await stop()
  expect(out).toMatch(new RegExp(` 202 {2}gateway\\.charge +${charge.id} \\d+ ms\\n`))
  expect(out).toMatch(/ 200 {2}subscriptions\.login +\d+ ms\n/)
  expect(out).toMatch(new RegExp(` 200 {2}subscriptions\\.subscribe +${invoiceID} \\d+ ms\\n`))
  expect(out).toMatch(new RegExp(` 204 {2}notification .* to ${hook} \\d+ ms\\n`))
  expect(out).toMatch(/\nStopped after 3 requests, 0 refused .*; 1 delivery, 0 failed\.\n$/)
  const [, lines = ''] = out.split('Stop it with Ctrl-C.')
  expect(lines).toBe(stripVTControlCharacters(lines))
  expect(lines).not.toMatch(/mock-(?:client-secret|password|api-key)/)
})

test('--log json prints one object a line, and --quiet nothing after the greeting', async () => {
  const json = await started('--log', 'json')
  await json.gateway.reference()
  const { out, err } = await json.stop()
  const lines = out.trimEnd().split('\n')
  const expected = { kind: 'request', operation: 'gateway.reference', status: 200 }
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { ...expected, durationMs: expect.any(Number) },
  ])
  expect(err).toContain('Stopped after 1 request')
  const quiet = await started('--quiet')
  await quiet.gateway.reference()
  expect((await quiet.stop()).out).toMatch(/Stop it with Ctrl-C\.\n$/)
})

test('the command goes on when the reader of its output leaves', async () => {
  const { gateway, leave, stop } = await started()
  leave()
  await gateway.reference()
  await gateway.reference()
  expect(await stop()).toMatchObject({ code: 0, err: '' })
})
