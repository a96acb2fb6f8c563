import { parseArgs } from 'node:util'
import { nearestName } from '../domain/nearest-name.ts'

/** What the user of the command can put right. It is shown as one sentence, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  /** 2: the command was not understood. 1: it could not be done. */
  readonly exitCode: 1 | 2

  constructor(message: string, { exitCode = 1, cause }: { exitCode?: 1 | 2; cause?: unknown } = {}) {
    super(message, { cause })
    this.exitCode = exitCode
  }
}

/** The message of anything thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The code of an error of Node, such as `EADDRINUSE`. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** What the command was asked for. */
export type Command =
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  | { readonly name: 'mock'; readonly options: MockCommandOptions }

/** The options of `mandatekit mock`. What was not given is `undefined`. */
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
  readonly tls: { readonly cert: string; readonly key: string } | undefined
}

/** The port when none is named. */
const DEFAULT_PORT = 4010
const DEFAULT_HOST = '127.0.0.1'

const OPTIONS = {
  port: { type: 'string', short: 'p' },
  host: { type: 'string' },
  config: { type: 'string', short: 'c' },
  clock: { type: 'string' },
  seed: { type: 'string' },
  strict: { type: 'boolean' },
  limits: { type: 'boolean' },
  notify: { type: 'string', multiple: true },
  'notify-once': { type: 'boolean' },
  'no-panel': { type: 'boolean' },
  cert: { type: 'string' },
  key: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const

/** What `--help` prints. */
export const help = `Usage: mandatekit mock [options]

Serves a mock of both APIs: subscriptions and gateway, the payer's pages, and a control panel.

Options
  -p, --port <number>    port, ${DEFAULT_PORT} by default; 0 takes any free one
      --host <address>   address to listen on, ${DEFAULT_HOST} by default (this machine alone)
  -c, --config <file>    options of the mock: a .json file, or a .js, .mjs or .ts module that exports them
                         as config or by default
      --clock <time>     the clock stands still at this time, such as 2027-01-01T06:00:00Z, until it is moved;
                         without it the clock follows this machine
      --seed <text>      the same seed gives the same identifiers
      --strict           also refuse what real platforms are likely to refuse
      --limits           limit calls although the clock stands still, by this machine's minutes; without it
                         such a mock has the limits of the file alone
      --notify <url>     deliver notifications to this address, again when it does not answer 2xx: up to 6
                         times in 9 hours of the mock's clock; may be repeated
      --notify-once      deliver each notification once, whatever is answered
      --no-panel         without the control panel
      --cert <file>      certificate, PEM: serve HTTPS and HTTP/2; needs --key
      --key <file>       private key of the certificate, PEM
  -h, --help             this text
  -v, --version          the version

Options given here win over those of the file. The exit code is 0 when the mock was stopped, 1 when it
could not start, and 2 when the command was not understood.
`

const wrongUse = (message: string): CommandError =>
  new CommandError(`${message}\nSee mandatekit --help.`, { exitCode: 2 })

const parse = (words: readonly string[]) => {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true, strict: true })
  } catch (error) {
    // The first sentence names the option; what follows speaks of positional arguments, which there are none of.
    const [sentence = ''] = messageOf(error).split(/\.\s/, 1)
    const unknown =
      codeOf(error) === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? /'--([\w-]+)'/.exec(sentence)?.[1] : undefined
    const meant = unknown === undefined ? undefined : nearestName(unknown, Object.keys(OPTIONS))
    throw wrongUse(
      `${sentence.replace(/\.$/, '')}${meant === undefined ? '.' : `; did you mean --${meant}?`}`,
    )
  }
}

const portOf = (text: string | undefined): number => {
  if (text === undefined) return DEFAULT_PORT
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw wrongUse(`--port is a whole number from 0 to 65535, not ${JSON.stringify(text)}.`)
}

const tlsOf = (cert: string | undefined, key: string | undefined): MockCommandOptions['tls'] => {
  if (cert !== undefined && key !== undefined) return { cert, key }
  if (cert === undefined && key === undefined) return undefined
  throw wrongUse('--cert and --key are given together.')
}

/**
 * Reads the words after `mandatekit`.
 *
 * @throws CommandError with exit code 2 when they make no sense; the message names the word
 */
export const readArguments = (words: readonly string[]): Command => {
  const { values, positionals } = parse(words)
  if (values.help === true) return { name: 'help' }
  if (values.version === true) return { name: 'version' }
  const [name, more] = positionals
  if (name === 'help') return { name: 'help' }
  if (name === undefined) throw wrongUse('Say what to do, for example: mandatekit mock')
  if (name !== 'mock') throw wrongUse(`There is no command ${JSON.stringify(name)}; there is mock.`)
  if (more !== undefined) throw wrongUse(`mandatekit mock takes options only, not ${JSON.stringify(more)}.`)
  if (values['notify-once'] === true && values.notify === undefined) {
    throw wrongUse('--notify-once needs --notify.')
  }
  const empty = Object.entries(values).find(([, value]) => value === '')
  if (empty !== undefined) throw wrongUse(`--${empty[0]} needs a value.`)
  return {
    name,
    options: {
      port: portOf(values.port),
      host: values.host ?? DEFAULT_HOST,
      config: values.config,
      clock: values.clock,
      seed: values.seed,
      strict: values.strict ?? false,
      limits: values.limits ?? false,
      notify: values.notify ?? [],
      notifyOnce: values['notify-once'] ?? false,
      panel: values['no-panel'] !== true,
      tls: tlsOf(values.cert, values.key),
    },
  }
}
