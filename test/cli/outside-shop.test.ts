import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { createNotificationHandler, lookupVerifier, toNodeHandler } from 'mandatekit/notifications'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { ask, stateOf } from '../panel/asking.ts'
import { serve as serveListener } from '../support/serve.ts'
import type { Serving } from './command.ts'
import { serve } from './command.ts'

// Each test starts processes.
vi.setConfig({ testTimeout: 60_000 })

const STILL = ['--clock', '2027-01-01T06:00:00Z']

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

const started = async (...words: string[]) => {
  running = await serve('mock', '--port', '0', ...words)
  return { ...running, url: running.value('both APIs') }
}

const config = async (options: object): Promise<readonly string[]> => {
  const path = join(folder, 'options.json')
  await writeFile(path, JSON.stringify(options))
  return ['--config', path]
}

/** A shop's address for notifications. */
const listening = async (listener: RequestListener) => `${await serveListener(listener)}/hook`

const clientsOf = ({ url, value }: { url: string; value: Serving['value'] }) => ({
  subscriptions: new SubscriptionsClient({
    baseUrl: url,
    credentials: {
      clientId: value('client_id'),
      clientSecret: value('client_secret'),
      username: value('username'),
      password: value('password'),
    },
    rateLimit: 'throw',
  }),
  gateway: new GatewayClient({ baseUrl: url, apiKey: value('API key'), rateLimit: 'throw', retry: false }),
})

const order = (requestID: string) => ({
  requestID,
  start: '2027-01-01',
  end: '2027-12-31',
  cycle: 'WEEKLY' as const,
  amount: '25.00',
  userReturnURL: 'https://shop.example/return',
})

/** A subscription whose payer has not answered yet. */
const pending = {
  request: { start: '2027-01-01', end: '2027-12-31', cycle: 'DAILY', amount: '5' },
  createdAt: '2027-01-01T06:00:00Z',
  invoiceId: 'invoice-1',
  authorizedAt: false,
}

/** How often each notification was tried, and what was answered at last, the oldest first. */
const triesOf = async (url: string): Promise<unknown> => {
  const { notifications } = await stateOf(url)
  return notifications.items
    .toReversed()
    .map(({ tries }: { tries: { status?: number }[] }) => [tries.length, tries.at(-1)?.status])
}

test('a shop on real time handles each payment of a jump of 60 days, and goes on subscribing and calling', async () => {
  let shop: RequestListener | undefined
  const hook = await listening((request, answer) => shop?.(request, answer))
  const mock = await started(...STILL, '--notify', hook)
  const { subscriptions, gateway } = clientsOf(mock)
  const paid: string[] = []
  shop = toNodeHandler(
    createNotificationHandler({
      verify: lookupVerifier(subscriptions),
      onSubscription: () => undefined,
      onPayment: ({ paymentId }) => void paid.push(paymentId),
    }),
  )
  const { invoiceID } = await subscriptions.subscribe(order('order-1'))
  await ask(mock.url, 'authorize', { invoiceId: invoiceID })
  await ask(mock.url, 'advance', { days: '60' })
  expect(new Set(paid).size).toBe(9)
  expect(paid).toHaveLength(9)
  expect(await triesOf(mock.url)).toEqual(Array.from({ length: 10 }, () => [1, 200]))
  expect((await subscriptions.subscribe(order('order-2'))).errorCode).toBe('00')
  for (let count = 0; count < 300; count += 1) await gateway.reference()
})

describe('a notification that was answered 503', () => {
  test('comes again with --notify, on the mock’s clock, and the command says so', async () => {
    let busy = true
    const hook = await listening((_request, answer) => answer.writeHead(busy ? 503 : 200).end())
    const mock = await started(
      ...STILL,
      '--notify',
      hook,
      ...(await config({ subscriptions: { existing: [pending] } })),
    )
    expect(mock.value(hook)).toMatch(/^again when it is not answered 2xx/)
    await ask(mock.url, 'authorize', { invoiceId: 'invoice-1' })
    await ask(mock.url, 'advance', { seconds: '59' })
    expect(await triesOf(mock.url)).toEqual([[1, 503]])
    busy = false
    await ask(mock.url, 'advance', { seconds: '1' })
    expect(await triesOf(mock.url)).toEqual([[2, 200]])
  })

  test('does not with --notify-once, nor by default to a receiver of the file, and the command says so', async () => {
    const hook = await listening((_request, answer) => answer.writeHead(503).end())
    const [own, files] = [`${hook}/own`, `${hook}/of-the-file`]
    const subscriptions = { existing: [pending], notify: [{ to: `${files}?key=very-secret` }] }
    const mock = await started(
      ...STILL,
      '--notify',
      own,
      '--notify-once',
      ...(await config({ subscriptions })),
    )
    expect(mock.value(own)).toBe('once, whatever is answered')
    expect(mock.value(files)).toBe('once, whatever is answered')
    expect(mock.printed).not.toContain('very-secret')
    await ask(mock.url, 'authorize', { invoiceId: 'invoice-1' })
    await ask(mock.url, 'advance', { hours: '5' })
    expect(await triesOf(mock.url)).toEqual([[2, 503]])
  })

  test('comes again to a receiver of the file that asks for it, and the command says so', async () => {
    const hook = await listening((_request, answer) => answer.writeHead(503).end())
    const subscriptions = { existing: [pending], notify: [{ to: hook, retries: 2 }] }
    const mock = await started(...STILL, ...(await config({ subscriptions })))
    expect(mock.value(hook)).toMatch(/^again when/)
    await ask(mock.url, 'authorize', { invoiceId: 'invoice-1' })
    await ask(mock.url, 'advance', { hours: '5' })
    expect(await triesOf(mock.url)).toEqual([[2, 503]])
  })
})

test('what falls due while the clock follows the machine happens without a request', async () => {
  let count = 0
  let arrived: () => void = () => undefined
  const second = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const hook = await listening((_request, answer) => {
    count += 1
    answer.writeHead(503).end()
    if (count === 2) arrived()
  })
  const subscriptions = {
    existing: [{ ...pending, createdAt: undefined }],
    notify: [{ to: hook, retries: { tries: 2, waits: [{ seconds: 1 }] } }],
  }
  const mock = await started(...(await config({ subscriptions })))
  await ask(mock.url, 'authorize', { invoiceId: 'invoice-1' })
  await second
  expect(count).toBe(2)
})

describe('under a clock that stands still', () => {
  const statusesOf = async (url: string, calls: number) => {
    const answers: Response[] = []
    for (let count = 0; count < calls; count += 1) answers.push(await fetch(`${url}/api/v1/reference`))
    return answers
  }
  const loginOf = (url: string) => fetch(`${url}/oauth/token`, { method: 'POST', body: '{}' })

  test('no calls are limited, and the command says so, and how they would be', async () => {
    const { url, printed } = await started(...STILL)
    const off = / {2}rate limit +none, as the clock stands still; --limits sets (\d+) calls in 60 s$/gm
    expect([...printed.matchAll(off)].map(([, limit]) => limit)).toEqual(['600', '120'])
    expect((await loginOf(url)).headers.has('X-RateLimit-Limit')).toBe(false)
    const answers = await statusesOf(url, 121)
    expect(answers.at(-1)?.status).toBe(200)
  })

  test('--limits counts the machine’s minutes: a client on real time is told a time that comes', async () => {
    const { url, printed } = await started(...STILL, '--limits')
    expect(printed).toContain('120 calls in 60 s of this machine’s time')
    const before = Date.now() / 1_000
    const reset = Number((await loginOf(url)).headers.get('X-RateLimit-Reset'))
    expect(reset).toBeGreaterThan(before + 50)
    expect(reset).toBeLessThan(before + 90)
    const answers = await statusesOf(url, 121)
    expect(answers.at(119)?.status).toBe(200)
    expect(answers.at(120)?.status).toBe(429)
    expect(Number(answers.at(120)?.headers.get('Retry-After'))).toBeLessThanOrEqual(60)
  })

  test('a limit of the file holds, for its area alone', async () => {
    const gateway = { rateLimit: { limit: 2, windowMs: 60_000 } }
    const { url, printed } = await started(...STILL, ...(await config({ gateway })))
    expect(printed).toContain('2 calls in 60 s of this machine’s time')
    expect(printed).toContain('none, as the clock stands still; --limits sets 600 calls')
    expect((await statusesOf(url, 3)).map(({ status }) => status)).toEqual([200, 200, 429])
    expect((await loginOf(url)).headers.has('X-RateLimit-Limit')).toBe(false)
  })

  test('the command says what waits for the clock, and that without a panel nothing moves it', async () => {
    const one = await started(...STILL)
    expect(one.value('clock')).toBe(
      'stands still at 2027-01-01T06:00:00.000Z, until you move it at the panel: payments, expiries and lockouts (403) wait for that',
    )
    await one.stop()
    const other = await started(...STILL, '--no-panel')
    expect(other.value('clock')).toMatch(/for good: without the panel nothing moves it$/)
  })
})

test('under a clock that follows the machine calls are limited, unless the file says otherwise', async () => {
  const subscriptions = { rateLimit: false }
  const { printed } = await started(...(await config({ subscriptions })))
  const limits = [...printed.matchAll(/ {2}rate limit +(.+)$/gm)].map(([, limit]) => limit)
  expect(limits).toEqual(['none', '120 calls in 60 s'])
})

test('after a move of a clock that follows the machine, limits tell a client on real time a time that comes', async () => {
  const rateLimit = { limit: 1, windowMs: 60_000 }
  const { url } = await started(...(await config({ subscriptions: { rateLimit }, gateway: { rateLimit } })))
  expect(await ask(url, 'advance', { days: '60' })).toMatchObject({ ok: true })
  const before = Date.now() / 1_000
  const login = await fetch(`${url}/oauth/token`, { method: 'POST', body: '{}' })
  expect(Number(login.headers.get('X-RateLimit-Reset'))).toBeGreaterThan(before + 50)
  expect(Number(login.headers.get('X-RateLimit-Reset'))).toBeLessThan(before + 90)
  await fetch(`${url}/api/v1/reference`)
  // A further move is no time for them either.
  await ask(url, 'advance', { days: '1' })
  const refused = await fetch(`${url}/api/v1/reference`)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('Retry-After'))).toBeLessThanOrEqual(60)
})
