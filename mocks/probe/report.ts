import { notAskable } from './not-askable.ts'
import type { Asked, ProbeResult } from './probe.ts'
import { type Level, levels, type Question } from './question.ts'
import type { Redactor } from './redact.ts'

const cell = (text: string): string => text.replace(/\|/g, '\\|').replace(/\s+/g, ' ')

const table = (...rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')

// Only mock.config.json contains the test numbers and the one-time code.
const UNSHOWN = ['testNumbers', 'otp']

const setBy = ({ question, answer }: Asked): string => {
  if (answer === undefined || 'unknown' in answer) return 'unknown'
  const options = Object.entries(answer.found).map(([name, value]) => {
    return `\`${question.area}.${name}: ${UNSHOWN.includes(name) ? '…' : JSON.stringify(value)}\``
  })
  return options.join(', ') || 'no option'
}

const seenBy = ({ answer }: Asked): string => {
  if (answer === undefined) return 'not asked, because the run stopped before'
  return 'found' in answer ? answer.seen : answer.unknown
}

const numberOf = ({ question }: Asked): number => Number.parseInt(question.row, 10)

/** Returns the Markdown report of a run, by row. */
export const reportOf = ({ asked, stopped }: ProbeResult, redactor: Redactor): string => {
  const reasons = Object.entries(stopped).map(
    ([area, reason]) => `The probe of ${area} stopped early: ${reason}.`,
  )
  const rows = [...asked].sort((one, other) => numberOf(one) - numberOf(other))
  const text = [
    '# How the server responded',
    'The numbers are rows of docs/unknowns.md. `mock.config.json` contains the options.',
    ...reasons,
    table(
      ['Row', 'Requests', 'Result', 'Option'],
      ['---', '---', '---', '---'],
      ...rows.map((each) => [each.question.row, each.question.sends, seenBy(each), setBy(each)]),
    ),
    '## Not asked',
    table(['Row', 'Why it is not asked', 'Question for the provider'], ['---', '---', '---'], ...notAskable),
  ].join('\n\n')
  return redactor.text(`${text}\n`)
}

const FLAGS: Readonly<Record<Level, string>> = {
  read: 'always',
  write: '--writes',
  reset: '--reset',
  'rate-limit': '--rate-limit',
  lockout: '--lockout <n>',
}

const costOf = (requests: number): string => {
  if (requests === 0) return 'no request'
  return `at most ${requests} ${requests === 1 ? 'request' : 'requests'}`
}

const lineOf = ({ row, area, option, sends, costs, needs }: Question): string => {
  const sets =
    option.length === 0 ? 'sets no option' : `sets ${option.map((name) => `${area}.${name}`).join(', ')}`
  const need = needs.map((name) => `; needs ${area}.${name}`).join('')
  return `  row ${row}: ${sends}; ${costOf(costs)}; ${sets}${need}`
}

/** Returns the output of `probe --list`: for each question, its requests, their number and the options. */
export const listOf = (questions: readonly Question[]): string => {
  const lines = levels.map((level) => {
    const own = questions.filter((question) => question.level === level)
    return [`${level} (${FLAGS[level]})`, ...own.map(lineOf)].join('\n')
  })
  const rest = notAskable.map(([row, reason, ask]) => `  row ${row}: ${reason}. Ask the provider: ${ask}`)
  return `${[...lines, ['not asked', ...rest].join('\n')].join('\n\n')}\n`
}
