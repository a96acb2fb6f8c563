import { createIds } from '../mocks/base/ids.ts'
import { createMock } from '../mocks/core.ts'
import { createGateway } from '../mocks/gateway/operations.ts'
import { gatewayDefaults } from '../mocks/gateway/options.ts'
import { newGatewayState } from '../mocks/gateway/state.ts'
import { report } from './report.ts'

/*
 * How area G grows: processor time of a call through `mock.fetch` with 1 000 and with 1 000 000 charges, memory of a
 * charge with its key, answer and events, and the time of a reset.
 * Run with `node --expose-gc --max-old-space-size=4096 bench/growth.ts [charges]`.
 */

const LARGE = Number(process.argv[2] ?? 1_000_000)
const SMALL = 1_000
const CALLS = 500
const ROUNDS = 41
// A prime: the charges are visited in no order that a cache could foresee.
const STRIDE = 7_919

const idOf = (index: number): string => `ch_${index}given`

const createCaller = (charges: number) => {
  const mock = createMock({
    clock: '2026-11-28T12:00:00Z',
    gateway: {
      rateLimit: false,
      charges: Array.from({ length: charges }, (_, index) => ({
        id: idOf(index),
        msisdn: `+8801${index}`,
        amount: 2500,
        currency: 'BDT',
      })),
    },
  })
  const { baseUrl, apiKey } = mock.clientOptions.gateway
  const root = `${baseUrl}/api/v1/mfs/charges`
  let count = 0
  const call = async (path: string, body?: Record<string, unknown>): Promise<void> => {
    count += 1
    const headers = { authorization: `Bearer ${apiKey}` }
    const answer = await mock.fetch(
      root + path,
      body === undefined
        ? { headers }
        : {
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': `key-${count}` },
            body: JSON.stringify(body),
          },
    )
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
    await answer.json()
  }
  const next = (): string => idOf((count * STRIDE) % charges)
  return {
    status: () => call(`/${next()}`),
    charge: () =>
      call('', {
        msisdn: '+8801',
        amount: 2500,
        currency: 'BDT',
        redirect_uri: 'https://shop.example/return',
      }),
    renew: () => {
      const id = next()
      return call(`/${id}/renew`, { mandate_id: id })
    },
  }
}

type Caller = ReturnType<typeof createCaller>

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** Microseconds of processor time that a call takes. */
const cost = async (run: () => Promise<void>): Promise<number> => {
  const start = process.cpuUsage()
  for (let index = 0; index < CALLS; index += 1) await run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / CALLS
}

const compareCalls = async (small: Caller, large: Caller): Promise<void> => {
  for (const name of ['status', 'charge', 'renew'] as const) {
    const [few, many]: [number[], number[]] = [[], []]
    // By turns: what else the machine does then weighs on both alike.
    for (let round = 0; round < ROUNDS; round += 1) {
      few.push(await cost(small[name]))
      many.push(await cost(large[name]))
    }
    const [from, to] = [median(few), median(many)]
    console.log(
      `${name.padEnd(7)} ${from.toFixed(1)} µs at ${SMALL}, ${to.toFixed(1)} µs at ${LARGE}: × ${(to / from).toFixed(2)}`,
    )
    report({
      what: `growth of ${name}, at ${LARGE} charges / at ${SMALL}`,
      target: '≤ 1.5',
      measured: (to / from).toFixed(2),
      ok: to / from <= 1.5,
    })
  }
}

const collected = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

/** Charges that were made and confirmed through the domain, each with a key and three events. */
const measureMemory = (): void => {
  let now = Date.UTC(2026, 10, 28)
  const before = collected()
  const counts = new Map<string, number>()
  const state = newGatewayState()
  const gateway = createGateway({
    state: { gateway: state },
    agenda: { now: () => now },
    ids: createIds('growth', { ids: counts }),
    options: gatewayDefaults,
    baseUrl: () => 'https://gateway.mandatekit.test',
  })
  for (let index = 0; index < LARGE; index += 1) {
    now += 1
    // Parsed, as it is when it arrives: every charge has texts of its own.
    const fields = JSON.parse(
      `{"msisdn":"+8801${index}","amount":2500,"currency":"BDT","redirect_uri":"https://shop.example/return/${index}"}`,
    )
    const key = `key-${index}-8f14e45f-ceea-467f`
    const made = gateway.charge({
      caller: { credential: 'key-1' },
      idempotencyKey: key,
      parameters: {},
      fields,
    })
    if (!made.ok) throw new Error(made.refusal.message)
    gateway.confirm(made.value.confirmation_id, { otp: '123456' })
  }
  const bytes = (collected() - before) / LARGE
  const start = process.hrtime.bigint()
  gateway.reset('key-1')
  const reset = Number(process.hrtime.bigint() - start) / 1e6
  console.log(
    globalThis.gc === undefined
      ? 'memory of a charge: not measured, run with --expose-gc'
      : `memory of a charge with key, answer and events: ${bytes.toFixed(0)} bytes`,
  )
  console.log(`reset of ${LARGE} charges: ${reset.toFixed(2)} ms`)
  if (globalThis.gc === undefined) return
  report({
    what: `memory of a charge with key, event and answer, at ${LARGE}`,
    target: '≤ 2 kB',
    measured: `${(bytes / 1000).toFixed(2)} kB`,
    ok: bytes <= 2_000,
  })
}

measureMemory()
await compareCalls(createCaller(SMALL), createCaller(LARGE))
