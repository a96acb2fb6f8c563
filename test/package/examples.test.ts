import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { repository } from './project.ts'

const folder = join(repository, 'examples')
const examples = (await readdir(folder)).filter((name) => /^\d+-.*\.ts$/.test(name)).sort()

/** What a newcomer must see of each example, besides numbered lines and a good end. */
const shown: Readonly<Record<string, readonly string[]>> = {
  '1-first-subscription.ts': ['2027-01-08 SUCCEEDED_PAYMENT', 'The cancellation is PROCESSED'],
  '2-first-charge.ts': ['incorrect_code rejected', 'One renewal for a cycle: succeeded true'],
  '3-a-lost-response.ts': [
    'Sent 2 times with one key; charges made: 1',
    'connection_failed unknown',
    'Requests made: 1',
  ],
  '4-billing-cycles.ts': ['Payments of the year: 25', 'Failed: 2027-01-17', '2027-01-02T06:00:00.000Z'],
  '5-notifications.ts': ['Messages: 3 deliveries: 6', 'The response to a forged message: 401'],
  '6-a-local-server.ts': ['Confirm a payment', 'The charge is pending_confirmation'],
  '7-a-month-of-renewals.ts': [
    'succeeded',
    'failed: a second try',
    'pending_retry: wait',
    'Afterwards slow 2027-03-01 succeeded',
    'Charges made: 10',
  ],
}

const run = (number: string): Promise<{ exitCode: number; output: string }> =>
  new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['scripts/example.ts', number],
      { cwd: repository, timeout: 60_000 },
      (_error, stdout, stderr) => resolve({ exitCode: child.exitCode ?? -1, output: stdout + stderr }),
    )
  })

describe('the numbered examples', () => {
  test('are all known to this test', () => {
    expect(examples).toEqual(Object.keys(shown))
  })

  test.each(examples)('%s is short enough to read in one sitting', async (name) => {
    const lines = (await readFile(join(folder, name), 'utf8')).trimEnd().split('\n')
    expect(lines.length).toBeLessThan(60)
  })

  test.each(examples)('%s runs and shows what it says', async (name) => {
    const { exitCode, output } = await run(name.slice(0, name.indexOf('-')))
    for (const part of shown[name] ?? []) expect(output).toContain(part)
    expect(exitCode, output).toBe(0)
  })

  test('a number that does not exist lists those that do', async () => {
    const { exitCode, output } = await run('99')
    expect(exitCode).toBe(2)
    for (const name of examples) expect(output).toContain(name)
  })
})
