import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { serve as serveFetch } from 'srvx/node'
import { startMockServer } from '../mocks/server.ts'
import { createLoad } from './load.ts'
import { report } from './report.ts'

/*
 * A charge over HTTP, beside a bare server on srvx, a fetch-to-node adapter, that parses the body and answers JSON. Each
 * server runs in a process of its own; the loader takes turns between them. What counts is processor time for each
 * request, measured in the servers, over all rounds: what is kept of charges is collected in some of them only.
 *
 *   node bench/server.ts
 */

const ROUNDS = 40
const CALLS = 1_000
const WARM_UP = 8_000
const TARGET = 0.75

interface Started {
  readonly url: string
}

interface Spent {
  readonly microseconds: number
}

const startBare = async (): Promise<string> => {
  const server = serveFetch({
    port: 0,
    hostname: '127.0.0.1',
    silent: true,
    gracefulShutdown: false,
    async fetch(request) {
      const body: unknown = await request.json()
      return Response.json(body, { status: 202 })
    },
  })
  await server.ready()
  return (server.url ?? '').replace(/\/$/, '')
}

const serve = async (kind: string): Promise<void> => {
  if (kind === 'bare') process.send?.({ url: await startBare() } satisfies Started)
  else {
    const { createMock } = await import('../mocks/core.ts')
    const { url } = await startMockServer({ mock: createMock({ gateway: { rateLimit: false } }) })
    process.send?.({ url } satisfies Started)
  }
  let before = process.cpuUsage()
  process.on('message', () => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    process.send?.({ microseconds: user + system } satisfies Spent)
  })
}

const startChild = async (kind: string) => {
  const child = fork(fileURLToPath(import.meta.url), [kind])
  const next = <Message>() => new Promise<Message>((resolve) => child.once('message', resolve))
  const { url } = await next<Started>()
  const load = createLoad(url)
  const spent = async (): Promise<number> => {
    const answer = next<Spent>()
    child.send('spent')
    return (await answer).microseconds
  }
  return {
    /** Microseconds of the server's processor for each request of a round. */
    async round(calls: number): Promise<number> {
      await spent()
      let left = calls
      await load.run(() => left-- > 0)
      return (await spent()) / calls
    },
    async stop(): Promise<void> {
      await load.close()
      child.kill()
    },
  }
}

const compare = async (): Promise<void> => {
  const servers = { bare: await startChild('bare'), mock: await startChild('mock') }
  await servers.bare.round(WARM_UP)
  await servers.mock.round(WARM_UP)
  const spent = { bare: 0, mock: 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each is first as often as it is second.
    for (const kind of round % 2 === 0 ? (['bare', 'mock'] as const) : (['mock', 'bare'] as const)) {
      spent[kind] += await servers[kind].round(CALLS)
    }
  }
  await Promise.all([servers.bare.stop(), servers.mock.stop()])
  const ratio = spent.bare / spent.mock
  console.table([
    { server: 'bare srvx, parse and answer', 'µs a request': (spent.bare / ROUNDS).toFixed(1) },
    { server: 'startMockServer, charge', 'µs a request': (spent.mock / ROUNDS).toFixed(1) },
  ])
  report({
    what: 'charges over HTTP / a bare fetch-to-node server',
    target: `≥ ${TARGET}`,
    measured: ratio.toFixed(2),
    ok: ratio >= TARGET,
  })
}

const [kind] = process.argv.slice(2)
if (kind === undefined) await compare()
else await serve(kind)
