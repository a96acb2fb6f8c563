import { inWords } from '../clock.ts'
import type {
  FailureEvent,
  Hooks,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  TokenRenewedEvent,
  UnexpectedReport,
} from './hooks.ts'

/** Where a client writes its log: `console`, a pino logger, or any object with these methods. */
export interface Logger {
  /** Writes a line about a request or a response. */
  debug(line: string): unknown
  /** Writes a line about a login. */
  info(line: string): unknown
  /** Writes a line about a retry or an unexpected response. */
  warn(line: string): unknown
  /** Writes a line about a call that failed. */
  error(line: string): unknown
}

/** The log levels, from no lines to all lines. */
export const LOG_LEVELS: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug']
/** How much a client logs. `debug` logs every request and response. */
export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug'

/** The types of a client's events, by the name of the function that receives the event. */
export interface Events {
  readonly onRequest: RequestEvent
  readonly onResponse: ResponseEvent
  readonly onRetry: RetryEvent
  readonly onError: FailureEvent
  readonly onTokenRenewed: TokenRenewedEvent
  readonly onUnexpected: UnexpectedReport
}

type Lines = {
  readonly [Name in keyof Events]: readonly [keyof Logger, (event: Events[Name]) => string]
}

const answered = (status: number | undefined): string => (status === undefined ? '' : ` (HTTP ${status})`)

const LINES: Lines = {
  onRequest: ['debug', ({ attempt, method, path }) => `attempt ${attempt}: ${method} ${path}`],
  onResponse: ['debug', ({ status, durationMs }) => `HTTP ${status} after ${inWords(durationMs)}`],
  onRetry: [
    'warn',
    ({ attempt, reason, status, waitMs }) =>
      `attempt ${attempt} failed: ${reason}${answered(status)}; retry in ${inWords(waitMs)}`,
  ],
  onError: [
    'error',
    ({ code, outcome, status, errorCode, attempts, durationMs }) =>
      `failed: ${code}${answered(status)}${errorCode ? `, code "${errorCode}"` : ''}, outcome ${outcome}, attempts ${attempts}, ${inWords(durationMs)}`,
  ],
  onTokenRenewed: ['info', ({ reason, grant }) => `new token: ${reason}, by ${grant}`],
  onUnexpected: ['warn', ({ message }) => message],
}

// A server's text could otherwise end a log line and begin another one, or control the terminal.
const CONTROL = /[\p{Cc}\u2028\u2029]/gu
const escaped = (text: string): string =>
  text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Returns the level in the environment variable MANDATEKIT_LOG, or `off`. */
export const environmentLevel = (): LogLevel => {
  try {
    const runtime = globalThis as { process?: { env?: Record<string, unknown> } }
    return LOG_LEVELS.find((level) => level === runtime.process?.env?.MANDATEKIT_LOG) ?? 'off'
  } catch {
    // Deno may forbid access to the environment.
    return 'off'
  }
}

/** Runs a user's function. Ignores its errors, because a failed log line must not make a payment fail. */
const quietly = (work: () => unknown): void => {
  try {
    Promise.resolve(work()).catch(() => undefined)
  } catch {
    // The error of the function is ignored.
  }
}

/** Who receives the events of a client. */
interface Receivers {
  readonly hooks: Hooks
  readonly onUnexpected?: ((report: UnexpectedReport) => unknown) | undefined
  readonly logger?: Logger | undefined
  readonly logLevel: LogLevel
}

/** Logs an event and calls the user's function for it. Ignores the function's errors. In a hook, `this` is `hooks`. */
export const notify = <Name extends keyof Events>(
  receivers: Receivers,
  name: Name,
  event: Events[Name],
): void => {
  const { logger = console, logLevel, hooks } = receivers
  const [level, line] = LINES[name]
  if (LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(logLevel))
    quietly(() => logger[level](`mandatekit ${event.operation}: ${escaped(line(event))}`))
  const functions: { readonly [Key in keyof Events]?: ((event: never) => unknown) | undefined } =
    name === 'onUnexpected' ? receivers : hooks
  quietly(() => functions[name]?.(event as never))
}
