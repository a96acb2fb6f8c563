import { createMock } from '../mocks/core.ts'
import { report } from './report.ts'

/*
 * A charge through `mock.fetch`, beside a map router that reads the same request, parses it and returns a constant. Both
 * run by turns in one process; the ratio of the best rounds counts. Processor time, so that other work does not show.
 *
 *   node bench/mock-fetch.ts
 */

const ROUNDS = 15
const CALLS = 2_000
const TARGET = 0.45

const BODY = JSON.stringify({
  msisdn: '+99900000001',
  amount: 2500,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
})

type Fetch = (url: string, init: RequestInit) => Promise<Response>

const ANSWER = JSON.stringify({
  id: 'ch_0123456789abcdefghjk',
  msisdn: '+99900000001',
  amount: 2500,
  currency: 'BDT',
  status: 'pending_confirmation',
  outcome: 'PENDING',
  confirmation_id: 'conf_0123456789abcdefghjk',
  confirmation_url: 'https://gateway.mandatekit.test/confirm/conf_0123456789abcdefghjk',
  created_at: '2026-12-01T06:00:00.000Z',
})

/** The least that a stub of this route does. */
const createBare = (): Fetch => {
  const routes = new Map([
    [
      'POST /api/v1/mfs/charges',
      async (request: Request) => {
        const { amount }: { amount: unknown } = await request.json()
        if (typeof amount !== 'number') return new Response(null, { status: 400 })
        return new Response(ANSWER, { status: 202, headers: { 'Content-Type': 'application/json' } })
      },
    ],
  ])
  return async (url, init) => {
    const request = new Request(url, init)
    const route = routes.get(`${request.method} ${new URL(request.url).pathname}`)
    return route === undefined ? new Response(null, { status: 404 }) : route(request)
  }
}

const mock = createMock({ gateway: { rateLimit: false } })
const { baseUrl, apiKey } = mock.clientOptions.gateway
let key = 0

const call = async (fetch: Fetch): Promise<void> => {
  key += 1
  const answer = await fetch(`${baseUrl}/api/v1/mfs/charges`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': `key-${key}`,
    },
    body: BODY,
  })
  if (answer.status !== 202) throw new Error(`answered ${answer.status}`)
  await answer.json()
}

const microsecondsACall = async (fetch: Fetch): Promise<number> => {
  const before = process.cpuUsage()
  for (let index = 0; index < CALLS; index += 1) await call(fetch)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / CALLS
}

const bare = createBare()
const times = { bare: Number.POSITIVE_INFINITY, mock: Number.POSITIVE_INFINITY }
for (let round = 0; round < ROUNDS; round += 1) {
  times.bare = Math.min(times.bare, await microsecondsACall(bare))
  times.mock = Math.min(times.mock, await microsecondsACall(mock.fetch))
  mock.reset()
}

const ratio = times.bare / times.mock
console.table([
  { fetch: 'bare map router', 'µs a charge': times.bare.toFixed(1) },
  { fetch: 'mock.fetch', 'µs a charge': times.mock.toFixed(1) },
])
report({
  what: 'charges through mock.fetch / a bare map router',
  target: `≥ ${TARGET}`,
  measured: ratio.toFixed(2),
  ok: ratio >= TARGET,
})
