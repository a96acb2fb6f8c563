import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { run as runCommand } from '../../mocks/cli/run.ts'

const source = fileURLToPath(new URL('../../mocks/cli.ts', import.meta.url))
const LAST_LINE = 'Stop it with Ctrl-C.'

/** How a command ended. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Starts `mandatekit` with these words, as a process of its own. */
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
  return { child, ended, printed: () => out }
}

/** Runs a command that ends by itself. */
export const run = (...words: string[]): Promise<Ended> => start(words).ended

/** Runs a command that ends by itself in this process: the start of a process takes long. */
export const runHere = async (...words: string[]): Promise<Ended> => {
  let [out, err] = ['', '']
  const code = await runCommand(words, {
    stdout: {
      write(text) {
        out += text
      },
    },
    stderr: {
      write(text) {
        err += text
      },
    },
  })
  return { code, out, err }
}

/** A command that serves. */
export interface Serving {
  /** What it has printed. */
  readonly printed: string
  /** What it printed beside a name, such as `both APIs`. */
  value(name: string): string
  /** Asks it to end, and waits until it has. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

/** Runs a command that serves until it is stopped; resolves once it says that it is up. */
export const serve = async (...words: string[]): Promise<Serving> => {
  const { child, ended, printed } = start(words)
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', () => {
      if (printed().includes(LAST_LINE)) resolve()
    })
    ended.then(({ err }) => reject(new Error(`It ended before it was up: ${err}`)), reject)
  })
  return {
    printed: printed(),
    value: (name) => new RegExp(`^ +${name} +(.+)$`, 'm').exec(printed())?.[1] ?? '',
    stop(signal = 'SIGINT') {
      child.kill(signal)
      return ended
    },
  }
}
