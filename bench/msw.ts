import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { HttpResponse as HttpResponse2, http as http2 } from 'msw2'
import { setupServer as setupServer2 } from 'msw2/node'
import { internalsOf } from '../mocks/assemble.ts'
import { createMock } from '../mocks/core.ts'
import { createMswHandlers } from '../mocks/msw.ts'
import { report, spentBy } from './report.ts'

/*
 * A charge through MSW with the mock's handlers, beside one static handler that answers a constant, for both major
 * versions. Each way is a process of its own; they take turns, and the best round of each counts.
 *
 *   node bench/msw.ts
 */

const ROUNDS = 40
const CALLS = 40
const URL_OF_CHARGES = 'https://gateway.mandatekit.test/api/v1/mfs/charges'
const BODY = JSON.stringify({
  msisdn: '+99900000001',
  amount: 2500,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
})
const ANSWER = { id: 'ch_0123456789abcdefghjk', status: 'pending_confirmation', outcome: 'PENDING' }

const { handler, ownBases } = internalsOf(createMock({ gateway: { rateLimit: false } }))

const WAYS: Record<string, () => void> = {
  'MSW 2, static': () =>
    setupServer2(http2.post(URL_OF_CHARGES, () => HttpResponse2.json(ANSWER, { status: 202 }))).listen(),
  'MSW 2, mock': () => setupServer2(...createMswHandlers(http2, handler, ownBases)).listen(),
  'MSW 3, static': () =>
    setupServer(http.post(URL_OF_CHARGES, () => HttpResponse.json(ANSWER, { status: 202 }))).listen(),
  'MSW 3, mock': () => setupServer(...createMswHandlers(http, handler, ownBases)).listen(),
}
const TARGETS = { 'MSW 2': 0.88, 'MSW 3': 0.95 }

let key = 0
const charge = async (): Promise<void> => {
  key += 1
  const answer = await fetch(URL_OF_CHARGES, {
    method: 'POST',
    headers: {
      authorization: 'Bearer mock-api-key',
      'content-type': 'application/json',
      'idempotency-key': `key-${key}`,
    },
    body: BODY,
  })
  if (answer.status !== 202) throw new Error(`answered ${answer.status}`)
  await answer.json()
}

const serveRounds = (way: string): void => {
  WAYS[way]?.()
  process.on('message', async () => {
    const { cpu } = await spentBy(async () => {
      for (let call = 0; call < CALLS; call += 1) await charge()
    })
    process.send?.(cpu / CALLS)
  })
}

const compareAll = async (): Promise<void> => {
  const children = Object.keys(WAYS).map((way) => ({
    way,
    child: fork(fileURLToPath(import.meta.url), [way]),
    best: Number.POSITIVE_INFINITY,
  }))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const each of children) {
      const answer = new Promise<number>((resolve) =>
        each.child.once('message', (cpu) => resolve(Number(cpu))),
      )
      each.child.send('round')
      each.best = Math.min(each.best, await answer)
    }
  }
  for (const { child } of children) child.kill()
  console.table(children.map(({ way, best }) => ({ way, 'µs of processor a charge': best.toFixed(0) })))
  const bestOf = (way: string): number => children.find((each) => each.way === way)?.best ?? Number.NaN
  for (const [version, target] of Object.entries(TARGETS)) {
    const ratio = bestOf(`${version}, static`) / bestOf(`${version}, mock`)
    report({
      what: `charges through ${version} / one static handler`,
      target: `≥ ${target}`,
      measured: ratio.toFixed(2),
      ok: ratio >= target,
    })
  }
}

const [way] = process.argv.slice(2)
if (way === undefined) await compareAll()
else serveRounds(way)
