import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ky from 'ky'
import { GatewayClient } from 'mandatekit'
import { compare, report } from './report.ts'

/*
 * A charge over the loopback: the client beside plain ky (`json`, its timeout on) and beside the runtime's fetch with
 * JSON.parse. The server is a process of its own and responds with a constant; time is that of the calling process. The
 * package is the built one.
 *
 *   node bench/client-call.ts
 *   node bench/client-call.ts --rivals <folder>     with openai and stripe, installed in that folder
 */

const ROUNDS = 150
const CALLS = 60
const WARM_UP = 2_000

const REQUEST = {
  msisdn: '+99900000001',
  amount: 2500,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
}
const ANSWER = JSON.stringify({
  id: 'ch_0123456789abcdefghjk',
  ...REQUEST,
  status: 'pending_confirmation',
  outcome: 'PENDING',
  confirmation_id: 'conf_0123456789abcdefghjk',
  confirmation_url: 'https://gateway.example/confirm/conf_0123456789abcdefghjk',
  created_at: '2026-12-01T06:00:00.000Z',
})

const serve = (): void => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(202, { 'content-type': 'application/json' }).end(ANSWER)
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.send?.(typeof address === 'object' && address !== null ? address.port : 0)
  })
}

type Call = () => Promise<unknown>

/** The clients of two other APIs, where they are installed: each sends the same fields, as JSON or as a form, and reads JSON. */
const rivals = async (folder: string, baseUrl: string): Promise<Record<string, Call>> => {
  const load = async (path: string) => import(pathToFileURL(`${folder}/node_modules/${path}`).href)
  const { default: OpenAI } = await load('openai/index.mjs')
  const { default: Stripe } = await load('stripe/esm/stripe.esm.node.js')
  const openai = new OpenAI({ apiKey: 'key', baseURL: baseUrl })
  const stripe = new Stripe('key', {
    host: '127.0.0.1',
    port: new URL(baseUrl).port,
    protocol: 'http',
    telemetry: false,
    httpClient: Stripe.createFetchHttpClient(),
  })
  return {
    'openai-node': () => openai.post('/charges', { body: REQUEST }),
    'stripe-node on fetch': () => stripe.paymentIntents.create(REQUEST),
  }
}

const measure = async (baseUrl: string): Promise<void> => {
  const url = `${baseUrl}/api/v1/mfs/charges`
  const gateway = new GatewayClient({ baseUrl, apiKey: 'a-key-of-a-merchant' })
  let key = 0
  const headers = () => {
    key += 1
    return { authorization: 'Bearer a-key-of-a-merchant', 'idempotency-key': `key-${key}` }
  }
  const calls: Record<string, Call> = {
    fetch: async () => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...headers(), 'content-type': 'application/json' },
        body: JSON.stringify(REQUEST),
      })
      return JSON.parse(await answer.text())
    },
    ky: () => ky.post(url, { headers: headers(), json: REQUEST, retry: 0 }).json(),
    mandatekit: () => gateway.charge(REQUEST),
  }
  const folder = process.argv[process.argv.indexOf('--rivals') + 1]
  if (process.argv.includes('--rivals') && folder !== undefined)
    Object.assign(calls, await rivals(folder, baseUrl))

  const repeated =
    (call: Call, times: number): (() => Promise<void>) =>
    async () => {
      for (let index = 0; index < times; index += 1) await call()
    }
  for (const call of Object.values(calls)) await repeated(call, WARM_UP)()
  const ways = Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, repeated(call, CALLS)]))
  const results = await compare(ways, ROUNDS)
  console.table(
    Object.entries(results).map(([name, { wall, cpu, ratio }]) => ({
      name,
      'µs a call': (wall / CALLS).toFixed(0),
      'µs of processor': (cpu / CALLS).toFixed(0),
      'wall / fetch': ratio.wall.toFixed(2),
      'processor / fetch': ratio.cpu.toFixed(2),
    })),
  )
  const own = results.mandatekit?.ratio
  for (const kind of ['wall', 'cpu'] as const) {
    const over = (other: string) => (own?.[kind] ?? Number.NaN) / (results[other]?.ratio[kind] ?? Number.NaN)
    const overKy = over('ky')
    report({
      what: `client call over loopback / the same call by plain ky, ${kind}`,
      target: '≤ 1.05',
      measured: overKy.toFixed(2),
      ok: overKy <= 1.05,
    })
    for (const rival of Object.keys(calls).filter((name) => name.includes('-node'))) {
      const ratio = over(rival)
      const what = `client call over loopback / ${rival}, ${kind}`
      report({ what, target: '< 1', measured: ratio.toFixed(2), ok: ratio < 1 })
    }
  }
}

if (process.argv.includes('--serve')) serve()
else {
  const server = fork(fileURLToPath(import.meta.url), ['--serve'])
  const port = await new Promise((resolve) => server.once('message', resolve))
  await measure(`http://127.0.0.1:${port}`)
  server.kill()
}
