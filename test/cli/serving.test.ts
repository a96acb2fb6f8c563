import { once } from 'node:events'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:http2'
import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { testNumbers } from 'mandatekit/mocks/core'
import { request } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ask, stateOf } from '../panel/asking.ts'
import { CHARGE_REQUEST, SUBSCRIPTION } from '../support/bodies.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { useCommands } from './command.ts'

const { config, file, started } = useCommands()

const charge = (msisdn: string) => ({ ...CHARGE_REQUEST, msisdn })
const order = { ...SUBSCRIPTION, start: '2099-01-01', end: '2099-12-31' }

/** The status of the panel's state under a name of the host. */
const statusUnder = async (url: string, host: string) => {
  const { statusCode, body } = await request(`${url}/_mock/state`, { headers: { host } })
  await body.dump()
  return statusCode
}

test('the command prints all that a client needs, the test numbers, and the panel’s address', async () => {
  const { printed, value, url, gateway, subscriptions } = await started()
  const { id, confirmation_id: confirmationId } = await gateway.charge(charge(testNumbers.succeeds))
  const confirmed = await gateway.confirm(confirmationId, { otp: value('one-time code') })
  expect(confirmed).toMatchObject({ id, status: 'succeeded' })
  expect((await subscriptions.subscribe(order)).url).toContain(`${url}/authorize/`)
  for (const [name, number] of Object.entries(testNumbers)) {
    expect(value(`\\${number}`), printed).toMatch(new RegExp(`^${name} {2,}\\S`))
  }
  expect(value('control panel')).toBe(`${url}/_mock`)
  expect(await (await fetch(value('control panel'))).text()).toContain('Mock control panel')
  expect(value('OpenAPI')).toBe(`${url}/openapi`)
  expect(await (await fetch(value('OpenAPI'))).text()).toContain('gateway.charge')
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends the command at once with exit code 0, even during a request',
  async (signal) => {
    const { url, stop } = await started()
    await ask(url, 'fault', { operation: 'gateway.health', kind: 'timeout' })
    const closed = expect(fetch(`${url}/health`)).rejects.toThrow()
    // The request has arrived once its fault is used up.
    await expect.poll(async () => (await stateOf(url)).faults, { timeout: 30_000 }).toEqual([])
    expect(await stop(signal)).toMatchObject({ code: 0, err: '' })
    await closed
    await expect(fetch(url)).rejects.toThrow()
  },
)

test('--clock and --seed give two runs the same identifiers and times', async () => {
  const runs = await Promise.all(
    [1, 2].map(async () => {
      const { url, gateway } = await started('--clock', '2027-01-01T06:00:00Z', '--seed', 'demo')
      const { confirmation_url: page, ...rest } = await gateway.charge(charge(testNumbers.succeeds))
      expect(page).toContain(url)
      return rest
    }),
  )
  expect(runs[0]).toMatchObject({ created_at: expect.stringContaining('2027-01-01T06:00:00') })
  expect(runs[1]).toEqual(runs[0])
})

test('--strict applies strict rules, and --no-panel serves no panel', async () => {
  const { value, url, printed, gateway } = await started('--strict', '--no-panel')
  expect([value('rules'), value('any other')]).toEqual(['strict', 'is refused'])
  await expect(gateway.charge(charge('+8801700000000'))).rejects.toMatchObject({ code: 'api_error' })
  expect(printed).not.toContain('panel')
  expect((await fetch(`${url}/_mock`)).status).toBe(404)
})

test('--public-url is printed and begins the URLs for payers, and --allow-host opens the panel under a name', async () => {
  const publicUrl = 'https://pay.example/mock'
  const names = ['--allow-host', 'mock', '--allow-host', 'mock.internal']
  const { value, url, gateway } = await started('--public-url', publicUrl, ...names)
  expect(value('public URL')).toBe(publicUrl)
  const { confirmation_url: page } = await gateway.charge(charge(testNumbers.succeeds))
  expect(page).toContain(`${publicUrl}/confirm/`)
  const hosts = ['mock.internal:4010', 'pay.example', 'evil.example']
  expect(await Promise.all(hosts.map((host) => statusUnder(url, host)))).toEqual([200, 200, 403])
})

test('--cert and --key serve HTTP/2, with the panel', async () => {
  const { cert, key } = localhostCertificate
  const { url } = await started('--cert', await file('cert.pem', cert), '--key', await file('key.pem', key))
  const session = connect(url, { rejectUnauthorized: false })
  // The command is killed before the session ends.
  session.on('error', () => undefined)
  onTestFinished(() => session.destroy())
  const stream = session.request({ ':path': '/_mock' }).on('error', () => undefined)
  const [headers] = await once(stream, 'response')
  stream.resume()
  expect(headers[':status']).toBe(200)
})

describe('a file configures merchants and keys, which are used but not printed', () => {
  const credentials = { clientId: 'shop-a', clientSecret: 'very-secret-1' }
  const user = { username: 'ann', password: 'very-secret-2' }
  const options = JSON.stringify({
    subscriptions: { merchants: [{ name: 'Shop A', ...credentials, users: [user] }] },
    gateway: { apiKeys: ['very-secret-3'] },
  })

  test.each([
    ['config.ts', `import type {} from 'node:http'\nexport const config = ${options} satisfies object\n`],
    ['config.mjs', `export default ${options}\n`],
    ['config.json', options],
  ])('%s', async (name, text) => {
    const path = await file(name, text)
    const { printed, value, url } = await started('--config', path)
    expect(printed).not.toMatch(/very-secret|mock-client-secret/)
    expect(value('credentials')).toBe(`subscriptions.merchants in ${path}`)
    expect(value('API key')).toBe(`gateway.apiKeys in ${path}`)
    expect(value('client_id')).toBe('shop-a (Shop A)')
    await new SubscriptionsClient({ baseUrl: url, credentials: { ...credentials, ...user } }).login()
    const gateway = new GatewayClient({ baseUrl: url, apiKey: 'very-secret-3' })
    const { status } = await gateway.charge(charge(testNumbers.succeeds))
    expect(status).toBe('pending_confirmation')
    expect(await (await fetch(value('control panel'))).text()).not.toContain('very-secret')
  })
})

test('--state keeps charges, tokens and the moved clock over SIGTERM and a crash', async () => {
  const path = await file('team.state', '')
  await rm(path)
  const start = () => started('--clock', '2027-01-01T06:00:00Z', '--state', path)
  const first = await start()
  expect(first.value('state')).toBe(`kept in ${path}`)
  await ask(first.url, 'advance', { days: '45' })
  const { id } = await first.gateway.charge(charge(testNumbers.succeeds), { idempotencyKey: 'order-1' })
  expect(await first.stop('SIGTERM')).toMatchObject({ code: 0, err: '' })

  const second = await start()
  expect(second.value('clock')).toMatch(/^frozen at 2027-02-15T06:00:00/)
  const again = await second.gateway.charge(charge(testNumbers.succeeds), { idempotencyKey: 'order-1' })
  expect(again.id).toBe(id)
  await second.gateway.charge(charge(testNumbers.insufficient_funds), { idempotencyKey: 'order-2' })
  await expect.poll(async () => (await readFile(path)).includes('order-2'), { timeout: 30_000 }).toBe(true)
  await second.stop('SIGKILL')

  const third = await start()
  expect((await stateOf(third.url)).charges.total).toBe(2)
  await rm(path)
  await mkdir(path)
  await ask(third.url, 'reset')
  const err = expect.stringContaining(`${path} was not written: `)
  expect(await third.stop()).toMatchObject({ code: 1, err })
})

test('the command of the Dockerfile runs with its own arguments, is reached from outside and stops at SIGTERM', async () => {
  const dockerfile = await readFile(new URL('../../examples/docker/Dockerfile', import.meta.url), 'utf8')
  const [name, command, ...words] = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(dockerfile)?.[1] ?? '')
  expect([name, command]).toEqual(['mandatekit', 'mock'])
  expect(dockerfile).toMatch(/^EXPOSE 4010$/m)
  const volume = `${/^VOLUME (.+)$/m.exec(dockerfile)?.[1]}/`
  const state = await file('volume.state', '')
  await rm(state)
  const inside = words.map((word: string) => (word.startsWith(volume) ? state : word))
  expect(inside).not.toEqual(words)
  const publicUrl = 'http://mock.example:4010'
  const { url, gateway, stop } = await started(...inside, '--public-url', publicUrl, '--allow-host', 'mock')
  expect((await gateway.charge(charge(testNumbers.succeeds))).confirmation_url).toContain(publicUrl)
  for (const host of ['mock:4010', 'mock.example:4010']) expect(await statusUnder(url, host), host).toBe(200)
  expect(await stop('SIGTERM')).toMatchObject({ code: 0, err: '' })
  expect((await readFile(state)).length).toBeGreaterThan(0)
})

test('a file configures faults, for one number and for one order, and the panel shows them', async () => {
  const when = { msisdn: testNumbers.wallet_blocked }
  const faults = [
    { operation: 'gateway.charge', kind: 'status', status: 503, when },
    { operation: 'subscriptions.subscribe', kind: 'html', times: 'always', when: { requestID: 'order-7' } },
  ]
  const { url, gateway, subscriptions } = await started(...(await config({ faults })))
  await gateway.charge(charge(testNumbers.succeeds))
  const blocked = charge(testNumbers.wallet_blocked)
  await expect(gateway.charge(blocked)).rejects.toMatchObject({ status: 503 })
  await gateway.charge(blocked)
  await subscriptions.subscribe(order)
  await expect(subscriptions.subscribe({ ...order, requestID: 'order-7' })).rejects.toThrow('502')
  expect((await stateOf(url)).faults).toMatchObject([{ left: 'always', fault: faults[1] }])
})
