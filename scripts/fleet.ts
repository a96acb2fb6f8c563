import { parseArgs } from 'node:util'
import { killRun } from './fleet/kill-run.ts'
import type { Finding } from './fleet/ledger.ts'
import { rateLimitRun } from './fleet/rate-limit.ts'

// Runs the shop of examples/fleet, kills its workers at random, and compares the mock's ledger with the shop's books.
// The exit code is 1 on any difference.
//   npm run fleet                               5 000 jobs and 40 kills, under both sets of rules
//   npm run fleet -- --jobs 300 --kills 6       a small run
//   npm run fleet -- --scenario lockout         the same, and the account is locked in mid-run
//   npm run fleet -- --scenario rate-limit      800 charges at 120 a minute, without kills

const number = (text: string) => ({ type: 'string', default: text }) as const
const { values } = parseArgs({
  options: {
    jobs: number('5000'),
    kills: number('40'),
    restarts: number('1'),
    revocations: number('5'),
    rules: { type: 'string', default: 'spec,strict' },
    scenario: { type: 'string', default: 'kills' },
  },
})
const plan = {
  jobs: Number(values.jobs),
  kills: Number(values.kills),
  restarts: Number(values.restarts),
  revocations: Number(values.revocations),
}

const run = (rules: 'spec' | 'strict'): Promise<Finding[]> =>
  values.scenario === 'rate-limit' ? rateLimitRun(rules) : killRun(rules, plan, values.scenario === 'lockout')

for (const rules of values.rules.split(',')) {
  console.log(`\nRules: ${rules}`)
  const findings = await run(rules === 'strict' ? 'strict' : 'spec')
  console.table(findings)
  const wrong = findings.filter(({ ok }) => !ok)
  for (const { what, expected, found } of wrong)
    console.error(`${what}: expected ${expected}, found ${found}`)
  if (wrong.length > 0) process.exitCode = 1
}
