import { notAskable } from './not-askable.ts'
import type { Asked, ProbeResult } from './probe.ts'
import { levels, type Question } from './question.ts'
import type { Redactor } from './redact.ts'

const cell = (text: string): string => text.replace(/\|/g, '\\|').replace(/\s+/g, ' ')

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')

const setBy = ({ question, answer }: Asked): string => {
  if (answer === undefined || !('found' in answer)) return 'still unknown'
  const entries = Object.entries(answer.found)
  if (entries.length === 0) return 'no option'
  return entries
    .map(([name, value]) => {
      // The table of test numbers stands in mock.config.json only, and the code is a secret elsewhere.
      const shown = name === 'testNumbers' || name === 'otp' ? '…' : JSON.stringify(value)
      return `\`${question.area}.${name}: ${shown}\``
    })
    .join(', ')
}

const seenBy = ({ answer }: Asked): string => {
  if (answer === undefined) return 'not asked: the run stopped before'
  return 'found' in answer ? answer.seen : [answer.unknown, answer.seen].filter(Boolean).join('; seen: ')
}

const unasked = (): string =>
  table(
    ['Row', 'Why it is not asked', 'Question to the provider'],
    notAskable.map(({ row, reason, question }) => [row, reason, question]),
  )

/** Returns the Markdown report of a run, by row. */
export const reportOf = ({ asked, stopped }: ProbeResult, redactor: Redactor): string => {
  const reasons = Object.entries(stopped).map(
    ([area, reason]) => `- ${area} was not asked to the end: ${reason}.`,
  )
  const rows = [...asked].sort(
    (one, other) => Number.parseInt(one.question.row, 10) - Number.parseInt(other.question.row, 10),
  )
  const text = [
    '# What the server answered',
    'The numbers are those of the rows in docs/unknowns.md. `mock.config.json` has the options.',
    ...(reasons.length === 0 ? [] : [reasons.join('\n')]),
    table(
      ['Row', 'Asked how', 'Seen', 'Option set'],
      rows.map((each) => [each.question.row, each.question.sends, seenBy(each), setBy(each)]),
    ),
    '## Not asked',
    unasked(),
  ].join('\n\n')
  return redactor.text(`${text}\n`)
}

/** Returns what `probe --list` prints: every question with what it sends and costs, before anything is sent. */
export const listOf = (questions: readonly Question[]): string => {
  const lines = levels.map((level) => {
    const own = questions.filter((question) => question.level === level)
    const flag =
      { read: 'always', write: '--writes', lockout: '--lockout <n>' }[level as string] ?? `--${level}`
    return [
      `${level} (${flag})`,
      ...own.map(({ row, area, option, sends, costs, needs }) => {
        const sets =
          option.length === 0 ? 'is reported' : `sets ${option.map((name) => `${area}.${name}`).join(', ')}`
        const need = needs.length === 0 ? '' : `; needs ${area}.${needs.join(', ')}`
        return `  row ${row}: ${sends}; at most ${costs} requests; ${sets}${need}`
      }),
    ].join('\n')
  })
  const rest = notAskable.map(
    ({ row, reason, question }) => `  row ${row}: ${reason}. Ask the provider: ${question}`,
  )
  return `${[...lines, ['not asked', ...rest].join('\n')].join('\n\n')}\n`
}
