import { chargeTransitions } from '../mocks/gateway/state.ts'
import {
  cancellationTransitions,
  requestTransitions,
  subscriptionTransitions,
} from '../mocks/subscriptions/state.ts'

import { keepGenerated } from './generated.ts'

// docs/state-machines.md, drawn from the tables that the mock itself moves by. Without --write, it
// only compares the document with the tables.

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>

interface Machine {
  readonly title: string
  readonly text: string
  readonly table: Table
}

const machines: readonly Machine[] = [
  {
    title: 'Subscription request',
    text: 'The states are values of `status` in [S3](specification.md#s3). The payer authorizes or declines the request at the `url` that `subscribe` returns. Without a decision, the request expires after 24 h (option `requestTtl` of the mock). The specification shows only `INITIALIZED`, so a real API may use other values than the mock. The client returns unknown values unchanged.',
    table: requestTransitions,
  },
  {
    title: 'Subscription',
    text: 'Responses do not contain the states in this diagram. Instead, they contain `enabled`, which is 1 only for an `ACTIVE` subscription. The mock charges only `ACTIVE` subscriptions.',
    table: subscriptionTransitions,
  },
  {
    title: 'Cancellation',
    text: 'The states are values of `status` in [S5](specification.md#s5). In the mock, a cancellation is `PROCESSED` at once, unless you set the option `cancelDelay`.',
    table: cancellationTransitions,
  },
  {
    title: 'Charge',
    text: 'The states are values of `status` in [G1](specification.md#g1). A charge begins in `pending_confirmation`, because it needs a one-time code. A renewal needs no code, so it begins in one of the other states. The [test number](mock.md#test-numbers) in `msisdn` decides the result of a charge or renewal. `succeeded`, `failed` and `expired` are final. A charge in `pending_confirmation` or `pending_retry` may still succeed.',
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
    '<!-- Written by `npm run diagrams` from the transition tables of the mock. -->',
    '# State machines',
    '',
    'Read this when you want to know how the state of a subscription or charge can change. The mock allows only the transitions in these diagrams.',
    '',
  ].join('\n')
  return [heading, ...sections].join('\n')
}

keepGenerated('docs/state-machines.md', document(), 'diagrams')
