import { execFile } from 'node:child_process'
import { createMock, testNumbers } from 'mandatekit/mocks/core'
import { startMockServer } from 'mandatekit/mocks/server'
import { expect, test } from 'vitest'
import { repository } from './project.ts'

interface Run {
  readonly exitCode: number
  readonly output: string
}

const quickstart = (parameters: readonly string[], environment: Record<string, string> = {}): Promise<Run> =>
  new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['examples/quickstart.ts', ...parameters],
      { cwd: repository, env: { ...process.env, ...environment }, timeout: 60_000 },
      (_error, stdout, stderr) => resolve({ exitCode: child.exitCode ?? -1, output: stdout + stderr }),
    )
  })

/** What every complete run shows, in this order. */
const lifecycle = [
  'S-a login',
  'S-b subscribe',
  'INITIALIZED',
  'SUCCEEDED; subscription',
  'S-d details',
  'payments so far: 3',
  'due 2026-12-02: SUCCEEDED_PAYMENT',
  'due 2026-12-09: FAILED_PAYMENT',
  'due 2026-12-16: SUCCEEDED_PAYMENT',
  'S-h payment',
  'PROCESSED',
  'S-f cancellation',
  'health',
  'reference',
  'pending_confirmation (PENDING)',
  'HTTP 400',
  'succeeded (SUCCEEDED)',
  'the same charge, not a second one',
  'renew',
  'the same renewal',
  '2 charges: the mandate and one renewal',
  'failed (INSUFFICIENT_FUNDS)',
  '0 charges left',
  'Done.',
]

const inOrder = (output: string, parts: readonly string[]): string[] => {
  let from = 0
  return parts.filter((part) => {
    const at = output.indexOf(part, from)
    if (at < 0) return true
    from = at + part.length
    return false
  })
}

test.each([{ parameters: [] }, { parameters: ['--http'] }])(
  'the quickstart runs the whole life of a subscription and a charge with $parameters',
  async ({ parameters }) => {
    const { exitCode, output } = await quickstart(parameters)
    expect(inOrder(output, lifecycle), output).toEqual([])
    expect(exitCode).toBe(0)
  },
)

test('the quickstart runs against any server with credentials from the environment', async () => {
  const mock = createMock()
  const server = await startMockServer({ mock })
  try {
    // The payer of the mock authorizes whatever is asked, as soon as it is asked.
    const payer = setInterval(() => {
      for (const { invoiceId, requestStatus } of mock.state.subscriptions()) {
        if (requestStatus === 'INITIALIZED') mock.payer.authorize(invoiceId)
      }
    }, 20)
    const { credentials } = mock.clientOptions.subscriptions
    const { exitCode, output } = await quickstart(['--base-url', server.url], {
      MANDATEKIT_CLIENT_ID: credentials.clientId,
      MANDATEKIT_CLIENT_SECRET: credentials.clientSecret,
      MANDATEKIT_USERNAME: credentials.username,
      MANDATEKIT_PASSWORD: credentials.password,
      MANDATEKIT_API_KEY: mock.clientOptions.gateway.apiKey,
      MANDATEKIT_FAILING_MSISDN: testNumbers.wallet_blocked,
    })
    clearInterval(payer)
    const steps = [
      'S-a login',
      'SUCCEEDED; subscription',
      'PROCESSED',
      'the same renewal',
      'WALLET_BLOCKED',
      'Done.',
    ]
    expect(inOrder(output, steps), output).toEqual([])
    expect(exitCode).toBe(0)
    // Everybody's charges on a shared server are left alone unless --reset is given.
    expect(mock.state.charges()).toHaveLength(3)
    for (const secret of [
      credentials.clientSecret,
      credentials.password,
      mock.clientOptions.gateway.apiKey,
    ]) {
      expect(output).not.toContain(secret)
    }
  } finally {
    await server.close()
  }
})

test('the quickstart names the missing variable when credentials are not in the environment', async () => {
  const { exitCode, output } = await quickstart(['--base-url', 'http://127.0.0.1:9'], {
    MANDATEKIT_CLIENT_ID: '',
  })
  expect(exitCode).toBe(2)
  expect(output).toContain('MANDATEKIT_CLIENT_ID')
})
