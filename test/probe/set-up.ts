import { createMock } from '../../mocks/core.ts'
import type { MockOptions } from '../../mocks/options.ts'
import type { AskerParts } from '../../mocks/probe/asker.ts'
import { type ProbeConfig, probe } from '../../mocks/probe/probe.ts'
import type { Level } from '../../mocks/probe/question.ts'
import { createRedactor } from '../../mocks/probe/redact.ts'
import { openSession, type SessionLine } from '../../mocks/probe/session.ts'

const ALL: readonly Level[] = ['read', 'write', 'reset', 'rate-limit', 'lockout']

/** What a merchant knows of a sandbox. */
export const SANDBOX = {
  subscriptions: {
    baseUrl: 'https://subscriptions.mandatekit.test',
    credentials: {
      clientId: 'client-of-the-shop',
      clientSecret: 'secret-of-the-shop',
      username: 'user-of-the-shop',
      password: 'password-of-the-shop',
    },
    otherClientId: 'client-of-another-shop',
    subscriptionId: 'old-subscription',
    redirectUri: 'https://shop.example/return',
  },
  gateway: {
    baseUrl: 'https://gateway.mandatekit.test',
    apiKey: 'key-of-the-shop',
    otherApiKey: 'key-of-another-shop',
    testNumbers: ['+8801700000001'],
    redirectUri: 'https://shop.example/return',
  },
} as const satisfies ProbeConfig

const { clientId, clientSecret, username, password } = SANDBOX.subscriptions.credentials

/** The options that make a mock the sandbox of `SANDBOX`. */
export const sandboxOptions = (given: MockOptions = {}): MockOptions => ({
  clock: '2027-01-04T06:00:00Z',
  ...given,
  subscriptions: {
    merchants: [
      { name: 'Shop', clientId, clientSecret, users: [{ username, password }] },
      { name: 'Other', clientId: SANDBOX.subscriptions.otherClientId, clientSecret: 'x', users: [] },
    ],
    existing: [
      {
        request: { start: '2026-06-01', end: '2027-12-31', cycle: 'DAILY', amount: '5' },
        createdAt: '2026-06-01T00:00:00Z',
        subscriptionId: SANDBOX.subscriptions.subscriptionId,
      },
    ],
    ...given.subscriptions,
  },
  gateway: { apiKeys: [SANDBOX.gateway.apiKey, SANDBOX.gateway.otherApiKey], ...given.gateway },
})

/** A sandbox, and what it takes to probe it. */
export const openSandbox = (given: MockOptions = {}) => {
  const mock = createMock(sandboxOptions(given))
  const lines: SessionLine[] = []
  const redactor = createRedactor({
    secrets: {
      ...SANDBOX.subscriptions.credentials,
      apikey: SANDBOX.gateway.apiKey,
      otherapikey: SANDBOX.gateway.otherApiKey,
    },
    numbers: SANDBOX.gateway.testNumbers,
  })
  const run = (
    more: Partial<AskerParts> = {},
    levels: readonly Level[] = ALL,
    config: ProbeConfig = SANDBOX,
  ) =>
    probe(config, levels, {
      fetch: mock.fetch,
      clock: mock.clock,
      session: openSession(
        [...lines],
        'session',
        'a sandbox',
        (line) => void lines.push(structuredClone(line)),
      ),
      redactor,
      budget: { requests: 10_000, seconds: 100_000, timeoutSeconds: 20 },
      wrongLogins: 8,
      payer: async (_action, url) => {
        // After a kill, a person may be asked again for what is done.
        const invoiceId = url.split('/').at(-1)
        const open = mock.state.subscriptions().find((each) => each.invoiceId === invoiceId)
        if (open?.requestStatus === 'INITIALIZED') mock.payer.authorize(open.invoiceId)
      },
      ...more,
    })
  return { mock, lines, redactor, run }
}
