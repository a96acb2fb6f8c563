import { type ChildProcess, execFile, fork, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createLoad } from './load.ts'
import { report } from './report.ts'
import { RIVALS, type Rival } from './rival-definitions.ts'

/*
 * Charges over HTTP, beside Prism, Mockoon and json-server with an equal definition. Their packages are installed into a
 * temporary folder, which is removed at the end; each server is a process of its own, and the loader takes turns between
 * them. What counts is processor time for each charge, measured from outside (Linux): how many charges a second come
 * through depends on the loader as well, which shares the machine.
 *
 *   npm run bench -- rivals
 */

const ROUNDS = 5
const ROUND = 2_000
const WARM_UP = 3_000
const INSTALL_LIMIT = 300_000
const START_LIMIT = 60_000
const TARGET = 5
/** What Linux counts a process's time in, in milliseconds. */
const TICK = 10

const run = promisify(execFile)

interface Competitor {
  readonly name: string
  readonly url: string
  readonly process: ChildProcess
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

/** Waits until a server has answered a charge. */
const untilReady = async (url: string, child: ChildProcess): Promise<void> => {
  const deadline = performance.now() + START_LIMIT
  for (;;) {
    const load = createLoad(url)
    let left = 1
    const isReady = await load
      .run(() => left-- > 0)
      .then(
        () => true,
        () => false,
      )
    await load.close()
    if (isReady) return
    if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`)
    if (performance.now() > deadline) throw new Error(`it answered no charge within ${START_LIMIT} ms`)
    await setTimeout(200)
  }
}

const startRival = async ({ name, version, program, files, options }: Rival, root: string) => {
  const folder = join(root, name.replaceAll(' ', '-'))
  await mkdir(folder)
  await run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', version], {
    cwd: folder,
    timeout: INSTALL_LIMIT,
  })
  for (const [file, content] of Object.entries(files)) await writeFile(join(folder, file), content)
  const port = await freePort()
  const script = join(folder, 'node_modules', program)
  const child = spawn(process.execPath, [script, ...options(port)], { cwd: folder, stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  try {
    await untilReady(url, child)
  } catch (error) {
    child.kill()
    throw error
  }
  return { name, url, process: child } satisfies Competitor
}

const startOwn = async (): Promise<Competitor> => {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), ['mock'])
  const url = await new Promise<string>((resolve) => {
    child.once('message', (message: { readonly url: string }) => resolve(message.url))
  })
  return { name: 'mandatekit', url, process: child }
}

/** Milliseconds of processor that a process has taken, where the system tells (Linux). */
const processorTime = async ({ pid }: ChildProcess): Promise<number> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK
}

interface Round {
  readonly perSecond: number
  /** Microseconds of processor for each request. */
  readonly processor: number
}

const measure = async (competitors: readonly Competitor[]): Promise<Map<string, Round>> => {
  const loads = competitors.map((competitor) => ({ competitor, load: createLoad(competitor.url) }))
  const best = new Map<string, Round>()
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { competitor, load } of loads) {
      const before = await processorTime(competitor.process)
      const startedAt = performance.now()
      const endsAt = startedAt + (round === 0 ? WARM_UP : ROUND)
      const answered = await load.run(() => performance.now() < endsAt)
      const seconds = (performance.now() - startedAt) / 1_000
      const spent = ((await processorTime(competitor.process)) - before) * 1_000
      const sofar = best.get(competitor.name) ?? { perSecond: 0, processor: Number.POSITIVE_INFINITY }
      if (round > 0)
        best.set(competitor.name, {
          perSecond: Math.max(sofar.perSecond, answered / seconds),
          processor: Math.min(sofar.processor, spent / answered),
        })
    }
  }
  await Promise.all(loads.map(({ load }) => load.close()))
  return best
}

const root = await mkdtemp(join(tmpdir(), 'mandatekit-rivals-'))
const competitors: Competitor[] = [await startOwn()]
try {
  for (const rival of RIVALS) {
    try {
      competitors.push(await startRival(rival, root))
      console.log(`${rival.name}: ${rival.version}`)
    } catch (error) {
      console.log(
        `${rival.version} cannot be measured here: ${error instanceof Error ? error.message : error}`,
      )
    }
  }
  const results = await measure(competitors)
  console.table(
    Object.fromEntries(
      [...results].map(([name, { perSecond, processor }]) => [
        name,
        { 'charges a second': Math.round(perSecond), 'µs of processor a charge': Math.round(processor) },
      ]),
    ),
  )
  const own = results.get('mandatekit')?.processor ?? Number.NaN
  for (const { name } of RIVALS) {
    const times = (results.get(name)?.processor ?? Number.NaN) / own
    report({
      what: `charges over HTTP for the processor time of one by ${name}`,
      target: `≥ ${TARGET}`,
      measured: Number.isNaN(times) ? 'not measured' : times.toFixed(1),
      ok: times >= TARGET,
    })
  }
} finally {
  for (const competitor of competitors) competitor.process.kill()
  await rm(root, { recursive: true, force: true })
}
