import { createIds } from '../mocks/base/ids.ts'
import { createSubscriptions } from '../mocks/subscriptions/operations.ts'
import { subscriptionsDefaults } from '../mocks/subscriptions/options.ts'
import { newSubscriptionsState } from '../mocks/subscriptions/state.ts'
import { createClock, newClockState } from '../mocks/time/clock.ts'
import { report } from './report.ts'

// Daily subscriptions over a year on the mock's clock: time and memory for each payment, at several sizes, beside one
// raw Request with a stub of fetch and JSON both ways in the same run.
//
//   node --expose-gc bench/clock.ts

const DAYS = 365
const SIZES = [1_000, 2_500, 5_000, 10_000]
const START = Date.UTC(2026, 10, 28)

const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined)
const bytesHeld = (): number => {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const year = async (count: number, timeZone: string) => {
  const state = newClockState(START)
  const clock = createClock({ clock: state })
  const counts = new Map<string, number>()
  let notifications = 0
  const area = newSubscriptionsState()
  const domain = createSubscriptions({
    state: { subscriptions: area },
    agenda: clock.agenda,
    ids: createIds('bench', { ids: counts }),
    options: { ...subscriptionsDefaults, timeZone },
    baseUrl: () => 'https://subscriptions.mandatekit.test',
    notify: () => {
      notifications += 1
    },
  })
  const merchant = { clientId: 'mock-client', username: 'mock-user' }
  for (let index = 0; index < count; index += 1) {
    const asked = domain.subscribe(merchant, {
      clientID: 'mock-client',
      requestID: `order-${index}`,
      start: '2026-11-28',
      end: '2028-11-01',
      userReturnURL: 'https://shop.example/return',
      cycle: 'DAILY',
      amount: '25.00',
    })
    if (asked.ok) domain.authorize(asked.value.invoiceID)
  }
  const bytesSubscribed = bytesHeld()
  const startedAt = performance.now()
  await clock.advance({ days: DAYS })
  const milliseconds = performance.now() - startedAt
  const payments = notifications - count
  if (payments !== count * DAYS) throw new Error(`${payments} payments instead of ${count * DAYS}`)
  const bytesPaid = bytesHeld()
  return {
    zone: timeZone,
    subscriptions: count,
    payments,
    'µs a payment': round((milliseconds * 1_000) / payments),
    'bytes a payment': round((bytesPaid - bytesSubscribed) / payments),
    // Keeps the domain alive until its memory has been measured.
    'payments of the last': domain.paymentsOf(domain.subscriptions().at(-1)?.subscriptionId).length,
  }
}

/** Raw Request, a stub of fetch, JSON both ways: the yardstick for a call that does nothing else. */
const rawCall = async (): Promise<number> => {
  const stub = async (request: Request): Promise<Response> => Response.json(await request.json())
  const call = async () => {
    const request = new Request('https://gateway.mandatekit.test/api/v1/mfs/charges', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ msisdn: '+8801700000000', amount: 2500, currency: 'BDT' }),
    })
    return (await stub(request)).json()
  }
  for (let index = 0; index < 2_000; index += 1) await call()
  const rounds = 20_000
  const startedAt = performance.now()
  for (let index = 0; index < rounds; index += 1) await call()
  return ((performance.now() - startedAt) * 1_000) / rounds
}

const round = (value: number): number => Math.round(value * 100) / 100

const raw = await rawCall()
await year(500, 'UTC')
const rows = []
for (const size of SIZES) rows.push(await year(size, 'UTC'))
rows.push(await year(10_000, 'Europe/Berlin'))
console.table(rows)
const largest = rows[SIZES.length - 1]
const limit = (5 / 17) * raw
console.log(
  `raw Request + stub + JSON: ${round(raw)} µs; target ≤ ${round(limit)} µs a payment at this speed`,
)
const perPayment = largest?.['µs a payment'] ?? Number.NaN
report({
  what: 'a payment on the clock, of 10 000 daily subscriptions over 365 days',
  target: `≤ ${round(limit)} µs at this speed`,
  measured: `${perPayment} µs`,
  ok: perPayment <= limit,
})
const growth = perPayment / (rows[0]?.['µs a payment'] ?? Number.NaN)
report({
  what: 'time of a payment with ten times the subscriptions',
  target: '≤ 2 (linear, with room for caches)',
  measured: growth.toFixed(2),
  ok: growth <= 2,
})
const bytes = rows.slice(0, SIZES.length).map((row) => row['bytes a payment'])
report({
  what: 'memory of a payment, most at any size',
  target: '≤ 64 bytes (linear)',
  measured: `${Math.max(...bytes)} bytes`,
  ok: Math.max(...bytes) <= 64,
})
