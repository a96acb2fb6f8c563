import type { Mock } from '../../mocks/core.ts'
import { createRandom } from '../support/random.ts'
import { SANDBOX } from './set-up.ts'

const S = SANDBOX.subscriptions
const G = SANDBOX.gateway
const credentials = {
  client_id: S.credentials.clientId,
  client_secret: S.credentials.clientSecret,
  username: S.credentials.username,
  password: S.credentials.password,
}

/** Fields of responses that name what later requests are about. */
const POOLS: Readonly<Record<string, string>> = {
  access_token: 'token',
  refresh_token: 'refresh',
  invoiceid: 'invoice',
  subscriptionid: 'subscription',
  confirmation_id: 'confirmation',
  paymentid: 'payment',
}

/** Sends random requests to a mock, which name what its own responses contained, and returns what it answered. */
export const traffic = async (
  mock: Mock,
  otp: string,
  seed: number,
  count: number,
): Promise<readonly string[]> => {
  const random = createRandom(seed)
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)]
  const chance = (probability: number): boolean => random() < probability
  const pool: Record<string, unknown[]> = { subscription: [S.subscriptionId] }
  const day = (days: number): string =>
    new Date(mock.clock.now() + days * 86_400_000).toISOString().slice(0, 10)
  const any = (name: string): string =>
    chance(0.1) ? 'nobodys' : encodeURIComponent(String(pick(pool[name] ?? []) ?? 'nobodys'))
  const lines: string[] = []

  const keep = (kind: string, value: unknown): void => {
    pool[kind] = [...(pool[kind] ?? []), value]
  }
  const learn = (body: unknown): void => {
    if (typeof body !== 'object' || body === null) return
    for (const [name, value] of Object.entries(body)) {
      const kind = POOLS[name.toLowerCase()]
      if (kind !== undefined) keep(kind, value)
      if (name === 'id') keep(String(value).startsWith('ch_') ? 'charge' : 'cancellation', value)
      learn(value)
    }
  }

  const send = async (url: string, headers: Record<string, string>, body?: unknown, method = 'POST') => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const type = chance(0.05) ? 'text/plain' : 'application/json'
    const response = await mock.fetch(url, {
      method,
      headers: { ...headers, ...(text !== undefined && { 'content-type': type }) },
      ...(text !== undefined && { body: text }),
    })
    const answer = await response.text()
    const sent = `${method} ${url} ${text ?? ''}`
    lines.push(`${sent} -> ${response.status} ${JSON.stringify([...response.headers])} ${answer}`)
    try {
      learn(JSON.parse(answer))
    } catch {
      // An empty body teaches nothing.
    }
  }

  const post = (path: string, body?: unknown): Promise<void> => {
    const token = chance(0.05) ? undefined : pool.token?.at(-1)
    return send(
      `${S.baseUrl}/api/v1.0${path}`,
      token === undefined ? {} : { authorization: `Bearer ${token}` },
      body,
    )
  }
  const read = (path: string) => post(path, chance(0.8) ? {} : chance(0.5) ? undefined : { unknown: 1 })
  const login = (fields: object) =>
    send(`${S.baseUrl}/oauth/token`, {}, { grant_type: 'password', ...credentials, ...fields })
  const ask = (path: string, body?: unknown, method?: string) =>
    send(
      `${G.baseUrl}/api/v1${path}`,
      {
        authorization: `Bearer ${chance(0.15) ? pick(['wrong', G.otherApiKey]) : G.apiKey}`,
        ...(!chance(0.05) && { 'idempotency-key': `key-${Math.floor(random() * 40)}` }),
      },
      body,
      method,
    )

  const subscribe = () => {
    const start = chance(0.8) ? Math.floor(random() * 5) : -2
    const length = pick([0, 3, 10, 400, 729, 730, 731, 732, 1_000, 1_499, 5_000]) ?? 0
    return post('/subscribe', {
      clientID: chance(0.85) ? credentials.client_id : pick([S.otherClientId, 'nobody']),
      requestID: `order-${Math.floor(random() * 30)}`,
      start: day(start),
      end: day(start + length),
      userReturnURL: 'https://shop.example/return',
      cycle: chance(0.9) ? 'DAILY' : 'YEARLY',
      amount: pick(['10', '10.5', '10.25', '10.125', '0', 'x']),
      ...(chance(0.1) && { unknown: 1 }),
    })
  }
  const charge = () =>
    ask('/mfs/charges', {
      msisdn: pick([...G.testNumbers, '+99900000001', '+99900000005', '+99900000042', '+1', '8801711111111']),
      amount: pick([1, 100, 0, 1.5]),
      currency: pick(['BDT', 'BDT', 'XQQ']),
      redirect_uri: pick([G.redirectUri, G.redirectUri, 'https://evil.example/']),
      ...(chance(0.1) && { unknown: 1 }),
    })
  const renew = () => {
    const id = any('charge')
    return ask(`/mfs/charges/${id}/renew`, { mandate_id: chance(0.9) ? decodeURIComponent(id) : 'other' })
  }
  const authorize = () => {
    const one = pick(
      mock.state.subscriptions().filter(({ requestStatus }) => requestStatus === 'INITIALIZED'),
    )
    if (one !== undefined) mock.payer.authorize(one.invoiceId, { payments: ['fail', 'succeed'] })
  }
  const renewToken = () =>
    login({ grant_type: 'refresh_token', refresh_token: pick(pool.refresh ?? []) ?? 'none' })
  const queries = ['', '?page=2', '?per_page=3', '?page=2&per_page=100', '?page=x']

  const steps: readonly (readonly [weight: number, act: () => unknown])[] = [
    [2, () => login({})],
    [1, () => login(chance(0.3) ? { password: 'wrong' } : { extra: chance(0.5) ? undefined : 1 })],
    [1, renewToken],
    [6, subscribe],
    [4, () => read(`/subscribe/${any('invoice')}/status`)],
    [4, () => read(`/subscription/${any('subscription')}`)],
    [1, () => read(`/subscription/${any('subscription')}/cancel`)],
    [2, () => read(`/subscription/cancel/${any(chance(0.5) ? 'subscription' : 'cancellation')}`)],
    [4, () => read(`/subscription/${any('subscription')}/payments${pick(queries)}`)],
    [2, () => read(`/subscription/payment/${any('payment')}`)],
    [1, () => read('/nowhere')],
    [6, charge],
    [5, () => ask(`/mfs/confirm/${any('confirmation')}`, { otp: chance(0.4) ? 'wrong' : otp })],
    [4, () => ask(`/mfs/charges/${any('charge')}`, undefined, 'GET')],
    [4, renew],
    [1, () => send(`${G.baseUrl}${pick(['/health', '/api/v1/reference'])}`, {}, undefined, 'GET')],
    [0.3, () => ask('/reset')],
    [3, authorize],
    [3, () => mock.clock.advance({ seconds: pick([1, 20, 60, 600, 3_600, 90_000]) ?? 1 })],
  ]
  const weights = steps.reduce((sum, [weight]) => sum + weight, 0)
  await login({})
  while (lines.length < count) {
    let at = random() * weights
    const step = steps.find(([weight]) => {
      at -= weight
      return at < 0
    })
    await step?.[1]()
  }
  return lines
}
