import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { serve as serveFetch } from 'srvx/node'
import { Pool } from 'undici'
import { startMockServer } from '../mocks/server.ts'
import { report } from './report.ts'

/*
 * A charge over HTTP, beside a bare server on the same fetch-to-node adapter that parses the body and answers JSON. Each
 * server runs in a process of its own; the loader takes turns between them. The ratio of processor time for each request
 * counts, measured in the servers.
 *
 *   node bench/server.ts
 */

const ROUNDS = 7
const CALLS = 4_000
const CONNECTIONS = 16
const TARGET = 0.7

const BODY = JSON.stringify({
  msisdn: '+99900000001',
  amount: 2500,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
})

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
  const pool = new Pool(url, { connections: CONNECTIONS })
  let key = 0
  const call = async (): Promise<void> => {
    key += 1
    const { statusCode, body } = await pool.request({
      path: '/api/v1/mfs/charges',
      method: 'POST',
      headers: {
        authorization: 'Bearer mock-api-key',
        'content-type': 'application/json',
        'idempotency-key': `key-${key}`,
      },
      body: BODY,
    })
    await body.text()
    if (statusCode !== 202) throw new Error(`${kind} answered ${statusCode}`)
  }
  const spent = async (): Promise<number> => {
    const answer = next<Spent>()
    child.send('spent')
    return (await answer).microseconds
  }
  return {
    /** Microseconds of the server's processor for each request of a round. */
    async round(): Promise<number> {
      await spent()
      let left = CALLS
      const worker = async (): Promise<void> => {
        while (left-- > 0) await call()
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, worker))
      return (await spent()) / CALLS
    },
    async stop(): Promise<void> {
      await pool.destroy()
      child.kill()
    },
  }
}

const compare = async (): Promise<void> => {
  const bare = await startChild('bare')
  const mock = await startChild('mock')
  const times = { bare: Number.POSITIVE_INFINITY, mock: Number.POSITIVE_INFINITY }
  for (let round = 0; round < ROUNDS; round += 1) {
    times.bare = Math.min(times.bare, await bare.round())
    times.mock = Math.min(times.mock, await mock.round())
  }
  await Promise.all([bare.stop(), mock.stop()])
  const ratio = times.bare / times.mock
  console.table([
    { server: 'bare srvx, parse and answer', 'µs a request': times.bare.toFixed(1) },
    { server: 'startMockServer, charge', 'µs a request': times.mock.toFixed(1) },
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
