import type { RequestListener } from 'node:http'
import { createNotificationHandler, lookupVerifier, toNodeHandler } from 'mandatekit/notifications'
import { describe, expect, test } from 'vitest'
import { ask, stateOf } from '../panel/asking.ts'
import { SUBSCRIPTION } from '../support/bodies.ts'
import { serve } from '../support/serve.ts'
import { useCommands } from './command.ts'

const { config, started } = useCommands()

const FROZEN = ['--clock', '2027-01-01T06:00:00Z']

/** Starts a receiver of notifications. */
const receiver = async (listener: RequestListener) => `${await serve(listener)}/hook`

const year = { start: '2027-01-01', end: '2027-12-31' }
const order = (requestID: string) => ({ ...SUBSCRIPTION, requestID, ...year })

/** A subscription before the payer's decision. */
const pending = {
  request: { ...year, cycle: 'DAILY', amount: '5' },
  createdAt: '2027-01-01T06:00:00Z',
  invoiceId: 'invoice-1',
  authorizedAt: false,
}
const authorize = (url: string) => ask(url, 'authorize', { invoiceId: 'invoice-1' })

/** Returns the statuses of the attempts of each notification, the oldest notification first. */
const attemptsOf = async (url: string): Promise<unknown> =>
  (await stateOf(url)).notifications.items
    .toReversed()
    .map(({ attempts }: { attempts: { status?: number }[] }) => attempts.map(({ status }) => status))

test('a shop on real time handles each payment of a move by 60 days, and continues to subscribe and call', async () => {
  let shop: RequestListener | undefined
  const hook = await receiver((request, response) => shop?.(request, response))
  const { url, subscriptions, gateway } = await started(...FROZEN, '--notify', hook)
  const paid: string[] = []
  shop = toNodeHandler(
    createNotificationHandler({
      verify: lookupVerifier(subscriptions),
      onSubscription: () => undefined,
      onPayment: ({ paymentId }) => void paid.push(paymentId),
    }),
  )
  const { invoiceID } = await subscriptions.subscribe(order('order-1'))
  await ask(url, 'authorize', { invoiceId: invoiceID })
  await ask(url, 'advance', { days: '60' })
  expect(new Set(paid).size).toBe(9)
  expect(paid).toHaveLength(9)
  expect(await attemptsOf(url)).toEqual(Array.from({ length: 10 }, () => [200]))
  expect((await subscriptions.subscribe(order('order-2'))).errorCode).toBe('00')
  for (let count = 0; count < 300; count += 1) await gateway.reference()
})

describe('a notification with the response 503', () => {
  const RETRIED = /^the mock retries a delivery without a 2xx response/
  const ONCE = 'each notification is delivered once, whatever the response is'

  test('is retried with --notify, on the mock’s clock, and the receiver stays after a reset', async () => {
    let status = 503
    const hook = await receiver((_request, response) => response.writeHead(status).end())
    const file = await config({ subscriptions: { existing: [pending] } })
    const { url, value } = await started(...FROZEN, '--notify', hook, ...file)
    expect(value(hook)).toMatch(RETRIED)
    await authorize(url)
    await ask(url, 'advance', { seconds: '59' })
    expect(await attemptsOf(url)).toEqual([[503]])
    status = 200
    await ask(url, 'advance', { seconds: '1' })
    expect(await attemptsOf(url)).toEqual([[503, 200]])
    await ask(url, 'reset')
    await authorize(url)
    await ask(url, 'advance', { seconds: '1' })
    expect(await attemptsOf(url)).toEqual([[200]])
  })

  test('is not retried with --notify-once, and by default not for a receiver of the file', async () => {
    const hook = await receiver((_request, response) => response.writeHead(503).end())
    const [own, files] = [`${hook}/own`, `${hook}/of-the-file`]
    const subscriptions = { existing: [pending], notify: [{ to: `${files}?key=very-secret` }] }
    const file = await config({ subscriptions })
    const { url, value, printed } = await started(...FROZEN, '--notify', own, '--notify-once', ...file)
    expect([value(own), value(files)]).toEqual([ONCE, ONCE])
    expect(printed).not.toContain('very-secret')
    await authorize(url)
    await ask(url, 'advance', { hours: '5' })
    expect(await attemptsOf(url)).toEqual([[503, 503]])
  })

  test('is retried for a receiver of the file with retries, on the machine’s clock without any request', async () => {
    let count = 0
    const hook = await receiver((_request, response) => {
      count += 1
      response.writeHead(503).end()
    })
    const retries = { attempts: 2, delays: [{ seconds: 1 }] }
    const existing = [{ ...pending, createdAt: undefined }]
    const subscriptions = { existing, notify: [{ to: hook, retries }] }
    const { url, value } = await started(...(await config({ subscriptions })))
    expect(value(hook)).toMatch(RETRIED)
    await authorize(url)
    await expect.poll(() => count, { timeout: 30_000 }).toBe(2)
  })
})

const login = (url: string) => fetch(`${url}/oauth/token`, { method: 'POST', body: '{}' })

const remaining = async (url: string) => (await login(url)).headers.get('X-RateLimit-Remaining')

/** Sends calls one after the other, and returns the statuses of the last ones. */
const call = async (url: string, calls: number, shown = 1): Promise<readonly number[]> => {
  const statuses: number[] = []
  for (let count = 0; count < calls; count += 1) {
    const { status, headers } = await fetch(`${url}/api/v1/reference`)
    statuses.push(status)
    if (status === 429) expect(Number(headers.get('Retry-After'))).toBeLessThanOrEqual(60)
  }
  return statuses.slice(-shown)
}

/** Expects that the limit of area S ends within the next minute of the machine. */
const expectResetSoon = async (url: string) => {
  const now = Date.now() / 1_000
  const reset = Number((await login(url)).headers.get('X-RateLimit-Reset'))
  expect(reset).toBeGreaterThan(now + 50)
  expect(reset).toBeLessThan(now + 90)
}

describe('under a frozen clock', () => {
  test('nothing is limited, and the command says so and how to change it', async () => {
    const { url, printed, value } = await started(...FROZEN)
    expect(value('clock')).toBe(
      'frozen at 2027-01-01T06:00:00.000Z: payments, expiries and the end of a lockout (403) happen only when you move the clock in the panel',
    )
    const off = / {2}rate limit +none while the clock is frozen; with --limits: (\d+) calls in 60 s$/gm
    expect([...printed.matchAll(off)].map(([, limit]) => limit)).toEqual(['600', '120'])
    await login(url)
    expect(await remaining(url)).toBe('600')
    expect(await call(url, 121)).toEqual([200])
  })

  test('--limits counts the machine’s minutes, so a client on real time waits for a minute at most', async () => {
    const { url, printed } = await started(...FROZEN, '--limits')
    expect(printed).toContain('120 calls in 60 s of this machine’s time')
    await expectResetSoon(url)
    expect(await call(url, 121, 2)).toEqual([200, 429])
  })

  test('a limit of the file applies to its area only', async () => {
    const gateway = { rateLimit: { limit: 2, windowMs: 60_000 } }
    const { url, printed, value } = await started(...FROZEN, '--no-panel', ...(await config({ gateway })))
    expect(value('clock')).toMatch(/: without the panel, nothing can move the clock$/)
    expect(printed).toContain('2 calls in 60 s of this machine’s time')
    expect(printed).toContain('none while the clock is frozen; with --limits: 600 calls')
    expect(await call(url, 3, 3)).toEqual([200, 200, 429])
    await login(url)
    expect(await remaining(url)).toBe('600')
  })
})

describe('under a clock that follows the machine', () => {
  test('calls are limited unless the file says otherwise', async () => {
    const { printed } = await started(...(await config({ subscriptions: { rateLimit: false } })))
    const limits = [...printed.matchAll(/ {2}rate limit +(.+)$/gm)].map(([, limit]) => limit)
    expect(limits).toEqual(['none', '120 calls in 60 s'])
  })

  test('limits count the machine’s minutes after a move, too', async () => {
    const rateLimit = { limit: 1, windowMs: 60_000 }
    const { url } = await started(...(await config({ subscriptions: { rateLimit }, gateway: { rateLimit } })))
    expect(await ask(url, 'advance', { days: '60' })).toMatchObject({ ok: true })
    await expectResetSoon(url)
    await call(url, 1)
    await ask(url, 'advance', { days: '1' })
    expect(await call(url, 1)).toEqual([429])
  })
})
