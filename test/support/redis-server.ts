import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './listen.ts'
import { without } from './without.ts'

/** Whether Debian's redis-server is there. Absence is a failure where no test may be skipped. */
export const redisIsInstalled = (): boolean => !without('redis-server')

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.write('PING\r\n'))
    socket.once('data', (data) => {
      socket.destroy()
      resolve(data.toString().startsWith('+PONG'))
    })
  })

/** A Redis of the test's own, on a random loopback port, without persistence. */
export class RedisServer {
  readonly port: number
  readonly #folder: string
  readonly #settings: readonly string[]
  #process: ChildProcess | undefined

  private constructor(port: number, folder: string, settings: readonly string[]) {
    this.#settings = settings
    this.port = port
    this.#folder = folder
  }

  /** Starts one, with additional settings such as `['--cluster-enabled', 'yes']`. */
  static async start(settings: readonly string[] = []): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), 'redis-')), settings)
    await server.resume()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** Starts it again on its port, empty. */
  async resume(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    this.#process = spawn('redis-server', [...options, ...this.#settings, '--dir', this.#folder], {
      stdio: 'ignore',
    })
    for (;;) {
      if (await answers(this.port)) return
      if (this.#process.exitCode !== null) throw new Error('redis-server ended while it started')
    }
  }

  /** Ends it without warning, as a crash does. */
  async kill(): Promise<void> {
    const running = this.#process
    this.#process = undefined
    if (running === undefined || running.exitCode !== null) return
    running.kill('SIGKILL')
    await once(running, 'exit')
  }

  /** Freezes it: connections stay open and nothing is answered. */
  freeze(): void {
    this.#process?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#process?.kill('SIGCONT')
  }

  async close(): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }
}
