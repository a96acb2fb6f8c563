import { createMock, defaultMerchant, type Mock, type MockOptions, testNumbers } from '../../mocks/core.ts'
import { operationEntries } from '../../scripts/openapi/operations.ts'
import { createRandom } from '../support/random.ts'
import { type Observed, observing } from './agreement.ts'

const NOW = new Date('2026-11-28T12:00:00Z')

type Fetch = Mock['fetch']
type Choose = <Item>(...items: readonly Item[]) => Item

/** The options under which the mock shows its refusals. */
export const variations: readonly MockOptions[] = [
  {},
  { rules: 'strict' },
  { subscriptions: { cancelTwice: 'refuse', sendRetryAfter: true, tokenEnvelope: false } },
  { gateway: { confirmResponse: 'status', statusResponse: 'status', maxOtpAttempts: 3 } },
  { gateway: { confirmResponse: 'empty', redirectAllowlist: ['https://shop.example/paid'] } },
  {
    subscriptions: { rateLimit: { limit: 8, windowMs: 60_000 } },
    gateway: { rateLimit: { limit: 8, windowMs: 60_000 } },
  },
]

const ANYTHING: readonly unknown[] = ['', 'x', 0, -1, 1.5, null, true, [], {}, '2026-13-40', 'ä'.repeat(300)]

/** Generates requests to every operation of a mock. `invalid` is the share of requests with a mistake. */
export const createTraffic = (
  mock: Mock,
  fetch: Fetch,
  { seed, invalid }: { seed: number; invalid: number },
) => {
  const random = createRandom(seed)
  const choose: Choose = (...items) => items[Math.floor(random() * items.length)] as (typeof items)[number]
  const { subscriptions, gateway } = mock.clientOptions
  const { clientId, clientSecret, users } = defaultMerchant
  const login = {
    grant_type: 'password',
    client_id: clientId,
    client_secret: clientSecret,
    username: users[0].username,
    password: users[0].password,
  }
  let token = ''
  let count = 0

  const known = () => {
    const states = mock.state.subscriptions()
    const charges = mock.state.charges()
    const [state, charge, payment] = [choose(...states), choose(...charges), choose(...mock.state.payments())]
    return {
      invoiceId: state?.invoiceId ?? 'none',
      subscriptionId: state?.subscriptionId ?? 'none',
      paymentId: payment?.paymentId ?? 1,
      id: charge?.id ?? 'ch_none',
      confirmationId: charge?.confirmation_id ?? 'conf_none',
    }
  }

  const bodyOf = (operation: string, path: ReturnType<typeof known>): Record<string, unknown> | undefined => {
    switch (operation) {
      case 'subscriptions.login':
        return login
      case 'subscriptions.subscribe':
        return {
          clientID: clientId,
          requestID: `order-${count}`,
          start: choose('2026-11-29', '2026-12-01', '2027-01-31'),
          end: choose('2027-02-28', '2028-06-30'),
          userReturnURL: choose('https://shop.example/return', 'https://shop.example/return?order=1#top'),
          cycle: choose('DAILY', 'WEEKLY', 'FIFTEEN_DAYS'),
          amount: choose('25.00', '1', '0.5'),
        }
      case 'gateway.charge':
        return {
          msisdn: choose(...Object.values(testNumbers), '+8801700000000'),
          amount: choose(1, 250, 9_007_199_254_740_991),
          currency: choose('BDT', 'USD'),
          redirect_uri: choose('https://shop.example/paid', 'https://shop.example/paid?order=1'),
        }
      case 'gateway.confirm':
        return { otp: '123456' }
      case 'gateway.renew':
        return { mandate_id: path.id }
      default:
        return choose(undefined, {})
    }
  }

  const broken = (body: Record<string, unknown> = {}): unknown => {
    const names = Object.keys(body)
    if (names.length === 0) return choose<unknown>({ unknown: 1 }, '{', '[]', 'null')
    const name = choose(...names)
    const { [name]: _removed, ...rest } = body
    return choose<unknown>(rest, { ...body, [name]: choose(...ANYTHING) }, { ...body, unknown: 1 }, '{', '[]')
  }

  /** Lets time pass and payers decide, so that the mock's objects reach all their states. */
  const live = async (): Promise<void> => {
    const open = mock.state.subscriptions().find(({ requestStatus }) => requestStatus === 'INITIALIZED')
    if (open !== undefined && random() < 0.5) mock.payer.authorize(open.invoiceId, { payments: ['fail'] })
    const paid = mock.state.payments().find((each) => each.status === 'SUCCEEDED_PAYMENT')
    if (paid?.reverseTransactionId === null && random() < 0.2) mock.payer.reverse(paid.paymentId)
    if (random() < 0.3) await mock.clock.advance({ hours: choose(1, 30, 24 * 16) })
    if (random() < 0.05) mock.tokens.expire()
  }

  return async (): Promise<void> => {
    count += 1
    if (count % 10 === 0) await live()
    const hasMistake = random() < invalid
    const { operation, area, auth, definition, methods, path: template } = choose(...operationEntries)
    // A reset deletes the charges, so it is rare.
    if (operation === 'gateway.reset' && random() < 0.8) return
    if (random() < 0.01) mock.outage.start({ area })
    else mock.outage.end()
    if (auth === 'token' && token === '') {
      const response = await fetch(`${subscriptions.baseUrl}/oauth/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(login),
      })
      token = Object(await response.json()).access_token ?? ''
      // The rate limit or an outage refused the login.
      if (token === '') return
    }
    const method = choose(...methods)
    const path = known()
    const good = method === 'POST' ? bodyOf(operation, path) : undefined
    const mistake = hasMistake ? choose('body', 'body', 'id', 'key', 'bearer', 'type') : 'none'
    const body = mistake === 'body' && method === 'POST' ? broken(good) : good
    const isForm = auth === 'credentials' && mistake === 'none' && random() < 0.3
    const text = isForm ? String(new URLSearchParams(login)) : JSON.stringify(body)
    const pathname = template.replace(/:(\w+)/g, (_all, name: keyof typeof path) =>
      mistake === 'id' ? choose('unknown', '0', '%20', 'cancel') : String(path[name]),
    )
    const query = definition.query === undefined ? '' : choose('', '?page=2', '?page=1&per_page=5')
    const bearer = mistake === 'bearer' ? choose('', 'wrong') : auth === 'token' ? token : gateway.apiKey
    const type = isForm
      ? 'application/x-www-form-urlencoded'
      : mistake === 'type'
        ? 'text/plain'
        : 'application/json'
    const { status } = await fetch(`${mock.clientOptions[area].baseUrl}${pathname}${query}`, {
      method,
      headers: {
        ...(auth === 'none' || auth === 'credentials' || bearer === ''
          ? {}
          : { authorization: `Bearer ${bearer}` }),
        ...(definition.idempotencyKey === true && mistake !== 'key'
          ? { 'idempotency-key': `key-${Math.floor(random() * count)}` }
          : {}),
        ...(text === undefined ? {} : { 'content-type': type }),
      },
      ...(text === undefined ? {} : { body: typeof body === 'string' && !isForm ? body : text }),
    })
    if (status === 401) token = ''
  }
}

/** Generates requests to mocks with different options, and returns the traffic. */
export const generateTraffic = async (
  requests: number,
  { invalid = 0.4, seed = 1 }: { invalid?: number; seed?: number } = {},
): Promise<readonly Observed[]> => {
  const seen: Observed[] = []
  for (const [index, options] of variations.entries()) {
    const mock = createMock({ clock: NOW, seed: `traffic-${index}`, ...options })
    const send = createTraffic(mock, observing(mock.fetch, seen), { seed: seed + index, invalid })
    const end = seen.length + Math.ceil(requests / variations.length)
    while (seen.length < end) await send()
  }
  return seen
}
