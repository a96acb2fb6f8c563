import { expect } from 'vitest'
import { createMock, type Mock, testNumbers } from '../../mocks/core.ts'
import { GatewayClient, isMandateKitError, SubscriptionsClient } from '../../src/index.ts'
import { bearer, type Sending, send as sendRaw } from '../support/raw-requests.ts'

/** What a run starts with. */
export interface Setting {
  readonly seed: number
  readonly start: string
  readonly gatewayLimit: number
  readonly subscriptionsLimit: number
}

export const MERCHANTS = ['shop', 'kiosk'] as const
export const API_KEYS = ['key-of-shop', 'key-of-kiosk'] as const
export type MerchantName = (typeof MERCHANTS)[number]

/** One mock with a client of each merchant. */
export interface World {
  readonly mock: Mock
  readonly fetch: Mock['fetch']
  readonly gateway: readonly GatewayClient[]
  subscriptions: Readonly<Record<MerchantName, SubscriptionsClient>>
  /** Statuses of the responses since they were last read. */
  statuses: number[]
  snapshot: ReturnType<Mock['snapshot']> | undefined
}

const common = { retry: false, rateLimit: 'throw' } as const

const clientsOf = (mock: Mock, fetch: Mock['fetch']): World['subscriptions'] => {
  const client = (name: MerchantName) =>
    new SubscriptionsClient({
      ...mock.clientOptions.subscriptions,
      credentials: {
        clientId: name,
        clientSecret: `${name}-secret`,
        username: `${name}-owner`,
        password: 'right',
      },
      fetch,
      ...common,
    })
  return { shop: client('shop'), kiosk: client('kiosk') }
}

/** Creates a mock for two merchants, and their clients. */
export const createWorld = ({ seed, start, gatewayLimit, subscriptionsLimit }: Setting): World => {
  const merchants = MERCHANTS.map((name) => ({
    name,
    clientId: name,
    clientSecret: `${name}-secret`,
    users: ['owner', 'clerk'].map((role) => ({ username: `${name}-${role}`, password: 'right' })),
  }))
  const mock = createMock({
    seed,
    clock: start,
    subscriptions: { merchants, rateLimit: { limit: subscriptionsLimit, windowMs: 60_000 } },
    gateway: { apiKeys: [...API_KEYS], rateLimit: { limit: gatewayLimit, windowMs: 60_000 } },
  })
  const fetch: Mock['fetch'] = async (input, init) => {
    const response = await mock.fetch(input, init)
    world.statuses.push(response.status)
    return response
  }
  const gateway = API_KEYS.map(
    (apiKey) =>
      new GatewayClient({ ...mock.clientOptions.gateway, apiKey, fetch, onKeyReuse: 'report', ...common }),
  )
  const subscriptions = clientsOf(mock, fetch)
  const world: World = { mock, fetch, subscriptions, gateway, statuses: [], snapshot: undefined }
  return world
}

/** Resets the mock, or restores its snapshot; its clients know nothing of the past. */
export const startOver = (world: World, how: 'reset' | 'restore'): void => {
  if (how === 'reset') world.mock.reset()
  else if (world.snapshot !== undefined) world.mock.restore(world.snapshot)
  world.subscriptions = clientsOf(world.mock, world.fetch)
  world.statuses = []
}

/** The value or error of an action, and the statuses of the responses to it. */
export interface Outcome {
  readonly value: unknown
  readonly error: { readonly name: string; readonly status: unknown; readonly outcome: string } | undefined
  readonly statuses: readonly number[]
}

const outcomeOf = async (world: World, act: (world: World) => unknown): Promise<Outcome> => {
  let value: unknown
  let error: Outcome['error']
  try {
    value = await act(world)
  } catch (caught) {
    const { name, status, outcome = '' } = caught as Error & { status?: unknown; outcome?: string }
    if (name !== 'MockRefusedError' && !isMandateKitError(caught)) throw caught
    error = { name, status, outcome }
  }
  const { statuses } = world
  world.statuses = []
  return { value, error, statuses }
}

/** Two worlds of one setting: the same actions must look the same in both, to the byte. */
export type Pair = readonly [World, World]

/** Does the same in both worlds and returns its outcome. */
export const both = async (pair: Pair, act: (world: World) => unknown): Promise<Outcome> => {
  const one = await outcomeOf(pair[0], act)
  const other = await outcomeOf(pair[1], act)
  expect(JSON.stringify(other), 'the same seed gives the same response').toBe(JSON.stringify(one))
  return one
}

/** A request that no client would send. */
export interface RawRequest extends Sending {
  readonly area: 'subscriptions' | 'gateway'
  readonly path: string
  readonly bearer?: string | undefined
}

const LIMIT_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

/** Sends a request past the clients. */
export const send = async ({ mock, fetch }: World, request: RawRequest) => {
  const { area, path, bearer: token, headers = {}, ...sending } = request
  const seen = await sendRaw(fetch, `${mock.clientOptions[area].baseUrl}${path}`, {
    ...sending,
    headers: { ...(token === undefined ? {} : bearer(token)), ...headers },
  })
  return {
    status: seen.status,
    limit: LIMIT_HEADERS.map((name) => seen.headers.get(name)),
    retryAfter: seen.headers.get('retry-after'),
    text: seen.text,
  }
}

export type RawAnswer = Awaited<ReturnType<typeof send>>

/** Everything that a world shows. */
export const historyOf = ({ mock }: World): string =>
  JSON.stringify([
    mock.clock.now(),
    mock.requests.all().map(({ durationMs: _durationMs, ...request }) => request),
    mock.state.subscriptions(),
    mock.state.payments(),
    mock.state.charges(),
    mock.state.events(),
    mock.notifications.all(),
  ])

export { testNumbers }
