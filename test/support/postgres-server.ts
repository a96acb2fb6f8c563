import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './listen.ts'

const INSTALL = 'apt-get install -y postgresql'
const ROOT = '/usr/lib/postgresql'

/** The folder of the newest installed PostgreSQL's programs. */
const programs = (): string | undefined => {
  if (!existsSync(ROOT)) return undefined
  const versions = readdirSync(ROOT).sort((a, b) => Number(b) - Number(a))
  return versions.map((version) => join(ROOT, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
}

/** Whether Debian's PostgreSQL is there. Absence is a failure where no test may be skipped. */
export const postgresIsInstalled = (): boolean => {
  if (programs() !== undefined) return true
  if (process.env.MANDATEKIT_NO_SKIP === '1')
    throw new Error(`PostgreSQL is not installed, and no test may be skipped here: ${INSTALL}`)
  process.stderr.write(`Tests with a real PostgreSQL are skipped: it is not installed (${INSTALL})\n`)
  return false
}

/** Runs one of PostgreSQL's programs. PostgreSQL refuses to run as root, so root runs it as the user `postgres`. */
const run = (program: string, ...parameters: string[]): void => {
  const command = [join(programs() ?? '', program), ...parameters]
  const isRoot = process.getuid?.() === 0
  const [file = '', ...rest] = isRoot ? ['runuser', '-u', 'postgres', '--', ...command] : command
  const { status, stderr } = spawnSync(file, rest, {
    cwd: '/',
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`)
}

/** A PostgreSQL of the test's own, in a temporary folder, on a random loopback port. */
export class PostgresServer {
  readonly #folder: string
  readonly #port: number

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.#port = port
  }

  static async start(): Promise<PostgresServer> {
    const folder = await mkdtemp(join(tmpdir(), 'postgres-'))
    await chmod(folder, 0o777)
    const server = new PostgresServer(folder, await freePort())
    run('initdb', '-D', server.#data, '-U', 'test', '--auth=trust', '--no-sync')
    const settings = `-p ${server.#port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off`
    run('pg_ctl', '-D', server.#data, '-o', settings, '-l', join(folder, 'log'), '-w', 'start')
    return server
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  get url(): string {
    return `postgres://test@127.0.0.1:${this.#port}/postgres`
  }

  async close(): Promise<void> {
    run('pg_ctl', '-D', this.#data, '-m', 'immediate', '-w', 'stop')
    await rm(this.#folder, { recursive: true, force: true })
  }
}
