import { expect } from 'vitest'
import type { Mock } from '../../mocks/core.ts'
import { createMock, testNumbers } from '../../mocks/core.ts'
import { GatewayClient, isMandateKitError, SubscriptionsClient } from '../../src/index.ts'
import { bearer, send as sendRaw } from '../support/raw-requests.ts'

/** What a run is made with. */
export interface Setting {
  readonly seed: number
  readonly start: string
  readonly gatewayLimit: number
  readonly subscriptionsLimit: number
}

export const MERCHANTS = ['shop', 'kiosk'] as const
export const API_KEYS = ['key-of-shop', 'key-of-kiosk'] as const
export type MerchantName = (typeof MERCHANTS)[number]

/** One mock with a client of each merchant in front of it. */
export interface World {
  readonly mock: Mock
  subscriptions: Readonly<Record<MerchantName, SubscriptionsClient>>
  readonly gateway: readonly GatewayClient[]
  /** Statuses that the mock answered since the last look. */
  statuses: number[]
  fetch: Mock['fetch']
  snapshot: ReturnType<Mock['snapshot']> | undefined
}

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
      retry: false,
      rateLimit: 'throw',
    })
  return { shop: client('shop'), kiosk: client('kiosk') }
}

/** Builds a mock for two merchants, and their clients. */
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
  const statuses: number[] = []
  const fetch: Mock['fetch'] = async (input, init) => {
    const response = await mock.fetch(input, init)
    world.statuses.push(response.status)
    return response
  }
  const gateway = API_KEYS.map(
    (apiKey) =>
      new GatewayClient({
        ...mock.clientOptions.gateway,
        apiKey,
        fetch,
        retry: false,
        rateLimit: 'throw',
      }),
  )
  const world: World = {
    mock,
    fetch,
    subscriptions: clientsOf(mock, fetch),
    gateway,
    statuses,
    snapshot: undefined,
  }
  return world
}

/** The mock as new, and clients that know nothing of its past. */
export const renew = (world: World): void => {
  world.mock.reset()
  world.subscriptions = clientsOf(world.mock, world.fetch)
  world.statuses = []
}

/** The mock as it was, and clients that know nothing of what came after. */
export const goBack = (world: World): void => {
  if (world.snapshot === undefined) return
  world.mock.restore(world.snapshot)
  world.subscriptions = clientsOf(world.mock, world.fetch)
}

/** What came of an action: a value or an error, and the statuses that the mock answered on the way. */
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
    if (!isMandateKitError(caught) && !(caught instanceof Error)) throw caught
    const { name } = caught
    const { status, outcome = '' } = caught as { status?: unknown; outcome?: string }
    error = { name, status, outcome }
    if (name !== 'MockRefusedError' && !isMandateKitError(caught)) throw caught
  }
  const { statuses } = world
  world.statuses = []
  return { value, error, statuses }
}

/** Two worlds of one setting: whatever is done to both must look the same, to the byte. */
export type Pair = readonly [World, World]

/** Does the same in both worlds and gives what came of it. */
export const both = async (pair: Pair, act: (world: World) => unknown): Promise<Outcome> => {
  const one = await outcomeOf(pair[0], act)
  const other = await outcomeOf(pair[1], act)
  expect(JSON.stringify(other), 'the same seed gives the same answer').toBe(JSON.stringify(one))
  return one
}

/** A request that no client would send. */
export interface RawRequest {
  readonly area: 'subscriptions' | 'gateway'
  readonly method?: string
  readonly path: string
  readonly bearer?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Text as it is, anything else as JSON. */
  readonly body?: unknown
}

/** What a raw request was answered. */
export interface RawAnswer {
  readonly status: number
  readonly limit: readonly (string | null)[]
  readonly retryAfter: string | null
  readonly text: string
}

const LIMIT_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

/** Sends a request past the clients. */
export const send = async ({ mock, fetch }: World, request: RawRequest): Promise<RawAnswer> => {
  const { area, method = 'POST', path, bearer: token, headers = {}, body } = request
  const seen = await sendRaw(fetch, `${mock.clientOptions[area].baseUrl}${path}`, {
    method,
    headers: { ...(token === undefined ? {} : bearer(token)), ...headers },
    body,
  })
  return {
    status: seen.status,
    limit: LIMIT_HEADERS.map((name) => seen.headers.get(name)),
    retryAfter: seen.headers.get('retry-after'),
    text: seen.text,
  }
}

/** The whole visible history of a world. */
export const historyOf = ({ mock }: World): string =>
  JSON.stringify([
    mock.clock.now(),
    mock.requests.all(),
    mock.state.subscriptions(),
    mock.state.payments(),
    mock.state.charges(),
    mock.state.events(),
    mock.notifications.all(),
  ])

export { testNumbers }
