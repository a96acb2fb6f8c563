import { readFileSync, writeFileSync } from 'node:fs'
import { chargeTransitions } from '../mocks/domain/gateway/transitions.ts'
import {
  cancellationTransitions,
  requestTransitions,
  subscriptionTransitions,
} from '../mocks/domain/subscriptions/transitions.ts'

// docs/state-machines.md, drawn from the tables that the mock itself moves by. Without a flag this compares the
// document with the tables; with --write it makes it so.

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>

interface Machine {
  readonly title: string
  readonly text: string
  readonly table: Table
}

const file = new URL('../docs/state-machines.md', import.meta.url)

const machines: readonly Machine[] = [
  {
    title: 'Subscription request (S3 `status`)',
    text: 'The payer authorizes or declines at the `url` of subscribe; a request without a decision expires. Of these the specification shows `INITIALIZED` alone: an API may use other words, and the client returns them as they are.',
    table: requestTransitions,
  },
  {
    title: 'Subscription',
    text: 'No response shows this state by name; `enabled` is 1 while it is `ACTIVE`. Only an `ACTIVE` subscription is charged.',
    table: subscriptionTransitions,
  },
  {
    title: 'Cancellation (S5 `status`)',
    text: 'Both moves happen at once, unless the mock is given a `cancelDelay`.',
    table: cancellationTransitions,
  },
  {
    title: 'Charge (G1 `status`)',
    text: 'A charge is created and waits for the code. A renewal has nobody to ask: it is created and resolved in one step, by the same table of numbers. `succeeded`, `failed` and `expired` are final; `pending_confirmation` and `pending_retry` never mean "not paid".',
    table: chargeTransitions,
  },
]

function diagram(table: Table): string {
  const moves = Object.entries(table).flatMap(([from, events]) =>
    Object.entries(events).map(([event, to]) => `  ${from === 'none' ? '[*]' : from} --> ${to}: ${event}`),
  )
  const ends = Object.entries(table).flatMap(([state, events]) =>
    Object.keys(events).length === 0 ? [`  ${state} --> [*]`] : [],
  )
  return ['```mermaid', 'stateDiagram-v2', ...moves, ...ends, '```'].join('\n')
}

/** The whole document. */
function document(): string {
  const sections = machines.map(({ title, text, table }) => `## ${title}\n\n${text}\n\n${diagram(table)}\n`)
  const heading = [
    '<!-- Written by `npm run diagrams` from the transition tables in mocks/domain. -->',
    '# State machines',
    '',
    'What can happen, and what it leads to, in the mock. A move that is not drawn here is refused. The tables are in `mocks/domain/*/transitions.ts`; this page is drawn from them.',
    '',
  ].join('\n')
  return [heading, ...sections].join('\n')
}

if (process.argv.includes('--write')) {
  writeFileSync(file, document())
} else if (readFileSync(file, 'utf8') !== document()) {
  console.error('docs/state-machines.md differs from the transition tables. Run `npm run diagrams`.')
  process.exitCode = 1
}
