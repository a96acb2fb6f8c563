import { compareWithMock, type Difference } from '../core.ts'
import { readRecordings } from '../probe/recording.ts'
import { CommandError, messageOf, type Outputs, parseWords, usageError } from './arguments.ts'
import { readConfigFile, readNamedFile } from './config-file.ts'

const OPTIONS = {
  config: { type: 'string', short: 'c' },
  ignore: { type: 'string', multiple: true },
  github: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

const COMMAND = 'compare '

/** The output of `mandatekit compare --help`. */
const help = `Usage: mandatekit compare <recordings.jsonl> [options]

Replays recordings of a server on the mock, and prints each difference with its row in docs/unknowns.md.

Options
  -c, --config <file>   options of the mock, for example probe/mock.config.json
      --ignore <row>    omit the differences of a row; can be repeated
      --github          also print each difference as an annotation of GitHub Actions
  -h, --help            print this text

Exit codes: 0 no differences, 1 differences, 2 the command could not run.
`

const LONGEST_VALUE = 80

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text
}

const nameOf = ({ row }: Difference): string => (/^\d/.test(row) ? `row ${row}` : row)

const sentence = (difference: Difference): string => {
  const { operation, place, kind, recorded, mock } = difference
  return `${operation}, ${place} (${kind}): the server sent ${shown(recorded)}, the mock sent ${shown(mock)}`
}

const line = (difference: Difference): string => {
  const [first = 0, ...more] = difference.recordings
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  return `${nameOf(difference).padEnd(8)} ${sentence(difference)}; recording ${first}${others}\n`
}

const percent = (text: string): string => `%${text.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`

/** Escapes the message of a GitHub annotation, so that a recorded value cannot start another command. */
const escaped = (text: string): string => text.replace(/[%\r\n]/g, percent)

/** Escapes a property of a GitHub annotation. */
const escapedProperty = (text: string): string => text.replace(/[%\r\n:,]/g, percent)

const annotation = (file: string, difference: Difference): string => {
  const place = `file=${escapedProperty(file)},line=${difference.recordings[0]},title=${escapedProperty(nameOf(difference))}`
  return `::error ${place}::${escaped(sentence(difference))}\n`
}

/**
 * Runs `mandatekit compare`: prints how a recorded server differs from a mock with the options of `--config`.
 *
 * @returns 0 if there is no difference, 1 if there are differences
 * @throws CommandError with exit code 2 if the command could not run
 */
export const compare = async (words: readonly string[], { stdout }: Outputs): Promise<0 | 1> => {
  const { values, positionals } = parseWords(words, OPTIONS, COMMAND)
  const { config, ignore = [], github = false } = values
  if (values.help === true) {
    stdout.write(help)
    return 0
  }
  const [file, more] = positionals
  if (file === undefined) throw usageError('mandatekit compare requires a file of recordings.', COMMAND)
  if (more !== undefined)
    throw usageError(`compare takes one file of recordings, but also got ${JSON.stringify(more)}.`, COMMAND)
  try {
    const recordings = readRecordings(await readNamedFile('compare', file))
    if (recordings.length === 0) throw new CommandError(`compare ${file}: the file has no recordings.`)
    const options = config === undefined ? {} : await readConfigFile(config)
    const { differences, skipped, compared } = await compareWithMock(recordings, options)
    const wanted = differences.filter(({ row }) => !ignore.includes(row))
    for (const difference of wanted) {
      stdout.write(line(difference))
      if (github) stdout.write(annotation(file, difference))
    }
    for (const { recording, reason } of skipped) stdout.write(`skipped  recording ${recording}: ${reason}\n`)
    stdout.write(`${compared} recordings compared, ${skipped.length} skipped, ${wanted.length} differences\n`)
    return wanted.length === 0 ? 0 : 1
  } catch (error) {
    throw new CommandError(messageOf(error), { exitCode: 2, cause: error })
  }
}
