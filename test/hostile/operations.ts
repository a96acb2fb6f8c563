import type { CallOptions, GatewayClient, SubscriptionsClient } from '../../src/index.ts'
import * as bodies from '../support/bodies.ts'
import { TOKEN } from '../support/clients.ts'

/** One operation of a client, and the facts about it that the oracle needs. */
export interface Operation {
  readonly area: 'subscriptions' | 'gateway'
  /** The object of a successful response. */
  readonly object: object
  readonly call: (clients: Clients, options: CallOptions, key: Key) => Promise<unknown>
  /** Fields that only the created object has; absent for reads. */
  readonly created?: readonly string[] | undefined
  /** Whether the request has an idempotency key. */
  readonly isKeyed?: boolean
  /** Whether the hostile responses are those to the token request. */
  readonly atLogin?: boolean
}

type Key = { readonly idempotencyKey: string } | undefined
interface Clients {
  readonly gateway: GatewayClient
  readonly subscriptions: SubscriptionsClient
}

const { CANCELLED, CHARGE, CHARGE_REQUEST, DETAILS, OK, SUBSCRIBED, SUBSCRIPTION } = bodies
const CHARGED = ['id', 'confirmation_id']
const payment = bodies.payment(1)
const state = { invoiceId: 'inv-1', status: 'INITIALIZED', subscriptionId: 'sub-1', createdAt: 'x', ...OK }
export const REFRESH_TOKEN = 'refresh-62b0'
export const GRANTED = {
  token_type: 'Bearer',
  expires_in: 3600,
  access_token: TOKEN,
  refresh_token: REFRESH_TOKEN,
}

type Call<Client> = (client: Client, options: CallOptions, key: Key) => Promise<unknown>
const g = (object: object, call: Call<GatewayClient>, created?: readonly string[]): Operation => {
  return { area: 'gateway', object, call: ({ gateway }, ...rest) => call(gateway, ...rest), created }
}
const s = (object: object, call: Call<SubscriptionsClient>, created?: readonly string[]): Operation => {
  return {
    area: 'subscriptions',
    object,
    call: (clients, ...rest) => call(clients.subscriptions, ...rest),
    created,
  }
}

const REQUESTED = ['url', 'invoiceID']
const subscribe = s(SUBSCRIBED, (client, options) => client.subscribe(SUBSCRIPTION, options), REQUESTED)
const cancel = s(CANCELLED, (client, options) => client.cancel('sub-1', options), [
  'subscriptionID',
  'status',
])
const charge = g(
  CHARGE,
  (client, ...more) => client.charge(CHARGE_REQUEST, Object.assign({}, ...more)),
  CHARGED,
)
const renewal = { dueDate: '2026-12-01' }
const renew = g(CHARGE, (client, options, key) => client.renew('ch_1', key ?? renewal, options), CHARGED)

/** Every operation of both clients. */
export const operations: Readonly<Record<string, Operation>> = {
  health: g({}, (client, options) => client.health(options)),
  reference: g({ numbers: [] }, (client, options) => client.reference(options)),
  charge: { ...charge, isKeyed: true },
  confirm: g(CHARGE, (client, options) => client.confirm('conf_1', { otp: '123456' }, options), CHARGED),
  'status of a charge': g(CHARGE, (client, options) => client.status('ch_1', options)),
  renew: { ...renew, isKeyed: true },
  reset: g({}, (client, options) => client.reset(options), []),
  login: { ...s(GRANTED, (client, options) => client.login(options)), atLogin: true },
  subscribe,
  cancel,
  'subscribe at its login': { ...subscribe, atLogin: true },
  'cancel at its login': { ...cancel, atLogin: true },
  'status of a request': s(state, (client, options) => client.status('inv-1', options)),
  details: s(DETAILS, (client, options) => client.details('sub-1', options)),
  cancellation: s(CANCELLED, (client, options) => client.cancellation('sub-1', options)),
  payments: s({ subscriptionPayments: [payment], ...OK }, (client, options) =>
    client.payments('sub-1', {}, options),
  ),
  payment: s({ ...payment, ...OK }, (client, options) => client.payment(1, options)),
}
