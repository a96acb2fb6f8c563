import type { GatewayClientOptions, SubscriptionsClientOptions } from 'mandatekit'
import { createMock, type Mock, testNumbers } from 'mandatekit/mocks/core'
import { startMockServer } from 'mandatekit/mocks/server'

/** The settings of the quickstart, which runs a subscription and a charge from beginning to end. */
export interface Settings {
  readonly subscriptions: SubscriptionsClientOptions
  readonly gateway: GatewayClientOptions
  /** The mock, whose clock and payer the program controls. `undefined` if the program calls another server. */
  readonly mock: Mock | undefined
  /** A mobile number whose charges succeed. */
  readonly msisdn: string
  /** A mobile number whose charges fail. */
  readonly failingMsisdn: string | undefined
  /** How long to wait for the payer's authorization, in milliseconds. */
  readonly waitMs: number
  /** If true, the program deletes every charge on the server at the end. */
  readonly reset: boolean
  now(): number
  close(): Promise<void>
}

/** Returns settings for a mock with a frozen clock, in this process or behind a local server. */
export const onMock = async ({ http }: { http: boolean }): Promise<Settings> => {
  const mock = createMock({ clock: new Date('2026-12-01T06:00:00Z'), seed: 'quickstart' })
  const server = http ? await startMockServer({ mock }) : undefined
  const { clientOptions } = mock
  return {
    subscriptions: server
      ? clientOptions.subscriptions
      : { ...clientOptions.subscriptions, fetch: mock.fetch },
    gateway: server ? clientOptions.gateway : { ...clientOptions.gateway, fetch: mock.fetch },
    mock,
    msisdn: testNumbers.succeeds,
    failingMsisdn: testNumbers.insufficient_funds,
    waitMs: 60_000,
    reset: true,
    now: () => mock.clock.now(),
    close: async () => {
      await server?.close()
    },
  }
}

const required = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === '') {
    console.error(`Set ${name} in the environment, or omit --base-url to run on the mock.`)
    process.exit(2)
  }
  return value
}

/** Returns settings for any server, with credentials from the environment. */
export const fromEnvironment = (given: {
  baseUrl: string
  gatewayUrl: string
  waitMs: number
  reset: boolean
}): Settings => ({
  subscriptions: {
    baseUrl: given.baseUrl,
    credentials: {
      clientId: required('MANDATEKIT_CLIENT_ID'),
      clientSecret: required('MANDATEKIT_CLIENT_SECRET'),
      username: required('MANDATEKIT_USERNAME'),
      password: required('MANDATEKIT_PASSWORD'),
    },
  },
  gateway: { baseUrl: given.gatewayUrl, apiKey: required('MANDATEKIT_API_KEY') },
  mock: undefined,
  msisdn: process.env.MANDATEKIT_MSISDN ?? testNumbers.succeeds,
  failingMsisdn: process.env.MANDATEKIT_FAILING_MSISDN,
  waitMs: given.waitMs,
  reset: given.reset,
  now: () => Date.now(),
  close: () => Promise.resolve(),
})
