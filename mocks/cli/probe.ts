import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { isObject, type Json } from '../../src/contract/fields.ts'
import { randomId } from '../../src/contract/formats.ts'
import { isBase } from '../http/routes.ts'
import { type ProbeConfig, type ProbeResult, probe, questions } from '../probe/probe.ts'
import type { Level, ProbeArea, Question } from '../probe/question.ts'
import { toLine } from '../probe/recording.ts'
import { createRedactor, type Redactor } from '../probe/redact.ts'
import { listOf, reportOf } from '../probe/report.ts'
import { openSession, type SessionLine } from '../probe/session.ts'
import { machineNow, startTimer } from '../time/machine.ts'
import { CommandError, type Outputs, parseWords, usageError } from './arguments.ts'
import { readNamedFile } from './config-file.ts'

const OPTIONS = {
  config: { type: 'string', short: 'c' },
  out: { type: 'string', short: 'o' },
  'read-only': { type: 'boolean' },
  writes: { type: 'boolean' },
  reset: { type: 'boolean' },
  'rate-limit': { type: 'boolean' },
  lockout: { type: 'string' },
  'no-payer': { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** The output of `mandatekit probe --help`. */
const help = `Usage: mandatekit probe --config <file> [options]

Finds out how a sandbox behaves where the specification leaves this open, and writes the options that make the
mock behave in the same way.

Options
  -c, --config <file>   JSON: { "subscriptions": { "baseUrl", "credentials": { "clientId", "clientSecret", "username",
                        "password" } }, "gateway": { "baseUrl", "apiKey", "testNumbers" } }; a value such as
                        "$API_KEY" is read from the environment
  -o, --out <folder>    folder of the results; default probe; if the folder contains a session, the run resumes it
      --read-only       send only requests that create nothing (default)
      --writes          send subscription requests, and charges of test numbers
      --reset           reset the gateway of the sandbox, which deletes its charges
      --rate-limit      exceed the rate limits
      --lockout <n>     send at most n wrong logins, which may lock the user
      --no-payer        skip the question for which a person must act on the payer's page
      --list            print the questions, and send nothing
  -h, --help            print this text

Results: mock.config.json for mandatekit mock --config, report.md, recordings.jsonl, session.jsonl.
Exit codes: 0 all questions were asked, 1 the command failed, 2 the command is not valid, or an area was stopped before
its last question.
`

const COMMAND = 'probe '

const parse = (words: readonly string[]) => {
  const { values, positionals } = parseWords(words, OPTIONS, COMMAND)
  const [word] = positionals
  if (word === undefined) return values
  throw usageError(`Unknown argument ${JSON.stringify(word)}.`, COMMAND)
}

type Flags = ReturnType<typeof parse>

const wrongLoginsOf = ({ lockout }: Flags): number => {
  if (lockout === undefined) return 0
  if (/^[1-9]\d?$/.test(lockout)) return Number(lockout)
  throw usageError(
    `--lockout must be a number of logins from 1 to 99, got ${JSON.stringify(lockout)}.`,
    COMMAND,
  )
}

const levelsOf = (flags: Flags): readonly Level[] => {
  const more = [
    ...(flags.writes === true ? ['write' as const] : []),
    ...(flags.reset === true ? ['reset' as const] : []),
    ...(flags['rate-limit'] === true ? ['rate-limit' as const] : []),
    ...(flags.lockout === undefined ? [] : ['lockout' as const]),
  ]
  if (flags['read-only'] === true && more.length > 0) {
    throw usageError('--read-only cannot be used with --writes, --reset, --rate-limit or --lockout.', COMMAND)
  }
  return ['read', ...more]
}

/** Replaces a value such as `$API_KEY` with the environment variable of this name. `place` names the value. */
const withEnvironment = (value: unknown, place = ''): unknown => {
  if (Array.isArray(value)) return value.map((each, index) => withEnvironment(each, `${place}[${index}]`))
  if (isObject(value)) {
    const entries = Object.entries(value)
    return Object.fromEntries(
      entries.map(([name, each]) => [name, withEnvironment(each, `${place}${place && '.'}${name}`)]),
    )
  }
  const variable = typeof value === 'string' ? /^\$\{?(\w+)\}?$/.exec(value)?.[1] : undefined
  if (variable === undefined) return value
  const found = process.env[variable]
  if (found === undefined || found === '') {
    // The value may be a password that begins with $, so the message does not quote it.
    const message = `--config: ${place} names an environment variable that is not set.`
    throw new CommandError(message, { exitCode: 2 })
  }
  return found
}

const areaOf = (
  path: string,
  name: string,
  given: Json,
  secrets: readonly string[],
): ProbeArea | undefined => {
  const value = given[name]
  if (value === undefined) return undefined
  const area = Object(value)
  const missing = secrets.find((secret) => typeof Object(area.credentials ?? area)[secret] !== 'string')
  if (missing !== undefined)
    throw new CommandError(`--config ${path}: ${name} has no ${missing}.`, { exitCode: 2 })
  if (typeof area.baseUrl === 'string' && isBase(area.baseUrl)) return area
  throw new CommandError(
    `--config ${path}: ${name}.baseUrl must be an absolute http or https URL without credentials, a query or a fragment.`,
    { exitCode: 2 },
  )
}

const readConfig = async (path: string): Promise<ProbeConfig> => {
  let json: unknown
  try {
    json = JSON.parse(await readNamedFile('--config', path))
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`--config ${path}: the file is not valid JSON.`, { exitCode: 2, cause: error })
  }
  const given = Object(withEnvironment(json))
  const subscriptions = areaOf(path, 'subscriptions', given, [
    'clientId',
    'clientSecret',
    'username',
    'password',
  ])
  const gateway = areaOf(path, 'gateway', given, ['apiKey'])
  if (subscriptions === undefined && gateway === undefined) {
    throw new CommandError(`--config ${path}: neither subscriptions nor gateway is configured.`, {
      exitCode: 2,
    })
  }
  return { ...(subscriptions && { subscriptions }), ...(gateway && { gateway }) }
}

const redactorOf = ({ subscriptions, gateway }: ProbeConfig): Redactor => {
  const { apiKey, otherApiKey, testNumbers = [] } = gateway ?? {}
  return createRedactor({
    secrets: {
      ...subscriptions?.credentials,
      ...(apiKey !== undefined && { apikey: apiKey }),
      ...(otherApiKey !== undefined && { otherapikey: otherApiKey }),
    },
    numbers: testNumbers,
  })
}

/** Opens the session file of a folder. A last line that a killed run wrote in part is left out. */
const sessionIn = (folder: string, config: ProbeConfig) => {
  const path = join(folder, 'session.jsonl')
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  appendFileSync(path, '')
  // Other users of the machine must not read the sandbox's responses.
  chmodSync(path, 0o600)
  // Shortens the file instead of writing it again: if a write were interrupted, the next run would charge again.
  truncateSync(path, Buffer.byteLength(whole))
  const lines = whole.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as SessionLine]))
  const asks = [config.subscriptions, config.gateway].map((area) => area?.baseUrl ?? 'nothing').join(' and ')
  const session = openSession(lines, randomId(), asks, (line) =>
    appendFileSync(path, `${JSON.stringify(line)}\n`),
  )
  if (session.asks === asks) return session
  throw new CommandError(
    `--out ${folder}: the session in this folder belongs to ${session.asks.replace(/ and nothing|nothing and /, '')}, and the --config file names other base URLs. Use another folder, or delete ${path}.`,
    { exitCode: 2 },
  )
}

const progressOf =
  ({ stdout }: Outputs, redactor: Redactor) =>
  ({ row, area, sends }: Question, number: number, count: number): void =>
    void stdout.write(redactor.text(`[${number}/${count}] ${area}, row ${row}: ${sends}\n`))

/** Prints the address of a page, and waits until a person has acted there. */
const payerAt = (outputs: Outputs) => async (action: string, url: string) => {
  // Without input, no person can press Enter.
  if (process.stdin.readableEnded) return
  const terminal = createInterface({ input: process.stdin })
  outputs.stdout.write(`Please ${action} at ${url} and then press Enter.\n`)
  await new Promise<void>((done) => terminal.once('line', () => done()).once('close', () => done()))
  terminal.close()
}

const REQUESTS = 500
const MORE_REQUESTS = 3_000
const SECONDS = 3_600

const write = (
  folder: string,
  result: ProbeResult,
  redactor: Redactor,
  recordings: readonly string[],
): void => {
  writeFileSync(join(folder, 'mock.config.json'), `${JSON.stringify(result.options, null, 2)}\n`)
  writeFileSync(join(folder, 'report.md'), reportOf(result, redactor))
  writeFileSync(join(folder, 'recordings.jsonl'), recordings.join(''))
}

/**
 * Runs `mandatekit probe`.
 *
 * @param words the arguments after `probe`
 * @returns the exit code: 0 if every question was asked, 2 if an area was stopped before its last question
 */
export const runProbe = async (words: readonly string[], outputs: Outputs): Promise<number> => {
  const flags = parse(words)
  const levels = levelsOf(flags)
  const wrongLogins = wrongLoginsOf(flags)
  if (flags.help === true || flags.list === true) {
    outputs.stdout.write(flags.help === true ? help : listOf(questions))
    return 0
  }
  if (flags.config === undefined) throw usageError('mandatekit probe requires --config <file>.', COMMAND)
  const config = await readConfig(flags.config)
  const redactor = redactorOf(config)
  const folder = resolve(flags.out ?? 'probe')
  mkdirSync(folder, { recursive: true })
  const session = sessionIn(folder, config)
  const result = await probe(
    config,
    levels,
    {
      fetch: (url, init) => fetch(url, init),
      clock: { now: machineNow, sleep: (length) => new Promise((done) => void startTimer(length, done)) },
      session,
      redactor,
      budget: {
        requests: levels.includes('rate-limit') ? MORE_REQUESTS : REQUESTS,
        seconds: SECONDS,
        timeoutSeconds: 20,
      },
      wrongLogins,
      ...(flags['no-payer'] !== true && { payer: payerAt(outputs) }),
    },
    progressOf(outputs, redactor),
  )
  write(folder, result, redactor, session.recordings().map(toLine))
  const known = result.asked.filter(({ answer }) => answer !== undefined && 'found' in answer).length
  outputs.stdout.write(
    `${known} of ${result.asked.length} questions have an answer. Report: ${join(folder, 'report.md')}\n`,
  )
  const reasons = Object.entries(result.stopped)
  for (const [area, reason] of reasons) outputs.stderr.write(`${area}: the probe stopped early: ${reason}.\n`)
  return reasons.length === 0 ? 0 : 2
}
