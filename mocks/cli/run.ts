import { createRequire } from 'node:module'
import { randomId } from '../../src/contract/formats.ts'
import { internalsOf } from '../assemble.ts'
import { accepts } from '../base/fields.ts'
import { createMock } from '../core.ts'
import { target } from '../delivery/types.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import type { MockOptions, NotifyOptions } from '../options.ts'
import { isLoopback } from '../panel/access.ts'
import { type MockServer, startMockServer } from '../server.ts'
import { subscriptionsDefaults } from '../subscriptions/options.ts'
import { toInstantMilliseconds } from '../time/duration.ts'
import type { Mock } from '../types.ts'
import {
  CommandError,
  codeOf,
  help,
  type MockCommandOptions,
  messageOf,
  type Outputs,
  readArguments,
} from './arguments.ts'
import { readConfigFile, readNamedFile } from './config-file.ts'
import { greeting } from './greeting.ts'
import { createTraffic } from './traffic.ts'

const version = (): string => {
  const manifest: { readonly version: string } = createRequire(import.meta.url)('mandatekit/package.json')
  return manifest.version
}

const clockOf = (time: string): string => {
  try {
    toInstantMilliseconds(time)
  } catch (error) {
    const rule = 'ISO 8601 text with a time zone, such as 2027-01-01T06:00:00Z'
    const message = `--clock must be ${rule}, got ${JSON.stringify(time)}.`
    throw new CommandError(message, { exitCode: 2, cause: error })
  }
  return time
}

const receiverOf = (to: string, retries: boolean): NotifyOptions => {
  if (accepts(target, to)) return { to, retries }
  // The message omits a URL with an @, because the text before the @ may be a password.
  const shown = to.includes('@') ? '' : ` ${to}`
  throw new CommandError(
    `--notify${shown} must be an http or https URL without credentials. Pass credentials as headers in the --config file.`,
    { exitCode: 2 },
  )
}

/** Merges the options of the config file and the command. The command's options replace those of the file. */
const optionsOf = async (given: MockCommandOptions): Promise<MockOptions> => {
  const { config, clock, seed, strict, limits, notify, notifyOnce } = given
  const file = config === undefined ? {} : await readConfigFile(config)
  const { subscriptions = {}, gateway = {} } = file
  const { rateLimit: limitOfS = subscriptionsDefaults.rateLimit } = subscriptions
  const { rateLimit: limitOfG = gatewayDefaults.rateLimit } = gateway
  const receivers = notify.map((url) => receiverOf(url, !notifyOnce)).concat(subscriptions.notify ?? [])
  return {
    // Clients in other processes wait in real time, so the rate limits use real time too.
    rateLimitTime: 'machine',
    ...file,
    ...(clock === undefined ? {} : { clock: clockOf(clock) }),
    // After a restart, the mock must not reuse identifiers that a running shop has stored.
    ...((clock ?? file.clock) === undefined && { seed: randomId() }),
    ...(file.seed !== undefined && { seed: file.seed }),
    ...(seed !== undefined && { seed }),
    ...(strict ? { rules: 'strict' } : {}),
    subscriptions: { ...subscriptions, notify: receivers, ...(limits && { rateLimit: limitOfS }) },
    gateway: { ...gateway, ...(limits && { rateLimit: limitOfG }) },
  }
}

const createConfigured = (options: MockOptions, { config }: MockCommandOptions): Mock => {
  try {
    return createMock(options)
  } catch (error) {
    const place = config === undefined ? '' : `--config ${config}: `
    throw new CommandError(`${place}${messageOf(error)}`, { cause: error })
  }
}

const serverError = (error: unknown, { port, host, tls }: MockCommandOptions): CommandError => {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new CommandError(
        `Port ${port} of ${host} is in use. Choose another port with --port, or use --port 0 for any free port.`,
      )
    case 'EACCES':
      return new CommandError(`Port ${port} of ${host} is reserved. Choose port 1024 or higher with --port.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new CommandError(`--host ${host}: this machine does not have this address.`)
    case 'ERR_STATE_FILE':
      return new CommandError(messageOf(error), { cause: error })
    default:
      return new CommandError(
        tls === undefined ? messageOf(error) : `--cert ${tls.cert} and --key ${tls.key}: ${messageOf(error)}`,
      )
  }
}

const start = async (mock: Mock, given: MockCommandOptions): Promise<MockServer> => {
  const { port, host, panel, publicUrl, allowedHosts, state } = given
  const tls = given.tls && {
    cert: await readNamedFile('--cert', given.tls.cert),
    key: await readNamedFile('--key', given.tls.key),
  }
  try {
    return await startMockServer({ mock, port, host, panel, publicUrl, allowedHosts, state, tls })
  } catch (error) {
    throw serverError(error, given)
  }
}

const whenSignaled = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve())
  })

/** Whether to color text for a stream, by the usual rules: only on a terminal, and not if NO_COLOR is set. */
const isColored = ({ isTTY }: Outputs['stdout']): boolean =>
  isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'

const serve = async (given: MockCommandOptions, { stdout, stderr }: Outputs): Promise<void> => {
  const options = await optionsOf(given)
  const { url, mock, close } = await start(createConfigured(options, given), given)
  const signaled = whenSignaled()
  const isLocal = isLoopback(given.host)
  const isJson = given.log === 'json'
  const forPeople = isJson ? stderr : stdout
  forPeople.write(greeting({ ...given, url, version: version(), options, isLocal, now: mock.clock.now() }))
  const traffic = createTraffic({ isJson, isColored: isColored(stdout) })
  if (given.log !== 'none') {
    const { log, outbox } = internalsOf(mock)
    log.onWrite((request) => stdout.write(traffic.request(request)))
    outbox.onSent((delivery) => stdout.write(traffic.delivery(delivery)))
  }
  await signaled
  await close().catch((error) => {
    throw serverError(error, given)
  })
  if (given.log !== 'none') forPeople.write(traffic.summary())
}

/**
 * Runs the `mandatekit` command until it ends.
 *
 * @returns the exit code: 0 after success, 1 if the command failed, 2 if the command is not valid. `compare` returns 1 if
 * there are differences, and 2 if it could not run
 */
export const run = async (words: readonly string[], outputs: Outputs = process): Promise<number> => {
  try {
    const [name, ...rest] = words
    if (name === 'probe') return await (await import('./probe.ts')).runProbe(rest, outputs)
    if (name === 'compare') return await (await import('./compare.ts')).compare(rest, outputs)
    const command = readArguments(words)
    if (command.name === 'mock') await serve(command.options, outputs)
    else outputs.stdout.write(command.name === 'help' ? help : `${version()}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    outputs.stderr.write(`${error.message}\n`)
    return error.exitCode
  }
}
