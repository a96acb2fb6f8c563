import type { ClientOptions, Hooks, MandateKitError } from '../../src/index.ts'
import { CHARGE_REQUEST, SUBSCRIPTION } from './bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from './clients.ts'
import { type Received, type Script, startServer, withLogin } from './scripted-server.ts'
import { skippingClock } from './skipping-clock.ts'

type Options = Partial<Omit<ClientOptions, 'baseUrl'>>
type ServerScript = Script | readonly Script[] | ((request: Received, index: number) => Script)

/** Both clients of a server that follows a script and grants logins. Unless another clock is given, theirs skips every wait. */
export const openClients = async (script: ServerScript, options: Options = {}) => {
  const isOne = typeof script === 'object' && !Array.isArray(script)
  const server = await startServer(withLogin(isOne ? [script as Script] : (script as readonly Script[])))
  const clock = skippingClock()
  return {
    ...server,
    clock,
    subscriptions: subscriptionsClient(server.url, { clock, ...options }),
    gateway: gatewayClient(server.url, { clock, ...options }),
  }
}

export type Clients = Awaited<ReturnType<typeof openClients>>
export type Call = (clients: Clients) => Promise<unknown>

/** Hooks that record every event, with the name of its hook. */
export const recording = () => {
  const seen: [name: string, event: Record<string, unknown>][] = []
  const note = (name: string) => (event: object) => void seen.push([name, { ...event }])
  const hooks: Hooks = {
    onRequest: note('request'),
    onResponse: note('response'),
    onRetry: note('retry'),
    onError: note('error'),
    onTokenRenewed: note('token'),
  }
  return { hooks, seen }
}

export const once = { retry: false } as const
export const unexpected = { code: 'unexpected_response', outcome: 'unknown' }

/** One call of each operation that the tests need most. */
export const calls = {
  charge: ({ gateway }) => gateway.charge(CHARGE_REQUEST),
  renew: ({ gateway }) => gateway.renew('ch_1', { dueDate: '2026-12-01' }),
  confirm: ({ gateway }) => gateway.confirm('conf_1', { otp: '123456' }),
  status: ({ gateway }) => gateway.status('ch_1'),
  reset: ({ gateway }) => gateway.reset(),
  login: ({ subscriptions }) => subscriptions.login(),
  subscribe: ({ subscriptions }) => subscriptions.subscribe(SUBSCRIPTION),
  details: ({ subscriptions }) => subscriptions.details('sub-1'),
  cancel: ({ subscriptions }) => subscriptions.cancel('sub-1'),
} satisfies Record<string, Call>

/** The error of a call to a server that follows a script. */
export const failureOf = async <Kind extends MandateKitError>(
  script: ServerScript,
  call: Call,
  options: Options = {},
): Promise<Kind> => errorOf<Kind>(call(await openClients(script, options)))
