import { type ParseArgsConfig, parseArgs } from 'node:util'
import { isBase } from '../http/routes.ts'
import { isHostName } from '../panel/access.ts'

/** An error that the user of the command can fix. The command prints this error without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  /** Exit code: 2 if the command is not valid, 1 if the command failed. */
  readonly exitCode: 1 | 2

  constructor(message: string, { exitCode = 1, cause }: { exitCode?: 1 | 2; cause?: unknown } = {}) {
    super(message, { cause })
    this.exitCode = exitCode
  }
}

/** Returns the message of a thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Returns the code of a Node error, such as `EADDRINUSE`. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** The streams that a command writes to, for example `process`. */
export interface Outputs {
  readonly stdout: { readonly isTTY?: boolean; write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** How the command prints requests and deliveries: as lines for people, as JSON, or not at all. */
type LogFormat = 'text' | 'json' | 'none'

/** The options of `mandatekit mock`. */
export interface MockCommandOptions {
  readonly port: number
  readonly host: string
  readonly config: string | undefined
  readonly clock: string | undefined
  readonly seed: string | undefined
  readonly strict: boolean
  readonly limits: boolean
  readonly notify: readonly string[]
  readonly notifyOnce: boolean
  readonly panel: boolean
  readonly publicUrl: string | undefined
  readonly allowedHosts: readonly string[]
  readonly state: string | undefined
  /** How requests and deliveries are printed. */
  readonly log: LogFormat
  readonly tls: { readonly cert: string; readonly key: string } | undefined
}

/** A valid command. */
export type Command =
  | { readonly name: 'help' | 'version' }
  | { readonly name: 'mock'; readonly options: MockCommandOptions }

const DEFAULT_PORT = 4010
const DEFAULT_HOST = '127.0.0.1'

const OPTIONS = {
  port: { type: 'string', short: 'p' },
  host: { type: 'string' },
  'public-url': { type: 'string' },
  'allow-host': { type: 'string', multiple: true },
  config: { type: 'string', short: 'c' },
  state: { type: 'string' },
  clock: { type: 'string' },
  seed: { type: 'string' },
  strict: { type: 'boolean' },
  limits: { type: 'boolean' },
  notify: { type: 'string', multiple: true },
  'notify-once': { type: 'boolean' },
  'no-panel': { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  log: { type: 'string' },
  cert: { type: 'string' },
  key: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const

/** The output of `--help`. */
export const help = `Usage: mandatekit mock [options]
       mandatekit probe --config <file> [options]   finds the options that make the mock behave like a sandbox; see probe --help
       mandatekit compare <recordings.jsonl> [options]   compares the mock with a server; see compare --help

Serves a mock of both APIs (subscriptions and gateway), the payer's pages and a control panel.

Options
  -p, --port <number>    port; default ${DEFAULT_PORT}; 0 takes any free port
      --host <address>   address to listen on; default ${DEFAULT_HOST}, which only this machine reaches
      --public-url <url> base URL at which payers reach the server, for example of a tunnel or a proxy;
                         the URLs in responses start with it
      --allow-host <name>
                         a name under which other machines reach the server, for example mock in Docker;
                         can be repeated; the panel refuses unknown names
  -c, --config <file>    options of the mock: a .json file, or a .js, .mjs or .ts module that exports them
                         as config or as default
      --state <file>     keep the state across restarts in this file, which is created if it does not exist;
                         the time in the file replaces --clock; the file contains tokens
      --clock <time>     freeze the mock's clock at a time such as 2027-01-01T06:00:00Z until you move it;
                         by default the clock follows this machine
      --seed <text>      generate the same identifiers in each run with this seed; by default, each run has
                         other identifiers, unless the clock is frozen
      --strict           also refuse requests that a real server is likely to refuse
      --limits           apply rate limits even while the clock is frozen, in this machine's time;
                         by default, only limits in the --config file apply while the clock is frozen
      --notify <url>     deliver notifications to this URL; can be repeated; a delivery without a 2xx
                         response is retried: at most 6 attempts in 9 hours of the mock's clock
      --notify-once      deliver each notification once, whatever the response is
      --no-panel         do not serve the control panel
  -q, --quiet            do not print requests and deliveries
      --log <format>     how to print requests and deliveries: text (default), one line each; or json, one JSON
                         object a line; then all other output goes to standard error
      --cert <file>      certificate in PEM: serve HTTPS and HTTP/2; requires --key
      --key <file>       private key of the certificate in PEM
  -h, --help             print this text
  -v, --version          print the version

These options override those of the file. Exit codes: 0 the mock was stopped, 1 it could not start,
2 the command is not valid.
`

/** Returns the error of a command that is not valid. The message names the help that lists its options. */
export const usageError = (message: string, command = ''): CommandError =>
  new CommandError(`${message}\nSee mandatekit ${command}--help.`, { exitCode: 2 })

/**
 * Parses the words of a command.
 *
 * @throws CommandError with exit code 2 if an option is not valid; the message names the option
 */
export const parseWords = <const Options extends NonNullable<ParseArgsConfig['options']>>(
  words: readonly string[],
  options: Options,
  command = '',
) => {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
  } catch (error) {
    // Only the first sentence of Node's message is useful: it names the wrong option.
    const [sentence = ''] = messageOf(error).split(/\.\s/, 1)
    const names = Object.keys(options).map((name) => `--${name}`)
    const isUnknown = codeOf(error) === 'ERR_PARSE_ARGS_UNKNOWN_OPTION'
    const list = isUnknown ? ` Options: ${names.join(', ')}.` : ''
    throw usageError(`${sentence.replace(/\.$/, '')}.${list}`, command)
  }
}

const portOf = (text: string | undefined): number => {
  if (text === undefined) return DEFAULT_PORT
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw usageError(`--port must be a whole number from 0 to 65535, got ${JSON.stringify(text)}.`)
}

const publicUrlOf = (text: string | undefined): string | undefined => {
  if (text === undefined || isBase(text)) return text
  throw usageError(
    '--public-url must be an absolute http or https URL without credentials, a query or a fragment.',
  )
}

const allowedHostsOf = (names: readonly string[] = []): readonly string[] => {
  const wrong = names.find((name) => !isHostName(name))
  if (wrong === undefined) return names
  throw usageError(`--allow-host must be a host name without scheme and port, got ${JSON.stringify(wrong)}.`)
}

const logOf = (format: string | undefined, isQuiet: boolean): LogFormat => {
  if (isQuiet && format !== undefined) throw usageError('--quiet and --log cannot be used together.')
  if (isQuiet) return 'none'
  if (format === undefined || format === 'text' || format === 'json') return format ?? 'text'
  throw usageError(`--log must be text or json, got ${JSON.stringify(format)}.`)
}

const tlsOf = (cert: string | undefined, key: string | undefined): MockCommandOptions['tls'] => {
  if (cert !== undefined && key !== undefined) return { cert, key }
  if (cert === undefined && key === undefined) return undefined
  throw usageError('--cert and --key must be used together.')
}

/**
 * Parses the arguments after `mandatekit`.
 *
 * @throws CommandError with exit code 2 if an argument is not valid; the message names the argument
 */
export const readArguments = (words: readonly string[]): Command => {
  const { values, positionals } = parseWords(words, OPTIONS)
  const [name, more] = positionals
  if (values.help === true || name === 'help') return { name: 'help' }
  if (values.version === true) return { name: 'version' }
  if (name === undefined) throw usageError('Missing command, for example: mandatekit mock')
  if (name !== 'mock')
    throw usageError(`Unknown command ${JSON.stringify(name)}. Commands: mock, probe, compare.`)
  if (more !== undefined) throw usageError(`Unknown argument ${JSON.stringify(more)}.`)
  if (values['notify-once'] === true && values.notify === undefined) {
    throw usageError('--notify-once requires --notify.')
  }
  const empty = Object.entries(values).find(([, value]) => value === '')
  if (empty !== undefined) throw usageError(`--${empty[0]} requires a value.`)
  const { config, state, clock, seed, host, strict, limits, notify, cert, key, log, quiet } = values
  return {
    name,
    options: {
      port: portOf(values.port),
      host: host ?? DEFAULT_HOST,
      config,
      state,
      clock,
      seed,
      strict: strict ?? false,
      limits: limits ?? false,
      notify: notify ?? [],
      notifyOnce: values['notify-once'] ?? false,
      panel: values['no-panel'] !== true,
      publicUrl: publicUrlOf(values['public-url']),
      allowedHosts: allowedHostsOf(values['allow-host']),
      log: logOf(log, quiet ?? false),
      tls: tlsOf(cert, key),
    },
  }
}
