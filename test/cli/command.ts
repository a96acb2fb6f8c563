import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { afterAll, afterEach, beforeAll, vi } from 'vitest'
import { run as runCommand } from '../../mocks/cli/run.ts'

const source = fileURLToPath(new URL('../../mocks/cli.ts', import.meta.url))
const LAST_LINE = 'Stop it with Ctrl-C.'

/** The result of a command. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Starts `mandatekit` in a process of its own. */
const start = (words: readonly string[]) => {
  const child = spawn(process.execPath, ['--no-warnings', source, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const ended: Promise<Ended> = once(child, 'close').then(([code]) => ({ code, out, err }))
  return { child, ended, printed: () => out + err }
}

/** Runs a command that ends by itself. */
export const run = (...words: string[]): Promise<Ended> => start(words).ended

/** Runs a command that ends by itself in this process, which is faster. */
export const runHere = async (...words: string[]): Promise<Ended> => {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCommand(words, {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
  })
  return { code, out: out.join(''), err: err.join('') }
}

/** Runs a command that serves until it is stopped. Resolves once it is up. */
const serve = async (words: readonly string[]) => {
  const { child, ended, printed } = start(words)
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', () => {
        if (printed().includes(LAST_LINE)) resolve()
      })
    }
    ended.then(({ err }) => reject(new Error(`The command ended before it was up: ${err}`)), reject)
  })
  /** Returns the value that is printed after a name, such as `both APIs`. */
  const value = (name: string): string => new RegExp(`^ +${name} +(.+)$`, 'm').exec(printed())?.[1] ?? ''
  const baseUrl = value('both APIs')
  return {
    printed: printed(),
    value,
    url: baseUrl,
    /** Creates clients from the printed lines. */
    get subscriptions() {
      const credentials = {
        clientId: value('client_id'),
        clientSecret: value('client_secret'),
        username: value('username'),
        password: value('password'),
      }
      return new SubscriptionsClient({ baseUrl, credentials, rateLimit: 'throw' })
    },
    get gateway() {
      return new GatewayClient({ baseUrl, apiKey: value('API key'), rateLimit: 'throw', retry: false })
    },
    /** Stops reading the command's output. */
    leave: () => void child.stdout.destroy(),
    /** Sends a signal, and returns the command's result. */
    stop(signal: NodeJS.Signals = 'SIGINT'): Promise<Ended> {
      child.kill(signal)
      return ended
    },
  }
}

/** A running command. */
export type Serving = Awaited<ReturnType<typeof serve>>

/** Gives the tests of a file a folder, and stops the commands that they start. */
export const useCommands = () => {
  // A process takes seconds to start on a busy machine.
  vi.setConfig({ testTimeout: 60_000 })
  let folder = ''
  let running: Serving[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mandatekit-command-'))
  })
  afterEach(async () => {
    await Promise.all(running.map((one) => one.stop('SIGKILL')))
    running = []
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const file = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, text)
    return path
  }
  return {
    file,
    /** Returns the option for a file with these options. */
    config: async (options: object) => ['--config', await file('options.json', JSON.stringify(options))],
    /** Starts `mandatekit mock` on a free port. */
    async started(...words: readonly string[]): Promise<Serving> {
      const one = await serve(['mock', '--port', '0', ...words])
      running.push(one)
      return one
    },
  }
}
