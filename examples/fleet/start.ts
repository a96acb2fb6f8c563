/** Runs a shop on BullMQ with two workers, of which one crashes. Needs redis-server. Run: npm run example fleet */
import { monthlyDueDate } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'
import { startFleet } from './fleet.ts'

const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

// In this run, a minute of the rate limits and of the pauses lasts 200 ms.
const minute = 200
const mock = createMock({
  gateway: { rateLimit: { limit: 120, windowMs: minute }, retryDelay: { seconds: 2 } },
  // The tokens must stay valid when the run moves the clock by days.
  subscriptions: { rateLimit: { limit: 600, windowMs: minute }, tokenTtl: { days: 30 } },
})
const fleet = await startFleet({ mock, workers: 2, settings: { minute, lockDuration: 3_000 } })
console.log('The queues:', `${fleet.url}/queues`)

const numbers = ['+99900000001', '+99900000004', '+99900000008'] // succeeds, retry_then_succeeds, succeeds_once
for (let number = 1; number <= 10; number += 1) {
  const order = { amount: 5, start: day(1), end: day(300) }
  const msisdn = numbers[number % 3] ?? ''
  await fleet.order({ ...order, id: `subscription_${number}`, kind: 'subscription', msisdn: null })
  await fleet.order({ ...order, id: `mandate_${number}`, kind: 'mandate', msisdn })
}

/** Waits until no job is left and every payer has acted, and prints the progress. */
const finish = async (what: string): Promise<void> => {
  const isDone = (line: string): boolean => line.endsWith(' 0, jobs: 0') && fleet.payersLeft() === 0
  for (let shown = '', line = ' '; !isDone(line); shown = line) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    line = `${what}: requests without a result: ${fleet.books.open()}, jobs: ${await fleet.waiting()}`
    if (line !== shown) console.log(line)
  }
}

await finish('1. Orders')
await fleet.crashWorker(0)
console.log('2. A worker was killed, and another worker was started')
await mock.clock.advance({ days: 3 })
await finish('3. Three days of payments')
// Plans the renewals of two months at once, as after a long outage of the planner.
await fleet.queues.nightly.add('plan', { today: monthlyDueDate(day(1), 2) })
await finish('4. Two months of renewals')
const [first] = fleet.books.all<{ id: string }>('SELECT id FROM subscriptions')
if (first !== undefined) await fleet.cancel(first.id)
await finish('5. A cancellation')

const count = (sql: string) => fleet.books.all(sql).length
console.log('6. Payments made:', mock.state.payments().length, 'recorded:', count('SELECT * FROM payments'))
console.log('7. Charges made:', mock.state.charges().length, 'recorded:', count('SELECT id FROM charges'))
console.log('8. Logins:', mock.requests.of('subscriptions.login').length)

// In a terminal, the program serves the page /queues for another minute.
if (process.stdout.isTTY) await new Promise((resolve) => setTimeout(resolve, 60_000))
await fleet.close()
