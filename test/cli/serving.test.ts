import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { testNumbers } from 'mandatekit/mocks/core'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { localhostCertificate } from '../support/certificates.ts'
import { open } from '../support/serve.ts'
import type { Serving } from './command.ts'
import { serve } from './command.ts'

// Each test starts processes.
vi.setConfig({ testTimeout: 60_000 })

let folder = ''
let running: Serving | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mandatekit-command-'))
})

afterEach(async () => {
  await running?.stop('SIGKILL')
  running = undefined
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const started = async (...words: string[]): Promise<Serving> => {
  running = await serve('mock', '--port', '0', ...words)
  return running
}

const file = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

const gatewayOf = (one: Serving, apiKey = one.value('API key')) =>
  new GatewayClient({ baseUrl: one.value('both APIs'), apiKey })

const charge = (msisdn: string) => ({
  msisdn,
  amount: 250,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
})

test('what the command prints is all that a client needs to charge and to subscribe', async () => {
  const one = await started()
  const gateway = gatewayOf(one)
  const { id, confirmation_id: confirmationId } = await gateway.charge(charge(testNumbers.succeeds))
  expect(await gateway.confirm(confirmationId, { otp: one.value('one-time code') })).toMatchObject({
    id,
    status: 'succeeded',
  })
  const subscriptions = new SubscriptionsClient({
    baseUrl: one.value('both APIs'),
    credentials: {
      clientId: one.value('client_id'),
      clientSecret: one.value('client_secret'),
      username: one.value('username'),
      password: one.value('password'),
    },
  })
  const { url } = await subscriptions.subscribe({
    requestID: 'order-1',
    start: '2099-01-01',
    end: '2099-12-31',
    cycle: 'WEEKLY',
    amount: '25.00',
    userReturnURL: 'https://shop.example/return',
  })
  expect(url).toContain(`${one.value('both APIs')}/authorize/`)
})

test('it prints each test number with its behavior, and the address of a panel that answers', async () => {
  const one = await started()
  for (const [name, number] of Object.entries(testNumbers)) {
    expect(one.value(`\\${number}`)).toMatch(new RegExp(`^${name} {2,}\\S`))
  }
  expect(one.value('control panel')).toBe(`${one.value('both APIs')}/_mock`)
  const page = await fetch(one.value('control panel'))
  expect(await page.text()).toContain('Mock control panel')
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends it at once with exit code 0, also while a request is open',
  async (signal) => {
    const one = await started()
    const panel = one.value('control panel')
    await fetch(panel, {
      method: 'POST',
      body: new URLSearchParams({ action: 'fault', operation: 'gateway.health', kind: 'timeout' }),
    })
    const open = fetch(`${one.value('both APIs')}/health`)
    const closed = expect(open).rejects.toThrow()
    // The request has arrived once its fault is used up.
    await expect.poll(async () => (await (await fetch(`${panel}/state`)).json()).faults.length).toBe(0)
    expect(await one.stop(signal)).toMatchObject({ code: 0, err: '' })
    await closed
    await expect(fetch(panel)).rejects.toThrow()
  },
)

test('--clock and --seed make two runs give the same identifiers and times', async () => {
  const histories: unknown[] = []
  for (let count = 0; count < 2; count += 1) {
    const one = await started('--clock', '2027-01-01T06:00:00Z', '--seed', 'demo')
    const { confirmation_url: url, ...rest } = await gatewayOf(one).charge(charge(testNumbers.succeeds))
    expect(url).toContain(one.value('both APIs'))
    histories.push(rest)
    await one.stop()
  }
  expect(histories[0]).toMatchObject({ created_at: expect.stringContaining('2027-01-01T06:00:00') })
  expect(histories[1]).toEqual(histories[0])
})

test('--strict refuses what is allowed otherwise', async () => {
  const one = await started('--strict')
  expect(one.value('rules')).toBe('strict')
  expect(one.value('any other')).toBe('is refused')
  await expect(gatewayOf(one).charge(charge('+8801700000000'))).rejects.toMatchObject({ code: 'api_error' })
})

test('--no-panel leaves the panel away', async () => {
  const one = await started('--no-panel')
  expect(one.printed).not.toContain('panel')
  const answer = await fetch(`${one.value('both APIs')}/_mock`)
  expect(answer.status).toBe(404)
})

test('--notify delivers notifications to an address', async () => {
  const receiver = createServer((_request, answer) => answer.end())
  const port = await open(receiver)
  const config = await file(
    'existing.json',
    JSON.stringify({
      subscriptions: {
        existing: [
          {
            request: { start: '2027-01-01', end: '2027-12-31', cycle: 'DAILY', amount: '5' },
            createdAt: '2027-01-01T06:00:00Z',
          },
        ],
      },
    }),
  )
  const one = await started(
    '--notify',
    `http://127.0.0.1:${port}/hook`,
    '--clock',
    '2027-01-01T06:00:00Z',
    '--config',
    config,
  )
  const delivered = once(receiver, 'request')
  await fetch(one.value('control panel'), {
    method: 'POST',
    body: new URLSearchParams({ action: 'advance', days: '1' }),
  })
  const [request] = await delivered
  expect(request.url).toBe('/hook')
})

const merchants = `[{
  name: 'Shop A', clientId: 'shop-a', clientSecret: 'very-secret-1',
  users: [{ username: 'ann', password: 'very-secret-2' }],
}]`

test.each([
  ['config.ts', `import type {} from 'node:http'\nexport const config = OPTIONS satisfies object\n`],
  ['config.mjs', 'export default OPTIONS\n'],
  ['config.json', undefined],
])('%s configures merchants and keys, which are used but not printed', async (name, module) => {
  const options = `{ subscriptions: { merchants: ${merchants} }, gateway: { apiKeys: ['very-secret-3'] } }`
  const json = JSON.stringify({
    subscriptions: {
      merchants: [
        {
          name: 'Shop A',
          clientId: 'shop-a',
          clientSecret: 'very-secret-1',
          users: [{ username: 'ann', password: 'very-secret-2' }],
        },
      ],
    },
    gateway: { apiKeys: ['very-secret-3'] },
  })
  const path = await file(name, module?.replace('OPTIONS', options) ?? json)
  const one = await started('--config', path)
  expect(one.printed).not.toContain('very-secret')
  expect(one.printed).not.toContain('mock-client-secret')
  expect(one.value('credentials')).toBe(`subscriptions.merchants in ${path}`)
  expect(one.value('API key')).toBe(`gateway.apiKeys in ${path}`)
  expect(one.value('client_id')).toBe('shop-a (Shop A)')
  const subscriptions = new SubscriptionsClient({
    baseUrl: one.value('both APIs'),
    credentials: {
      clientId: 'shop-a',
      clientSecret: 'very-secret-1',
      username: 'ann',
      password: 'very-secret-2',
    },
  })
  await subscriptions.login()
  expect((await gatewayOf(one, 'very-secret-3').charge(charge(testNumbers.succeeds))).status).toBe(
    'pending_confirmation',
  )
  const page = await fetch(one.value('control panel'))
  expect(await page.text()).not.toContain('very-secret')
})

test('--cert and --key serve HTTP/2, panel included', async () => {
  const one = await started(
    '--cert',
    await file('cert.pem', localhostCertificate.cert),
    '--key',
    await file('key.pem', localhostCertificate.key),
  )
  const session = connect(one.value('both APIs'), { rejectUnauthorized: false })
  try {
    const stream = session.request({ ':path': '/_mock' })
    const [headers] = await once(stream, 'response')
    stream.resume()
    expect(headers[':status']).toBe(200)
  } finally {
    session.destroy()
  }
})
