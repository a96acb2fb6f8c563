import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { testNumbers } from 'mandatekit/mocks/core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTimeline } from '../../examples/quickstart/timeline.ts'
import { startServer } from '../support/mock-server.ts'
import { redisIsInstalled } from '../support/redis-server.ts'
import { packedPackage } from './packed.ts'
import { repository, runNode } from './project.ts'

await packedPackage()

const folder = join(repository, 'examples')
const examples = (await readdir(folder)).filter((name) => /^\d+-.*\.ts$/.test(name)).sort()

/** What each example prints, besides other lines. */
const printed: Readonly<Record<string, readonly string[]>> = {
  '1-first-subscription.ts': ['2027-01-08 has the status SUCCEEDED_PAYMENT', 'the cancellation is PROCESSED'],
  '2-first-charge.ts': ['a wrong code (incorrect_code)', 'returned the same renewal, so the payer paid once'],
  '3-a-lost-response.ts': [
    'sent the charge 2 times, with the same idempotency key',
    'Charges in the mock: 1',
    'sent the subscription request 1 time',
    'The outcome is unknown. Requests in the mock: 1',
  ],
  '4-billing-cycles.ts': ['25 payments in the year', 'failed, on 2027-01-17', '2027-01-02T06:00:00.000Z'],
  '5-notifications.ts': ['3 notifications came in 6 deliveries', 'and responded with 401'],
  '6-a-local-server.ts': ['Confirm a payment', 'The status of the charge is pending_confirmation'],
  '7-a-month-of-renewals.ts': [
    'good: succeeded',
    'failed, so the job tries a second time',
    'pending_retry, so the gateway retries',
    'The second run charged nobody',
    '"2027-03-01 slow" has the status succeeded',
    '10 charges',
  ],
}

/** The lines that do not fit a terminal of 100 columns. */
const tooLong = (output: string): string[] => output.split('\n').filter((line) => line.length > 100)

describe('the numbered examples', () => {
  test('are all in the table of this test', () => {
    expect(examples).toEqual(Object.keys(printed))
  })

  test.each(examples)('%s is short, runs and prints its results', async (name) => {
    const lines = (await readFile(join(folder, name), 'utf8')).trimEnd().split('\n')
    expect(lines.length).toBeLessThan(60)
    const { exitCode, output } = await runNode(['scripts/example.ts', name.slice(0, name.indexOf('-'))])
    for (const part of printed[name] ?? []) expect(output).toContain(part)
    expect(exitCode, output).toBe(0)
    expect(tooLong(output)).toEqual([])
  })
})

test.skipIf(!redisIsInstalled())('the fleet books every payment and charge once', async () => {
  const { exitCode, output } = await runNode(['scripts/example.ts', 'fleet'])
  expect(exitCode, output).toBe(0)
  expect(output).toMatch(
    /6\. Payments made: ([1-9]\d*) recorded: \1\n7\. Charges made: ([1-9]\d*) recorded: \2\n8\. Logins: 1/,
  )
})

test('the planner in the guide to queues consists of lines of the fleet', async () => {
  const guide = await readFile(join(repository, 'docs', 'queues.md'), 'utf8')
  const [, planner = ''] = /```js\n(books\.planRenewals.*?)```/s.exec(guide) ?? []
  const fleet = await readFile(join(folder, 'fleet', 'jobs.ts'), 'utf8')
  const lines = planner.trimEnd().split('\n')
  expect(lines.length).toBeGreaterThan(3)
  for (const line of lines) expect(fleet).toContain(line.replace(/ \/\/ .*/, ''))
})

describe('the quickstart', () => {
  const quickstart = (args: string[], environment?: Record<string, string>) =>
    runNode(['examples/quickstart.ts', ...args], environment)

  /** The parts that the output lacks, or has in another order. */
  const missingIn = (output: string, parts: readonly string[]): string[] => {
    let from = 0
    return parts.filter((part) => {
      const at = output.indexOf(part, from)
      if (at >= 0) from = at + part.length
      return at < 0
    })
  }

  test.each([[[]], [['--http']]])(
    'runs a subscription and a charge from beginning to end %j',
    async (args) => {
      const { exitCode, output } = await quickstart(args)
      const parts = [
        ...[
          'subscriptions.login',
          'INITIALIZED',
          'is SUCCEEDED: the subscription is active',
          'Payments so far: 3',
        ],
        ...['2026-12-02: SUCCEEDED_PAYMENT', '2026-12-09: FAILED_PAYMENT', 'PROCESSED'],
        ...['pending_confirmation', 'HTTP 400', 'correct code: succeeded'],
        ...['no second charge', 'no second renewal'],
        ...['failed, INSUFFICIENT_FUNDS', 'deleted all charges', 'Done.'],
        ...['cycles: 3', 'Failed payments: 1', 'Calls for the first payer: 4. Charges: 2'],
      ]
      expect(missingIn(output, parts), output).toEqual([])
      expect(exitCode).toBe(0)
      // Without a terminal: plain lines, in words that need no specification.
      expect(output).toBe(stripVTControlCharacters(output))
      expect(output.split('\n').filter((line) => line.length > 100)).toEqual([])
      expect(output).not.toMatch(/[\r✓{}]|\b[SG]-[a-h]\b|[Aa]rea [SG]/)
    },
  )

  test('runs against any server with credentials from the environment, and prints no secret', async () => {
    const { mock, url } = await startServer()
    // The payer authorizes every request at once.
    const payer = setInterval(() => {
      for (const { invoiceId, requestStatus } of mock.state.subscriptions()) {
        if (requestStatus === 'INITIALIZED') mock.payer.authorize(invoiceId)
      }
    }, 20)
    onTestFinished(() => clearInterval(payer))
    const { credentials } = mock.clientOptions.subscriptions
    const { apiKey } = mock.clientOptions.gateway
    const { exitCode, output } = await quickstart(['--base-url', url], {
      MANDATEKIT_CLIENT_ID: credentials.clientId,
      MANDATEKIT_CLIENT_SECRET: credentials.clientSecret,
      MANDATEKIT_USERNAME: credentials.username,
      MANDATEKIT_PASSWORD: credentials.password,
      MANDATEKIT_API_KEY: apiKey,
      MANDATEKIT_FAILING_MSISDN: testNumbers.wallet_blocked,
    })
    const begin = ['subscriptions.login', 'is SUCCEEDED: the subscription is active', 'PROCESSED']
    const end = ['no second renewal', 'WALLET_BLOCKED', 'Done.']
    expect(missingIn(output, [...begin, ...end]), output).toEqual([])
    expect(exitCode).toBe(0)
    // Without --reset it leaves the charges on a shared server.
    expect(mock.state.charges()).toHaveLength(3)
    for (const secret of [credentials.clientSecret, credentials.password, apiKey])
      expect(output).not.toContain(secret)
  })

  const print = async (isTTY: boolean): Promise<string> => {
    let written = ''
    const output = { isTTY, write: (text: string) => (written += text) }
    const { title, call } = createTimeline(() => 0, output)
    title('A title')
    const paid = () => sleep(200, 'paid')
    expect(await call('gateway.status', paid, (status) => `It is ${status}`)).toBe('paid')
    const fail = () => Promise.reject(new Error('no'))
    await expect(call('gateway.renew', fail, () => 'never')).rejects.toThrow('no')
    return written
  }

  test.each([
    ['a terminal', true, { TERM: 'xterm', NO_COLOR: '' }, true, true],
    ['a terminal with NO_COLOR', true, { TERM: 'xterm', NO_COLOR: '1' }, true, false],
    ['a dumb terminal', true, { TERM: 'dumb', NO_COLOR: '' }, false, false],
    ['a file or pipe', false, { TERM: 'xterm', NO_COLOR: '' }, false, false],
  ])('on %s (%s, %j), progress is %s and color is %s', async (_, isTTY, environment, progress, colors) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    const written = await print(isTTY)
    expect(written.includes('gateway.status 0 s')).toBe(progress)
    expect(written.includes('gateway.renew 0 s\r')).toBe(progress)
    expect(written.includes('\u001B[36m')).toBe(colors)
    // A carriage return begins the line again.
    const lines = written.split('\n').map((line) => stripVTControlCharacters(line.split('\r').at(-1) ?? ''))
    const line = `${progress ? '✓ ' : ''}1970-01-01 00:00  ${'It is paid'.padEnd(52)} gateway.status`
    expect(lines.slice(0, 3)).toEqual(['', 'A title', line])
    expect(lines.join('')).not.toContain('never')
  })

  test('names a variable that the environment lacks', async () => {
    const environment = { MANDATEKIT_CLIENT_ID: '' }
    const { exitCode, output } = await quickstart(['--base-url', 'http://127.0.0.1:9'], environment)
    expect(exitCode).toBe(2)
    expect(output).toContain('MANDATEKIT_CLIENT_ID')
  })
})
