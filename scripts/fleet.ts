import { parseArgs } from 'node:util'
import { backlogRun } from './fleet/backlog.ts'
import { firewallRun } from './fleet/firewall.ts'
import { killRun } from './fleet/kill-run.ts'
import type { Finding } from './fleet/ledger.ts'
import { loginKilledRun } from './fleet/login-killed.ts'
import { rateLimitRun } from './fleet/rate-limit.ts'
import { twoAccountsRun } from './fleet/two-accounts.ts'

// Runs the shop of examples/fleet, kills its workers at random, and compares the mock's ledger with the shop's books.
// The exit code is 1 on any difference.
//   npm run fleet                               5 000 jobs and 40 kills, under both sets of rules
//   npm run fleet -- --jobs 300 --kills 6       a small run
//   npm run fleet -- --scenario lockout         the same, and the account is locked in mid-run
//   npm run fleet -- --scenario rate-limit      800 charges at 120 a minute, without kills
//   npm run fleet -- --scenario login-killed    200 slots whose first login fails in seven ways
//   npm run fleet -- --scenario firewall        ten minutes of a firewall's page, ten of an expired certificate
//   npm run fleet -- --scenario backlog         20 000 renewals, 20 checkouts in the middle, keys that die
//   npm run fleet -- --scenario two-accounts    one account is locked, and the other works on
// The number of jobs is --jobs; each scenario has its own default.

const number = (text: string) => ({ type: 'string', default: text }) as const
const { values } = parseArgs({
  options: {
    jobs: { type: 'string' },
    kills: number('40'),
    restarts: number('1'),
    revocations: number('5'),
    rules: { type: 'string', default: 'spec,strict' },
    scenario: { type: 'string', default: 'kills' },
  },
})
const jobs = (usual: number): number => Number(values.jobs ?? usual)
const plan = {
  jobs: jobs(5_000),
  kills: Number(values.kills),
  restarts: Number(values.restarts),
  revocations: Number(values.revocations),
}

type Run = (rules: 'spec' | 'strict') => Promise<Finding[]>
const scenarios: Readonly<Record<string, Run>> = {
  kills: (rules) => killRun(rules, plan, false),
  lockout: (rules) => killRun(rules, plan, true),
  'rate-limit': rateLimitRun,
  'login-killed': (rules) => loginKilledRun(rules, jobs(300)),
  firewall: (rules) => firewallRun(rules, jobs(400)),
  backlog: (rules) => backlogRun(rules, jobs(20_000)),
  'two-accounts': (rules) => twoAccountsRun(rules, jobs(400)),
}
const run = scenarios[values.scenario]
if (run === undefined)
  throw new TypeError(`Unknown scenario. Scenarios: ${Object.keys(scenarios).join(', ')}.`)

for (const rules of values.rules.split(',')) {
  console.log(`\nRules: ${rules}`)
  const findings = await run(rules === 'strict' ? 'strict' : 'spec')
  console.table(findings)
  const wrong = findings.filter(({ ok }) => !ok)
  for (const { what, expected, found } of wrong)
    console.error(`${what}: expected ${expected}, found ${found}`)
  if (wrong.length > 0) process.exitCode = 1
}
