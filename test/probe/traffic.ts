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
  const pool: Record<string, unknown[]> = {
    token: [],
    refresh: [],
    invoice: [],
    subscription: [S.subscriptionId],
    charge: [],
    confirmation: [],
    payment: [],
    cancellation: [],
  }
  const day = (days: number): string =>
    new Date(mock.clock.now() + days * 86_400_000).toISOString().slice(0, 10)
  const any = (name: string): string =>
    chance(0.1) ? 'nobodys' : encodeURIComponent(String(pick(pool[name] ?? []) ?? 'nobodys'))
  const lines: string[] = []

  const learn = (body: unknown): void => {
    if (typeof body !== 'object' || body === null) return
    if (Array.isArray(body)) {
      for (const each of body) learn(each)
      return
    }
    for (const [name, value] of Object.entries(body)) {
      const kind = {
        access_token: 'token',
        refresh_token: 'refresh',
        invoiceid: 'invoice',
        subscriptionid: 'subscription',
        confirmation_id: 'confirmation',
        paymentid: 'payment',
      }[name.toLowerCase()]
      if (kind !== undefined) pool[kind]?.push(value)
      if (name === 'id') (String(value).startsWith('ch_') ? pool.charge : pool.cancellation)?.push(value)
      learn(value)
    }
  }

  const send = async (
    base: string,
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const type = chance(0.05) ? 'text/plain' : 'application/json'
    const response = await mock.fetch(`${base}${path}`, {
      method,
      headers: { ...headers, ...(text !== undefined && { 'content-type': type }) },
      ...(text !== undefined && { body: text }),
    })
    const answer = await response.text()
    lines.push(
      `${method} ${path} ${text ?? ''} -> ${response.status} ${JSON.stringify([...response.headers])} ${answer}`,
    )
    try {
      learn(JSON.parse(answer))
    } catch {
      // An empty body teaches nothing.
    }
  }

  const bearer = (): Record<string, string> => {
    const token = chance(0.05) ? undefined : pool.token?.at(-1)
    return token === undefined ? {} : { authorization: `Bearer ${token}` }
  }
  const read = (path: string): Promise<void> => {
    const body = chance(0.8) ? {} : chance(0.5) ? undefined : { unknown: 1 }
    return send(S.baseUrl, 'POST', `/api/v1.0${path}`, bearer(), body)
  }
  const key = (): Record<string, string> => ({
    authorization: `Bearer ${chance(0.15) ? pick(['wrong', G.otherApiKey]) : G.apiKey}`,
    ...(!chance(0.05) && { 'idempotency-key': `key-${Math.floor(random() * 40)}` }),
  })
  const login = (fields: object): Promise<void> =>
    send(S.baseUrl, 'POST', '/oauth/token', {}, { grant_type: 'password', ...credentials, ...fields })

  const steps: readonly (readonly [weight: number, act: () => unknown])[] = [
    [2, () => login({})],
    [1, () => login(chance(0.3) ? { password: 'wrong' } : { extra: chance(0.5) ? undefined : 1 })],
    [
      1,
      () =>
        send(
          S.baseUrl,
          'POST',
          '/oauth/token',
          {},
          {
            grant_type: 'refresh_token',
            client_id: credentials.client_id,
            client_secret: credentials.client_secret,
            refresh_token: pick(pool.refresh ?? []) ?? 'none',
          },
        ),
    ],
    [
      6,
      () => {
        const start = chance(0.8) ? Math.floor(random() * 5) : -2
        const length = pick([0, 3, 10, 400, 729, 730, 731, 732, 1_000, 1_499, 5_000]) ?? 0
        return send(S.baseUrl, 'POST', '/api/v1.0/subscribe', bearer(), {
          clientID: chance(0.85) ? credentials.client_id : pick([S.otherClientId, 'nobody']),
          requestID: `order-${Math.floor(random() * 30)}`,
          start: day(start),
          end: day(start + length),
          userReturnURL: 'https://shop.example/return',
          cycle: chance(0.9) ? 'DAILY' : 'YEARLY',
          amount: pick(['10', '10.5', '10.25', '10.125', '0', 'x']),
          ...(chance(0.1) && { unknown: 1 }),
        })
      },
    ],
    [4, () => read(`/subscribe/${any('invoice')}/status`)],
    [4, () => read(`/subscription/${any('subscription')}`)],
    [1, () => read(`/subscription/${any('subscription')}/cancel`)],
    [2, () => read(`/subscription/cancel/${any(chance(0.5) ? 'subscription' : 'cancellation')}`)],
    [
      4,
      () =>
        read(
          `/subscription/${any('subscription')}/payments${pick(['', '?page=2', '?per_page=3', '?page=2&per_page=100', '?page=x'])}`,
        ),
    ],
    [2, () => read(`/subscription/payment/${any('payment')}`)],
    [1, () => read('/nowhere')],
    [
      6,
      () =>
        send(G.baseUrl, 'POST', '/api/v1/mfs/charges', key(), {
          msisdn: pick([
            ...G.testNumbers,
            '+99900000001',
            '+99900000005',
            '+99900000042',
            '+1',
            '8801711111111',
          ]),
          amount: pick([1, 100, 0, 1.5]),
          currency: pick(['BDT', 'BDT', 'XQQ']),
          redirect_uri: pick([G.redirectUri, G.redirectUri, 'https://evil.example/']),
          ...(chance(0.1) && { unknown: 1 }),
        }),
    ],
    [
      5,
      () =>
        send(G.baseUrl, 'POST', `/api/v1/mfs/confirm/${any('confirmation')}`, key(), {
          otp: chance(0.4) ? 'wrong' : otp,
        }),
    ],
    [4, () => send(G.baseUrl, 'GET', `/api/v1/mfs/charges/${any('charge')}`, key())],
    [
      4,
      () => {
        const id = any('charge')
        return send(G.baseUrl, 'POST', `/api/v1/mfs/charges/${id}/renew`, key(), {
          mandate_id: chance(0.9) ? decodeURIComponent(id) : 'other',
        })
      },
    ],
    [1, () => send(G.baseUrl, 'GET', chance(0.5) ? '/health' : '/api/v1/reference', {})],
    [0.3, () => send(G.baseUrl, 'POST', '/api/v1/reset', key())],
    [
      3,
      () => {
        const open = mock.state.subscriptions().filter(({ requestStatus }) => requestStatus === 'INITIALIZED')
        const one = pick(open)
        if (one !== undefined) mock.payer.authorize(one.invoiceId, { payments: ['fail', 'succeed'] })
      },
    ],
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
