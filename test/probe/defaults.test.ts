import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { notAskable } from '../../mocks/probe/not-askable.ts'
import { questions } from '../../mocks/probe/probe.ts'
import { questionId } from '../../mocks/probe/question.ts'
import { listOf } from '../../mocks/probe/report.ts'
import { openSandbox } from './set-up.ts'

const rows = (document: string): string[] =>
  [...document.matchAll(/^\| (\d+a?) \|/gm)].map(([, row = '']) => row)

test('every row of the unknowns is either asked or listed with the reason why not', () => {
  const document = readFileSync(new URL('../../docs/unknowns.md', import.meta.url), 'utf8')
  const covered = [...questions.map(({ row }) => row), ...notAskable.map(([row]) => row)]
  expect([...new Set(covered)].sort()).toEqual(rows(document).sort())
  expect(questions.map(questionId)).toHaveLength(new Set(questions.map(questionId)).size)
})

test('the list names every question with its level and cost, before anything is sent', () => {
  const list = listOf(questions)
  const costOf = (costs: number) => ['no request', 'at most 1 request'][costs] ?? `at most ${costs} requests`
  for (const { sends, costs } of questions) expect(list).toContain(`${sends}; ${costOf(costs)}; `)
  expect(list).toContain('lockout (--lockout <n>)')
})

test('the level read creates nothing', async () => {
  const { run, mock } = openSandbox()
  const { stopped, asked } = await run({}, ['read'])
  expect(stopped).toEqual({})
  expect(asked.every(({ answer }) => answer !== undefined)).toBe(true)
  expect(mock.state.charges()).toEqual([])
  expect(mock.state.subscriptions()).toHaveLength(1)
})

test('a run that may write leaves no active subscription and no locked user', async () => {
  const { run, mock } = openSandbox({
    subscriptions: { lockout: { attempts: 1, windowSeconds: 60, durationSeconds: 900 }, refresh: 'reject' },
  })
  expect((await run({}, ['read', 'write', 'reset', 'rate-limit'])).stopped).toEqual({})
  expect(mock.state.subscriptions().filter(({ active }) => active)).toHaveLength(1)
  await mock.clock.advance({ minutes: 2 })
  expect((await run({}, ['read'])).stopped).toEqual({})
})

test('what needs a person stays unknown if nobody is there', async () => {
  const { run } = openSandbox({ subscriptions: { pendingSubscriptionId: 'NA' } })
  const { options, asked } = await run({ payer: undefined }, ['read', 'write'])
  expect(options.subscriptions).not.toHaveProperty('enabledValues')
  const answer = asked.find(({ question }) => question.row === '12')?.answer
  expect(answer).toEqual({ unknown: 'no person could be asked to authorize the subscription' })
})
