import { pino } from 'pino'
import { createMock, type LoggedRequest, type Mock, type Operation } from '../../mocks/core.ts'
import { type FetchFunction, GatewayClient, SubscriptionsClient } from '../../src/index.ts'
import { CHARGE_REQUEST, SUBSCRIPTION } from '../support/bodies.ts'
import { clientsOf } from '../support/mock-clients.ts'
import { moodyStore } from './moody-store.ts'
import type { Schedule, ScheduledCall } from './schedule.ts'

/** What the fetch below the client saw of one attempt. It is the client's whole evidence. */
export interface SeenAttempt {
  /** Address and body as they were sent. */
  readonly sent: string
  readonly key: string | undefined
  /** Status of the answer; absent while or when there was none. */
  status?: number
  /** The code with which the attempt failed. */
  code?: string
}

/** One logical call, ready to be made. */
export interface PlannedCall {
  readonly operation: Operation
  /** A text that stands in the requests of this call and of no other. */
  readonly marker: string
  readonly run: (signal: AbortSignal) => Promise<unknown>
  /** Makes the call again with a given key; absent where no key makes that safe. */
  readonly again?: (idempotencyKey: string) => Promise<unknown>
}

/** A mock with both clients in front of it, one of them logged in as the schedule says. */
export interface Prepared {
  readonly mock: Mock
  readonly calls: readonly PlannedCall[]
  readonly attempts: readonly SeenAttempt[]
  readonly facts: readonly unknown[]
  /** Every secret that was sent or received. */
  secrets(): readonly string[]
  /** The requests of a call as the mock logged them. */
  requestsOf(call: PlannedCall): readonly LoggedRequest[]
}

/** How requests get to the mock. */
export type Connect = (mock: Mock) => Promise<FetchFunction>

const codeOf = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error && 'code' in error.cause
    ? String(error.cause.code)
    : 'none'

const chargeRequest = (msisdn: string) => ({ ...CHARGE_REQUEST, msisdn })

const subscription = (requestID: string) => ({ ...SUBSCRIPTION, requestID })

/** Plans one call; what has to exist before it is made by clients that nothing goes wrong for. */
const plan = async (
  { operation, givenKey }: ScheduledCall,
  index: number,
  clients: Record<'calm' | 'tested', { gateway: GatewayClient; subscriptions: SubscriptionsClient }>,
  mock: Mock,
): Promise<PlannedCall> => {
  const { calm, tested } = clients
  // By then a server may have closed, and the mock answers at its own address again.
  const later = () => clientsOf(mock).gateway
  switch (operation) {
    case 'charge': {
      const request = chargeRequest(`+88017000000${10 + index}`)
      const key = givenKey ? { idempotencyKey: `order-key-${index}` } : {}
      return {
        operation: 'gateway.charge',
        marker: request.msisdn,
        run: (signal) => tested.gateway.charge(request, { signal, ...key }),
        again: (idempotencyKey) => later().charge(request, { idempotencyKey }),
      }
    }
    case 'renew': {
      const mandate = await calm.gateway.charge(chargeRequest('+8801700000099'))
      mock.payer.confirm(mandate.confirmation_id)
      const renewal = { dueDate: '2026-12-01' }
      return {
        operation: 'gateway.renew',
        marker: mandate.id,
        run: (signal) => tested.gateway.renew(mandate.id, renewal, { signal }),
        again: (idempotencyKey) => later().renew(mandate.id, { idempotencyKey }),
      }
    }
    case 'subscribe': {
      const request = subscription(`order-${10 + index}`)
      return {
        operation: 'subscriptions.subscribe',
        marker: request.requestID,
        run: (signal) => tested.subscriptions.subscribe(request, { signal }),
      }
    }
    case 'cancel': {
      const { invoiceID } = await calm.subscriptions.subscribe(subscription(`old-order-${index}`))
      mock.payer.authorize(invoiceID)
      const { subscriptionId } = await calm.subscriptions.status(invoiceID)
      const id = subscriptionId ?? ''
      return {
        operation: 'subscriptions.cancel',
        marker: id,
        run: (signal) => tested.subscriptions.cancel(id, { signal }),
      }
    }
  }
}

/** Prepares everything a schedule needs; its faults are not in yet. */
export const prepare = async (schedule: Schedule, connect: Connect): Promise<Prepared> => {
  const few = { limit: 6 + 4 * schedule.calls.length, windowMs: 60_000 }
  const mock = createMock({
    clock: new Date('2026-11-28T12:00:00Z'),
    seed: schedule.seed,
    subscriptions: { rateLimit: schedule.limited ? few : false },
    gateway: { rateLimit: schedule.limited ? few : false },
  })
  const send = await connect(mock)
  const attempts: SeenAttempt[] = []
  const facts: unknown[] = []
  const tokens = new Set<string>()

  const watched: FetchFunction = async (url, request) => {
    const seen: SeenAttempt = {
      sent: `${url} ${request.body ?? ''}`,
      key: request.headers['idempotency-key'],
    }
    attempts.push(seen)
    const bearer = request.headers.authorization
    if (bearer !== undefined) tokens.add(bearer.replace(/^Bearer /, ''))
    try {
      const answer = await send(url, request)
      seen.status = answer.status
      return answer
    } catch (error) {
      seen.code = codeOf(error)
      throw error
    }
  }
  const note = (fact: unknown): void => {
    facts.push(fact)
  }
  const { subscriptions, gateway } = mock.clientOptions
  const tested = {
    fetch: watched,
    timeout: schedule.timeout,
    totalTimeout: schedule.totalTimeout,
    retry: { limit: schedule.retries },
    rateLimit: schedule.rateLimit,
    hooks: { onRequest: note, onResponse: note, onRetry: note, onError: note, onTokenRenewed: note },
    onUnexpected: note,
    logger: pino({ level: 'debug' }, { write: note }),
    logLevel: 'debug',
  } as const
  const clients = {
    calm: clientsOf(mock),
    tested: {
      subscriptions: new SubscriptionsClient({
        ...subscriptions,
        ...tested,
        refresh: schedule.refresh,
        ...(schedule.store.length > 0 && { tokenStore: moodyStore(schedule.store) }),
      }),
      gateway: new GatewayClient({ ...gateway, ...tested }),
    },
  }
  const calls: PlannedCall[] = []
  for (const [index, call] of schedule.calls.entries()) calls.push(await plan(call, index, clients, mock))
  if (schedule.token !== 'none') {
    // On a busy machine even this may not come in time: then the client holds no token, as with "none".
    await clients.tested.subscriptions.login().catch(() => undefined)
    if (schedule.token === 'revoked') mock.tokens.revoke()
    if (schedule.token === 'expired') mock.tokens.expire()
  }
  mock.requests.clear()
  attempts.length = 0
  const { clientSecret, password } = subscriptions.credentials
  return {
    mock,
    calls,
    attempts,
    facts,
    secrets: () => [clientSecret, password, gateway.apiKey, ...tokens],
    requestsOf: ({ operation, marker }) =>
      mock.requests
        .of(operation)
        .filter(({ path, body }) => `${path} ${JSON.stringify(body ?? {})}`.includes(marker)),
  }
}
