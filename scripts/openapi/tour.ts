import { createMock, defaultMerchant, type Mock, type MockOptions, testNumbers } from '../../mocks/core.ts'
import type { Area } from '../../src/contract/endpoint.ts'
import type { NotificationMessage } from '../../src/contract/notifications.ts'
import { type Method, type OperationEntry, operationEntries } from './operations.ts'

/** A request to an operation, the mock's response, and the rule by which the mock decided. */
export interface Exchange {
  readonly operation: string
  readonly method: Method
  readonly status: number
  /** The mock's decision, such as `accepted` or `not_found`. */
  readonly rule: string
  /** The parsed JSON that was sent; `undefined` without a body, and for a body that is not JSON. */
  readonly sent: unknown
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The parsed JSON of the response; `undefined` without a body. */
  readonly body: unknown
}

/** What a tour of the mock shows. */
export interface Tour {
  readonly exchanges: readonly Exchange[]
  readonly notifications: readonly NotificationMessage[]
}

interface Sending {
  readonly method?: Method
  /** Values of the parameters in the path. */
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: string
  /** An object is sent as JSON, and text is sent unchanged. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

type Body = Readonly<Record<string, unknown>>

// The documents contain times and identifiers of the mock, so the clock and the seed are fixed.
const NOW = new Date('2026-11-28T12:00:00Z')
const SEED = 'openapi'

const [{ clientId, clientSecret, users }] = [defaultMerchant]
const [{ username, password }] = users
const CREDENTIALS = {
  grant_type: 'password',
  client_id: clientId,
  client_secret: clientSecret,
  username,
  password,
}
export const ORDER = {
  clientID: clientId,
  requestID: 'order-1001',
  start: '2026-12-01',
  end: '2027-05-31',
  userReturnURL: 'https://shop.example/return',
  cycle: 'WEEKLY',
  amount: '25.00',
} as const
/** The charge that requests of the tour create. */
export const CHARGE = {
  msisdn: testNumbers.succeeds,
  amount: 250,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
}
const CODE = { otp: '123456' }
const UNKNOWN = {
  invoiceId: 'unknown',
  subscriptionId: 'unknown',
  paymentId: '1',
  confirmationId: 'conf_0',
  id: 'ch_0',
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Fetch = Mock['fetch']

/** What the visits add their exchanges to. */
interface Notes {
  readonly seen: Exchange[]
  readonly wrap: (fetch: Fetch) => Fetch
}

/** Opens a mock whose requests and responses are added to `seen`. */
const createVisit = ({ seen, wrap }: Notes, options: MockOptions = {}) => {
  const mock = createMock({ clock: NOW, seed: SEED, ...options })
  const fetch = wrap(mock.fetch)
  const entries = new Map(operationEntries.map((entry) => [entry.operation, entry]))
  const bearer = new Map<Area, string>([['gateway', mock.clientOptions.gateway.apiKey]])

  const call = async (operation: string, sending: Sending = {}): Promise<Body> => {
    const entry = entries.get(operation)
    if (entry === undefined) throw new Error(`There is no operation ${operation}.`)
    const { method = entry.method, path = {}, query = '', body, headers } = sending
    const token = entry.auth === 'token' || entry.auth === 'api-key' ? bearer.get(entry.area) : undefined
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
    const pathname = entry.path.replace(/:(\w+)/g, (_whole, name: string) => String(path[name]))
    const response = await fetch(`${mock.clientOptions[entry.area].baseUrl}${pathname}${query}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    })
    const received = jsonOf(await response.text())
    const decision = mock.requests.all().at(-1)?.decision ?? ''
    seen.push({
      operation,
      method,
      status: response.status,
      rule: decision,
      sent: text === undefined ? undefined : jsonOf(text),
      headers: Object.fromEntries(response.headers),
      body: received,
    })
    return Object(received)
  }

  return {
    mock,
    call,
    /** Logs in, so that later calls have a token. */
    async login(): Promise<void> {
      const { access_token: token } = await call('subscriptions.login', { body: CREDENTIALS })
      bearer.set('subscriptions', String(token))
    },
    /** Uses another bearer token or API key for an area. */
    use: (area: Area, token: string): void => void bearer.set(area, token),
  }
}

type Visit = ReturnType<typeof createVisit>

/** Runs a subscription from the login to its cancellation. */
const subscriptionLife = async ({ mock, call, login }: Visit): Promise<void> => {
  await login()
  const { invoiceID: invoiceId } = await call('subscriptions.subscribe', { body: ORDER })
  const path = { invoiceId: String(invoiceId) }
  await call('subscriptions.status', { path })
  mock.payer.authorize(path.invoiceId, { payments: ['succeed', 'fail'] })
  const { subscriptionId } = await call('subscriptions.status', { path })
  const subscription = { subscriptionId: String(subscriptionId) }
  await mock.clock.advance({ days: 12 })
  await login()
  await call('subscriptions.details', { path: subscription })
  await call('subscriptions.payments', { path: subscription })
  const [payment] = mock.state.payments()
  await call('subscriptions.payment', { path: { paymentId: payment?.paymentId ?? 0 } })
  await call('subscriptions.cancellation', { path: subscription })
  await call('subscriptions.cancel', { path: subscription })
  await call('subscriptions.cancellation', { path: subscription })
}

const key = (idempotencyKey: string) => ({ headers: { 'idempotency-key': idempotencyKey } })

/** Runs a charge and its renewal. */
const chargeLife = async ({ mock, call }: Visit): Promise<void> => {
  await call('gateway.health')
  await call('gateway.reference')
  const created = await call('gateway.charge', { body: CHARGE, ...key('order-1001') })
  const confirmation = { confirmationId: String(created.confirmation_id) }
  const charge = { id: String(created.id) }
  await call('gateway.status', { path: charge })
  await call('gateway.renew', { path: charge, body: { mandate_id: charge.id }, ...key('too-early') })
  await call('gateway.confirm', { path: confirmation, body: { otp: '000000' } })
  await call('gateway.confirm', { path: confirmation, body: CODE })
  await call('gateway.confirm', { path: confirmation, body: CODE })
  await call('gateway.charge', { body: CHARGE, ...key('order-1001') })
  const renewal = { path: charge, body: { mandate_id: charge.id }, ...key('renewal-2026-12') }
  await call('gateway.renew', renewal)
  await call('gateway.renew', renewal)
  await call('gateway.renew', { ...renewal, body: { mandate_id: 'ch_0' }, ...key('other-mandate') })
  const late = await call('gateway.charge', { body: CHARGE, ...key('order-1002') })
  await mock.clock.advance({ hours: 25 })
  await call('gateway.confirm', { path: { confirmationId: String(late.confirmation_id) }, body: CODE })
  await call('gateway.reset')
  await call('gateway.reset', { method: 'DELETE' })
}

/** Calls the operations whose refusals depend on an option or on the state. */
const refusals = async (seen: Notes): Promise<void> => {
  const lockedUser = createVisit(seen)
  const wrong = { ...CREDENTIALS, password: 'wrong' }
  for (let attempt = 0; attempt < 6; attempt += 1)
    await lockedUser.call('subscriptions.login', { body: wrong })

  const strict = createVisit(seen, { rules: 'strict', subscriptions: { cancelTwice: 'refuse' } })
  await strict.login()
  const { invoiceID } = await strict.call('subscriptions.subscribe', { body: ORDER })
  await strict.call('subscriptions.subscribe', { body: ORDER })
  const other = { ...ORDER, requestID: 'order-1002', clientID: 'not-issued' }
  await strict.call('subscriptions.subscribe', { body: other })
  const { subscriptionId } = strict.mock.payer.cancel(String(invoiceID))
  await strict.call('subscriptions.cancel', { path: { subscriptionId } })
  await strict.call('gateway.charge', { body: CHARGE, ...key('order-1001') })
  await strict.call('gateway.charge', { body: { ...CHARGE, amount: 300 }, ...key('order-1001') })

  const limited = createVisit(seen, { gateway: { redirectAllowlist: ['https://shop.example/checkout'] } })
  await limited.call('gateway.charge', { body: CHARGE, ...key('order-1001') })

  const quiet = createVisit(seen, { gateway: { confirmResponse: 'empty' } })
  const { confirmation_id: confirmationId } = await quiet.call('gateway.charge', {
    body: CHARGE,
    ...key('order-1001'),
  })
  await quiet.call('gateway.confirm', { path: { confirmationId: String(confirmationId) }, body: CODE })

  await runningKeys(seen)
}

/** Calls an operation twice with one idempotency key while the first call still runs. */
const runningKeys = async (seen: Notes): Promise<void> => {
  const visit = createVisit(seen, { gateway: { keyInFlight: 'conflict' } })
  const created = await visit.call('gateway.charge', { body: CHARGE, ...key('order-1001') })
  await visit.call('gateway.confirm', {
    path: { confirmationId: String(created.confirmation_id) },
    body: CODE,
  })
  const path = { id: String(created.id) }
  for (const [operation, body] of [
    ['gateway.charge', CHARGE],
    ['gateway.renew', { mandate_id: created.id }],
  ] as const) {
    const remove = visit.mock.faults.add({ operation, kind: 'latency', latencyMs: 20, times: 1 })
    const first = createQuietCall(visit.mock, operation, path, body)
    await visit.call(operation, { path, body, ...key('in-use') })
    await first
    remove()
  }
}

const createQuietCall = (mock: Mock, operation: string, path: { readonly id: string }, body: unknown) => {
  const { apiKey, baseUrl } = mock.clientOptions.gateway
  const entry = operationEntries.find((each) => each.operation === operation)
  return mock.fetch(`${baseUrl}${entry?.path.replace(':id', path.id)}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      ...key('in-use').headers,
    },
    body: JSON.stringify(body),
  })
}

/** The body and headers that an operation needs. */
const needsOf = ({ operation, definition }: OperationEntry): Sending => {
  const bodies: Readonly<Record<string, unknown>> = {
    'subscriptions.login': CREDENTIALS,
    'subscriptions.subscribe': ORDER,
    'gateway.charge': CHARGE,
    'gateway.confirm': CODE,
    'gateway.renew': { mandate_id: UNKNOWN.id },
  }
  return {
    path: UNKNOWN,
    ...(bodies[operation] === undefined ? {} : { body: bodies[operation] }),
    ...(definition.idempotencyKey === true ? key('order-1001') : {}),
  }
}

/** Sends the requests that any operation may refuse. */
const commonRefusals = async (seen: Notes, entry: OperationEntry): Promise<void> => {
  const { operation, auth, area, definition } = entry
  for (const method of entry.methods) {
    const needs = { ...needsOf(entry), method }
    const open = async (options?: MockOptions): Promise<Visit> => {
      const visit = createVisit(seen, options)
      if (auth === 'token') await visit.login()
      return visit
    }
    if (auth === 'token' || auth === 'api-key') {
      const visit = createVisit(seen)
      visit.use(area, 'wrong')
      await visit.call(operation, needs)
    }
    const visit = await open()
    if (definition.path.includes(':')) await visit.call(operation, needs)
    if (definition.idempotencyKey === true) await visit.call(operation, { ...needs, headers: {} })
    if (definition.request !== undefined) await visit.call(operation, { ...needs, body: {} })
    if (method === 'POST') {
      await visit.call(operation, { ...needs, body: '{"unfinished": ' })
      const headers = { ...needs.headers, 'content-type': 'text/plain' }
      await visit.call(operation, { ...needs, headers, body: '{"key": "value"}' })
      const strict = await open({ rules: 'strict' })
      await strict.call(operation, { ...needs, body: { ...Object(needs.body), unknown: 1 } })
    }
    const limit = { limit: auth === 'token' ? 2 : 1, windowMs: 60_000 }
    const busy = await open({ subscriptions: { rateLimit: limit }, gateway: { rateLimit: limit } })
    for (let count = 0; count < 2; count += 1) await busy.call(operation, needs)
    const down = await open()
    down.mock.outage.start({ area })
    await down.call(operation, needs)
  }
}

/**
 * Visits every operation of the mock with a fixed clock and a fixed seed, so that two tours are equal. The tour provokes
 * every refusal that the mock knows.
 *
 * @param wrap wraps the `fetch` of every mock, for example to record the traffic
 */
export const takeTour = async (wrap: (fetch: Fetch) => Fetch = (fetch) => fetch): Promise<Tour> => {
  const exchanges: Exchange[] = []
  const notes = { seen: exchanges, wrap }
  const visit = createVisit(notes)
  await subscriptionLife(visit)
  const notifications = visit.mock.notifications.all()
  await chargeLife(createVisit(notes))
  await refusals(notes)
  for (const entry of operationEntries) await commonRefusals(notes, entry)
  return { exchanges, notifications }
}
