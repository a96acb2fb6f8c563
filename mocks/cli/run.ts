import { createRequire } from 'node:module'
import { createMock } from '../core.ts'
import { toInstantMilliseconds } from '../domain/duration.ts'
import type { MockOptions } from '../options.ts'
import { isLoopback } from '../panel/access.ts'
import type { MockServer } from '../server.ts'
import { startMockServer } from '../server.ts'
import type { Mock } from '../types.ts'
import type { MockCommandOptions } from './arguments.ts'
import { CommandError, codeOf, help, messageOf, readArguments } from './arguments.ts'
import { readConfigFile, readNamedFile } from './config-file.ts'
import { greeting, standsStill, withFittingLimits } from './greeting.ts'
import { keepRunning } from './running-clock.ts'

const version = (): string => {
  const manifest: { readonly version: string } = createRequire(import.meta.url)('mandatekit/package.json')
  return manifest.version
}

const clockOf = (time: string): string => {
  try {
    toInstantMilliseconds(time)
  } catch (error) {
    throw new CommandError(`--clock: ${messageOf(error)}`, { exitCode: 2, cause: error })
  }
  return time
}

const optionsOf = async (given: MockCommandOptions): Promise<MockOptions> => {
  const file: MockOptions = given.config === undefined ? {} : await readConfigFile(given.config)
  return {
    ...file,
    ...(given.clock === undefined ? {} : { clock: clockOf(given.clock) }),
    ...(given.seed === undefined ? {} : { seed: given.seed }),
    ...(given.strict ? { rules: 'strict' } : {}),
  }
}

const createConfigured = (options: MockOptions, { config, notify, notifyOnce }: MockCommandOptions): Mock => {
  let mock: Mock
  try {
    mock = createMock(options)
  } catch (error) {
    throw new CommandError(`${config === undefined ? '' : `--config ${config}: `}${messageOf(error)}`, {
      cause: error,
    })
  }
  for (const url of notify) {
    try {
      mock.notifications.connect(url, { retries: !notifyOnce })
    } catch (error) {
      throw new CommandError(`--notify ${url}: ${messageOf(error)}`, { cause: error })
    }
  }
  return mock
}

const certificateOf = async ({ tls }: MockCommandOptions) => {
  if (tls === undefined) return {}
  const cert = await readNamedFile('--cert', tls.cert)
  return { tls: { cert, key: await readNamedFile('--key', tls.key) } }
}

const listenError = (error: unknown, { port, host, tls }: MockCommandOptions): CommandError => {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new CommandError(
        `Port ${port} of ${host} is in use. Choose another with --port; --port 0 takes any free one.`,
      )
    case 'EACCES':
      return new CommandError(`Port ${port} of ${host} may not be used. Choose one from 1024 on with --port.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new CommandError(`--host ${host}: this machine has no such address.`)
    default:
      return new CommandError(
        tls === undefined ? messageOf(error) : `--cert ${tls.cert} and --key ${tls.key}: ${messageOf(error)}`,
      )
  }
}

const start = async (mock: Mock, given: MockCommandOptions): Promise<MockServer> => {
  const { port, host, panel } = given
  const certificate = await certificateOf(given)
  try {
    return await startMockServer({ mock, port, host, panel, ...certificate })
  } catch (error) {
    throw listenError(error, given)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Resolves when the process is asked to end. */
const ended = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, () => resolve())
  })

/** Where a command writes: the process, or its parts that write. */
export interface Outputs {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

const serve = async (given: MockCommandOptions, { stdout }: Outputs): Promise<void> => {
  const asked = await optionsOf(given)
  const options = withFittingLimits(asked, given.limits)
  const server = await start(createConfigured(options, given), given)
  const { url, mock } = server
  const stopClock = standsStill(options) ? undefined : keepRunning(mock)
  const stopped = ended()
  const isLocal = isLoopback(given.host)
  stdout.write(greeting({ ...given, url, version: version(), options, asked, isLocal }))
  await stopped
  stopClock?.()
  await server.close()
}

/**
 * Runs the `mandatekit` command until it ends.
 *
 * @returns the exit code: 0, 1 when it could not be done, 2 when it was not understood
 */
export const run = async (words: readonly string[], outputs: Outputs = process): Promise<number> => {
  try {
    const command = readArguments(words)
    if (command.name === 'help') outputs.stdout.write(help)
    else if (command.name === 'version') outputs.stdout.write(`${version()}\n`)
    else await serve(command.options, outputs)
    return 0
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    outputs.stderr.write(`${error.message}\n`)
    return error.exitCode
  }
}
