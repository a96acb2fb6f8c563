import { createGatewayDomain } from '../mocks/domain/gateway/domain.ts'
import { createIds } from '../mocks/domain/ids.ts'
import { createTimeline } from '../mocks/domain/timeline.ts'

/*
 * How area G's domain grows: time of an operation and memory of a charge at 1 000 and at 1 000 000 charges, and the
 * time of a reset. Run with `node --expose-gc --max-old-space-size=4096 bench/growth.ts [charges]`.
 */

const LARGE = Number(process.argv[2] ?? 1_000_000)
const SMALL = 1_000
const BATCH = 2_000
const ROUNDS = 15

const create = () => {
  let now = Date.UTC(2026, 10, 28)
  const timeline = createTimeline(() => now)
  const gateway = createGatewayDomain({
    timeline,
    ids: createIds('growth'),
    baseUrl: () => 'https://gateway.mandatekit.test',
  })
  const known: { readonly id: string; readonly confirmationId: string }[] = []
  const body = (index: number): Record<string, unknown> =>
    JSON.parse(
      `{"msisdn":"+8801${index}","amount":2500,"currency":"BDT","redirect_uri":"https://shop.example/return/${index}"}`,
    )
  return {
    gateway,
    known,
    /** One charge with its key, answer and events: created, confirmed, succeeded. */
    add(index: number): void {
      now += 1
      const made = gateway.charge('key-1', `key-${index}-8f14e45f-ceea-467f`, body(index))
      if (!made.ok) throw new Error(made.refusal.message)
      const { id, confirmation_id: confirmationId } = made.value.body
      gateway.confirm(confirmationId, { otp: '123456' })
      known.push({ id, confirmationId })
    },
    lookUp(index: number): void {
      const chosen = known[(index * 7919) % known.length]
      if (chosen === undefined || !gateway.status(chosen.id).ok) throw new Error('a charge is gone')
    },
    replay(index: number): void {
      const at = (index * 7919) % known.length
      const again = gateway.charge('key-1', `key-${at}-8f14e45f-ceea-467f`, body(at))
      if (!again.ok || !again.value.replayed) throw new Error('a key is gone')
    },
    renew(index: number): void {
      const chosen = known[(index * 7919) % known.length]
      if (chosen === undefined) throw new Error('a charge is gone')
      gateway.renew('key-1', `cycle-${index}`, chosen.id, { mandate_id: chosen.id })
    },
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const timed = (run: () => void): number => {
  const start = process.hrtime.bigint()
  run()
  return Number(process.hrtime.bigint() - start)
}

type Mock = ReturnType<typeof create>
const operations = ['lookUp', 'replay', 'add', 'renew'] as const
let serial = 0

/** Nanoseconds an operation takes, the median over rounds. */
const measure = (mock: Mock): Record<string, number> =>
  Object.fromEntries(
    operations.map((name) => {
      const rounds = Array.from({ length: ROUNDS }, () =>
        timed(() => {
          for (let index = 0; index < BATCH; index++) {
            if (name === 'add') mock.add(mock.known.length)
            else mock[name](serial++)
          }
        }),
      )
      return [name, median(rounds) / BATCH]
    }),
  )

const fill = (mock: Mock, size: number): Mock => {
  for (let index = mock.known.length; index < size; index++) mock.add(index)
  return mock
}

const collected = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const warm = fill(create(), SMALL)
for (let round = 0; round < 5; round++) measure(warm)

const small = measure(fill(create(), SMALL))
const before = collected()
const mock = fill(create(), LARGE)
const bytes = (collected() - before) / LARGE
const large = measure(mock)
const reset = timed(() => mock.gateway.reset())

console.log(`operation      at ${SMALL}    at ${LARGE}   ratio`)
for (const name of operations) {
  const [few = 0, many = 0] = [small[name], large[name]]
  console.log(
    `${name.padEnd(10)} ${few.toFixed(0).padStart(8)} ns ${many.toFixed(0).padStart(8)} ns   ${(many / few).toFixed(2)}`,
  )
}
console.log(
  globalThis.gc === undefined
    ? 'memory of a charge: not measured, run with --expose-gc'
    : `memory of a charge with key, answer and events: ${bytes.toFixed(0)} bytes`,
)
console.log(`reset of ${LARGE} charges: ${(reset / 1e6).toFixed(2)} ms`)
