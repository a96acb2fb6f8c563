import { createMock, type Mock, type MockOptions, type Recording, record } from '../../../mocks/core.ts'
import { GatewayClient, SubscriptionsClient } from '../../../src/index.ts'
import { createRandom } from '../../support/random.ts'

/** The secrets and numbers of the recorded shop. None of them may be in a recording. */
export const SECRETS = {
  clientId: 'shop-of-the-test',
  clientSecret: 'client-secret-7Q',
  username: 'user@shop.example',
  password: 'pass word&7+"ä',
  apiKey: 'sandbox-key-81Xv',
  otp: '904817',
} as const
export const NUMBERS = ['+8801712345678', '8801812345679', '+4915112345670'] as const

const FORM = 'application/x-www-form-urlencoded'
const START = '2026-12-01T06:00:00Z'

/** The options of the recorded server: those given, with the shop's credentials. */
const serverOptions = (options: MockOptions): MockOptions => ({
  clock: START,
  seed: 'server',
  ...options,
  subscriptions: {
    merchants: [
      {
        name: 'Shop',
        clientId: SECRETS.clientId,
        clientSecret: SECRETS.clientSecret,
        users: [{ username: SECRETS.username, password: SECRETS.password }],
      },
    ],
    ...options.subscriptions,
  },
  gateway: { apiKeys: [SECRETS.apiKey], otp: SECRETS.otp, ...options.gateway },
})

/** The failure of a call is as good a recording as its success. */
const attempt = async <Value>(call: Promise<Value>): Promise<Value | undefined> => {
  try {
    return await call
  } catch {
    return undefined
  }
}

export interface Shop {
  readonly mock: Mock
  readonly recordings: Recording[]
}

/** Lets a shop work with a server, changed by `change`, and returns the recordings of its calls. */
export const recordShop = async (
  options: MockOptions,
  {
    seed = 1,
    steps = 30,
    fetchOf = (mock: Mock): Mock['fetch'] => mock.fetch,
  }: {
    readonly seed?: number
    readonly steps?: number
    readonly fetchOf?: (mock: Mock) => Mock['fetch']
  } = {},
): Promise<Shop> => {
  const random = createRandom(seed)
  const mock = createMock(serverOptions(options))
  const recordings: Recording[] = []
  const fetch = record(fetchOf(mock), (recording) => recordings.push(JSON.parse(JSON.stringify(recording))), {
    clock: mock.clock,
  })
  const shop = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch })
  const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch })
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)]
  const invoices: string[] = []
  const charges: { id: string; confirmation_id: string }[] = []
  const dayAfter = (days: number) => new Date(mock.clock.now() + days * 86_400_000).toISOString().slice(0, 10)
  const order = (number: number) => ({
    requestID: `order-${number}`,
    start: dayAfter(pick([0, 0, 1, -3]) ?? 0),
    end: dayAfter(pick([40, 60, 729]) ?? 40),
    userReturnURL: `https://shop.example/return?order=${number}`,
    cycle: pick(['DAILY', 'WEEKLY', 'FIFTEEN_DAYS'] as const) ?? 'DAILY',
    amount: pick(['25.00', '7', '3.333']) ?? '25.00',
  })
  /** A shop knows a subscription's id only from a response. */
  const subscriptionOf = async (invoice = 'unknown') =>
    (await attempt(shop.status(invoice)))?.subscriptionId ?? 'unknown'
  const charge = (number: number) => ({
    msisdn: pick([...NUMBERS, '+99900000002', '+99900000004', '+99900000008']) ?? NUMBERS[0],
    amount: 250 + number,
    currency: pick(['BDT', 'taka']) ?? 'BDT',
    redirect_uri: 'https://shop.example/paid',
  })
  /** Sends a request that no client sends. */
  const raw = (
    area: 'subscriptions' | 'gateway',
    path: string,
    body: string,
    headers: Record<string, string>,
  ) => attempt(fetch(`${mock.clientOptions[area].baseUrl}${path}`, { method: 'POST', headers, body }))
  const login = () =>
    new URLSearchParams({
      grant_type: 'password',
      client_id: SECRETS.clientId,
      client_secret: SECRETS.clientSecret,
      username: SECRETS.username,
      password: pick([SECRETS.password, 'wrong-password']) ?? '',
    })
  const payer = (act: () => unknown) => {
    try {
      act()
    } catch {
      // The payer cannot do this now.
    }
  }

  const work: readonly ((number: number) => Promise<unknown> | unknown)[] = [
    async (number) => {
      const made = await attempt(shop.subscribe(order(number)))
      if (made !== undefined) invoices.push(made.invoiceID)
    },
    async (number) => {
      const made = await attempt(shop.subscribe(order(pick([number, number - 1, number - 2]) ?? number)))
      if (made !== undefined) invoices.push(made.invoiceID)
    },
    async () => {
      const invoice = pick(invoices) ?? ''
      const payments = Array.from({ length: 12 }, () => (random() < 0.3 ? 'fail' : 'succeed'))
      payer(() => mock.payer.authorize(invoice, { payments }))
      if (random() < 0.5) await mock.clock.advance({ hours: 30 })
    },
    () => payer(() => random() < 0.3 && mock.payer.decline(pick(invoices) ?? '')),
    async () => {
      const invoice = pick(invoices) ?? ''
      const id = await subscriptionOf(invoice)
      if (random() < 0.7) return
      payer(() => mock.payer.cancel(invoice))
      await attempt(shop.status(invoice))
      await attempt(shop.details(id))
    },
    () => payer(() => mock.payer.reverse(pick(mock.state.payments())?.paymentId ?? 0)),
    () => attempt(shop.status(pick(invoices) ?? 'unknown')),
    async () => attempt(shop.details(await subscriptionOf(pick(invoices)))),
    // Twice as likely.
    ...Array(2).fill(async () => attempt(shop.payments(await subscriptionOf(pick(invoices))))),
    async () => {
      const id = await subscriptionOf(pick(invoices))
      await attempt(shop.payments(id, { page: 1, perPage: 3 }))
      await attempt(shop.payments(id, { page: 2, perPage: 3 }))
      const list = await attempt(shop.payments(id))
      await attempt(shop.payment(pick(list?.subscriptionPayments ?? [])?.paymentId ?? 5))
    },
    async () => random() < 0.4 && attempt(shop.cancel(await subscriptionOf(pick(invoices)))),
    async () => attempt(shop.cancellation(await subscriptionOf(pick(invoices)))),
    () => attempt(shop.login()),
    () => mock.clock.advance(pick([{ minutes: 7 }, { hours: 5 }, { days: 1 }, { days: 6 }]) ?? 0),
    async (number) => {
      const made = await attempt(gateway.charge(charge(number), { idempotencyKey: `key-${number}` }))
      if (made === undefined) return
      charges.push(made)
      await attempt(gateway.charge(charge(number + 1), { idempotencyKey: `key-${number}` }))
      if (random() < 0.3) payer(() => mock.payer.confirm(made.confirmation_id))
      else if (random() < 0.6) {
        await attempt(gateway.confirm(made.confirmation_id, { otp: SECRETS.otp }))
        await attempt(gateway.status(made.id))
      }
    },
    async () => {
      const made = pick(charges)
      if (made === undefined) return
      await attempt(
        gateway.confirm(made.confirmation_id, { otp: pick([SECRETS.otp, SECRETS.otp, '111111']) ?? '' }),
      )
      await attempt(gateway.status(made.id))
    },
    async (number) => {
      const { id } = pick(charges) ?? { id: 'ch_unknown' }
      const renewal = await attempt(gateway.renew(id, { idempotencyKey: `renewal-${number}` }))
      if (renewal === undefined) return
      await attempt(gateway.renew(id, { idempotencyKey: `renewal-${number}` }))
      charges.push(renewal)
    },
    () => attempt(gateway.status(pick(charges)?.id ?? 'ch_unknown')),
    () => attempt(gateway.reference()),
    () => attempt(gateway.health()),
    (number) =>
      raw('gateway', '/api/v1/mfs/charges', JSON.stringify(charge(number)), {
        Authorization: `Bearer ${pick([SECRETS.apiKey, 'wrong-key-12345'])}`,
        'Content-Type': pick(['application/json', 'text/plain']) ?? '',
      }),
    () => raw('subscriptions', '/oauth/token', String(login()), { 'Content-Type': FORM }),
  ]
  await attempt(shop.login())
  for (let number = 1; number <= steps; number += 1) await pick(work)?.(number)
  return { mock, recordings }
}
