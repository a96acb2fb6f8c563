import { GatewayClient, isMandateKitError, SubscriptionsClient } from 'mandatekit'
import type { Fault, FaultKind, Mock } from 'mandatekit/mocks'
import { testNumbers } from 'mandatekit/mocks'

/** What a failed call says of itself. */
export interface Failure {
  readonly code: string
  readonly outcome: string
  readonly attempts: number
  readonly status: number | undefined
}

const REQUEST = {
  requestID: 'order-1',
  start: '2027-01-02',
  end: '2027-12-31',
  cycle: 'DAILY',
  amount: '25.00',
  userReturnURL: 'https://shop.example/return',
} as const

const CHARGE = {
  msisdn: testNumbers.succeeds,
  amount: 250,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
}

const failureOf = async (call: Promise<unknown>): Promise<Failure> => {
  const error: unknown = await call.then(
    () => new Error('The call succeeded.'),
    (reason: unknown) => reason,
  )
  if (!isMandateKitError(error)) throw error
  const { code, outcome, attempts } = error
  return { code, outcome, attempts, status: 'status' in error ? Number(error.status) : undefined }
}

/** The calls of a page. Every one begins with a mock as new, and gives back what it saw. */
export const createScenarios = (mock: Mock) => {
  const subscriptions = () => new SubscriptionsClient(mock.clientOptions.subscriptions)
  const gateway = () => new GatewayClient(mock.clientOptions.gateway)
  const without = { retry: { limit: 0 } }
  const { baseUrl: subscriptionsUrl } = mock.clientOptions.subscriptions
  const { baseUrl: gatewayUrl, apiKey } = mock.clientOptions.gateway

  const scenarios = {
    async subscription() {
      const client = subscriptions()
      const { url, invoiceID } = await client.subscribe(REQUEST)
      mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail'] })
      const { status, subscriptionId } = await client.status(invoiceID)
      await mock.clock.advance({ days: 3 })
      const id = String(subscriptionId)
      const payments: string[] = []
      for await (const payment of client.allPayments(id)) payments.push(payment.status)
      const cancelled = await client.cancel(id)
      const { enabled } = await client.details(id)
      return {
        host: new URL(url).origin,
        status,
        payments,
        cancelled: cancelled.status,
        enabled,
        logins: mock.requests.of('subscriptions.login').length,
      }
    },

    async chargeWhoseAnswerIsLost() {
      mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })
      const { data, response } = await gateway().charge(CHARGE).withResponse()
      const keys = mock.requests.of('gateway.charge').map(({ idempotencyKey }) => idempotencyKey)
      return {
        attempts: response.attempts,
        keys: new Set(keys).size,
        charges: mock.state.charges().map(({ id }) => id === data.id),
      }
    },

    async chargeOfTheSameKey() {
      const client = gateway()
      const first = await client.charge(CHARGE, { idempotencyKey: 'order-1' }).withResponse()
      const again = await client.charge(CHARGE, { idempotencyKey: 'order-1' }).withResponse()
      return {
        statuses: [first.response.status, again.response.status],
        sameId: first.data.id === again.data.id,
        charges: mock.state.charges().length,
      }
    },

    async confirmation() {
      const client = gateway()
      const charge = await client.charge(CHARGE)
      const wrong = await failureOf(client.confirm(charge.confirmation_id, { otp: '000000' }))
      const confirmed = await client.confirm(charge.confirmation_id, { otp: '123456', chargeId: charge.id })
      const renewals = [
        await client.renew(charge.id, { dueDate: '2027-02-01' }),
        await client.renew(charge.id, { dueDate: '2027-02-01' }),
      ]
      return {
        wrong,
        confirmed: confirmed.status,
        renewals: new Set(renewals.map(({ id }) => id)).size,
        charges: mock.state.charges().length,
      }
    },

    async lockout() {
      const { credentials } = mock.clientOptions.subscriptions
      const thief = new SubscriptionsClient({
        ...mock.clientOptions.subscriptions,
        credentials: { ...credentials, password: 'a guess' },
      })
      const guesses: string[] = []
      for (let guess = 0; guess < 6; guess += 1) guesses.push((await failureOf(thief.login())).code)
      const client = subscriptions()
      const locked = await failureOf(client.status('inv'))
      await mock.clock.advance({ minutes: 15, seconds: 1 })
      const later = await client.login()
      return { guesses, locked, later: later.token_type }
    },

    async rateLimitHeaders() {
      const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
      const answer = await fetch(`${subscriptionsUrl}/api/v1.0/subscription/none`, { method: 'POST' })
      mock.faults.add({ operation: 'gateway.status', kind: 'rate-limit', retryAfter: 7 })
      const limited = await fetch(`${gatewayUrl}/api/v1/mfs/charges/ch_1`, {
        headers: { Authorization: `Bearer ${apiKey}` },
      })
      const { response } = await subscriptions().subscribe(REQUEST).withResponse()
      return {
        status: answer.status,
        headers: names.map((name) => answer.headers.get(name)),
        limited: limited.status,
        retryAfter: limited.headers.get('retry-after'),
        ofClient: response.rateLimit?.limit,
      }
    },

    /** A limited call waits as long as it was told, on the mock's clock. */
    async waitAfter429() {
      const before = mock.clock.now()
      mock.faults.add({ operation: 'gateway.charge', kind: 'rate-limit', retryAfter: 7 })
      const { response } = await gateway().charge(CHARGE).withResponse()
      return { attempts: response.attempts, seconds: (mock.clock.now() - before) / 1000 }
    },

    async unknownPaths() {
      const answers = [`${subscriptionsUrl}/nothing`, `${gatewayUrl}/nothing?a=1`].map(async (url) => {
        const answer = await fetch(url, { method: 'POST' })
        return { status: answer.status, body: await answer.json() }
      })
      return Promise.all(answers)
    },

    /** How each kind of fault looks to a client that repeats nothing. */
    async faults() {
      const kinds: readonly FaultKind[] = [
        'status',
        'html',
        'empty',
        'malformed',
        'rate-limit',
        'reset',
        'lost-response',
        'truncated',
      ]
      const seen: Record<string, Failure & { readonly charges: number }> = {}
      for (const kind of kinds) {
        mock.reset()
        mock.faults.add({ operation: 'gateway.charge', kind })
        const failure = await failureOf(gateway().charge(CHARGE, without))
        seen[kind] = { ...failure, charges: mock.state.charges().length }
      }
      return seen
    },

    /** No answer comes: one call runs out of time, the other is aborted once it has reached the mock. */
    async silence() {
      const fault: Fault = { operation: 'gateway.charge', kind: 'timeout', times: 2 }
      mock.faults.add(fault)
      const late = await failureOf(gateway().charge(CHARGE, { ...without, timeout: 100 }))
      const controller = new AbortController()
      const call = gateway().charge(CHARGE, { ...without, signal: controller.signal })
      while (mock.requests.of('gateway.charge').length < 2) {
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      controller.abort()
      return { late, aborted: await failureOf(call) }
    },

    async lostSubscription() {
      mock.faults.add({ operation: 'subscriptions.subscribe', kind: 'lost-response' })
      const failure = await failureOf(subscriptions().subscribe(REQUEST))
      return { failure, sent: mock.requests.of('subscriptions.subscribe').length }
    },
  }

  return Object.fromEntries(
    Object.entries(scenarios).map(([name, scenario]) => [
      name,
      () => {
        mock.reset()
        return scenario()
      },
    ]),
  ) as typeof scenarios
}

export type Scenarios = ReturnType<typeof createScenarios>
