import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chargeTransitions } from '../../mocks/gateway/state.ts'
import {
  cancellationTransitions,
  requestTransitions,
  subscriptionTransitions,
} from '../../mocks/subscriptions/state.ts'
import { repository, runNode } from '../package/project.ts'
import { readDocument } from './documents.ts'

test.each(['diagrams.ts', 'unknowns.ts', 'digest.ts'])('%s finds its document up to date', async (script) => {
  expect(await runNode([`scripts/${script}`])).toEqual({ exitCode: 0, output: '' })
})

test('the diagrams have exactly the transitions of the tables', async () => {
  const drawn = (await readDocument('docs/state-machines.md'))
    .split('```mermaid')
    .slice(1)
    .map((text) => [...text.matchAll(/^ {2}(\S+) --> (\w+): (\w+)$/gm)].map(([, ...move]) => move.join(' ')))
  const tables = [requestTransitions, subscriptionTransitions, cancellationTransitions, chargeTransitions]
  const moves = tables.map((table) =>
    Object.entries(table).flatMap(([from, events]) =>
      Object.entries(events).map(([event, to]) => `${from === 'none' ? '[*]' : from} ${to} ${event}`),
    ),
  )
  expect(drawn).toEqual(moves)
})

test('llms.txt names every packed page in less than 72 000 characters', async () => {
  const digest = await readDocument('llms.txt')
  const guides = (await readdir(join(repository, 'docs'))).filter((name) => name.endsWith('.md'))
  // The package does not contain the benchmarks.
  guides.splice(guides.indexOf('benchmarks.md'), 1)
  for (const guide of guides) expect(digest).toContain(`docs/${guide}`)
  expect(digest.length).toBeLessThan(72_000)
})
