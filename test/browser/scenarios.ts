import { GatewayClient, isMandateKitError, SubscriptionsClient } from 'mandatekit'
import { createMock, type Mock, testNumbers } from 'mandatekit/mocks'
import { smoke } from '../matrix/smoke.mjs'
import { CHARGE_REQUEST } from '../support/bodies.ts'

const CHARGE = { ...CHARGE_REQUEST, msisdn: testNumbers.succeeds }

/** The facts of a failed call as one text. */
const failureOf = async (call: Promise<unknown>): Promise<string> => {
  const error: unknown = await call.catch((reason: unknown) => reason)
  if (!isMandateKitError(error)) throw new Error('The call has no known failure.', { cause: error })
  const { code, outcome, attempts } = error
  return `${code}, ${outcome}, attempts: ${attempts}${'status' in error ? `, HTTP ${error.status}` : ''}`
}

/** The calls of a page. Each one begins with a new mock and returns what the page saw. */
export const createScenarios = (mock: Mock) => {
  const gateway = () => new GatewayClient(mock.clientOptions.gateway)
  const without = { retry: { limit: 0 } }
  const scenarios = {
    life: () =>
      smoke(
        { SubscriptionsClient, GatewayClient, isMandateKitError, createMock, testNumbers },
        { mock, throughGlobalFetch: true },
      ),

    async lostResponse() {
      mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })
      const { data, response } = await gateway().charge(CHARGE).withResponse()
      const keys = mock.requests.of('gateway.charge').map(({ idempotencyKey }) => idempotencyKey)
      return {
        attempts: response.attempts,
        keys: new Set(keys).size,
        charges: mock.state.charges().map(({ id }) => id === data.id),
      }
    },

    /** A delayed call, on the clock of the mock. */
    async delay() {
      const before = mock.clock.now()
      mock.faults.add({ operation: 'gateway.charge', kind: 'rate-limit', retryAfter: 7 })
      const { response } = await gateway().charge(CHARGE).withResponse()
      return { attempts: response.attempts, seconds: (mock.clock.now() - before) / 1000 }
    },

    async unknownPaths() {
      const { subscriptions, gateway } = mock.clientOptions
      const responses = [subscriptions, gateway].map(async ({ baseUrl }) => {
        const response = await fetch(`${baseUrl}/nothing?a=1`, { method: 'POST' })
        return { status: response.status, body: await response.json() }
      })
      return Promise.all(responses)
    },

    /** The failure of each kind of fault, without retries. */
    async faults() {
      const answered = ['status', 'html', 'empty', 'malformed', 'rate-limit'] as const
      const seen: Record<string, string> = {}
      for (const kind of [...answered, 'reset', 'lost-response', 'truncated'] as const) {
        mock.reset()
        mock.faults.add({ operation: 'gateway.charge', kind })
        const failure = await failureOf(gateway().charge(CHARGE, without))
        seen[kind] = `${failure}, charges: ${mock.state.charges().length}`
      }
      return seen
    },

    /** Two calls without a response: one times out, the test aborts the other when it has reached the mock. */
    async silence() {
      mock.faults.add({ operation: 'gateway.charge', kind: 'timeout', times: 2 })
      const late = await failureOf(gateway().charge(CHARGE, { ...without, timeout: 100 }))
      const controller = new AbortController()
      const call = gateway().charge(CHARGE, { ...without, signal: controller.signal })
      while (mock.requests.of('gateway.charge').length < 2) {
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      controller.abort()
      return { late, aborted: await failureOf(call) }
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
