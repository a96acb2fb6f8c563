import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { createClock } from '../../mocks/domain/clock.ts'
import { createGatewayDomain } from '../../mocks/domain/gateway/domain.ts'
import { createIds, fingerprint } from '../../mocks/domain/ids.ts'
import type { Fields } from '../../mocks/domain/result.ts'
import { behaviorNames } from '../../mocks/gateway/behaviors.ts'
import { createGateway } from '../../mocks/gateway/operations.ts'
import type { GatewayOptions } from '../../mocks/gateway/options.ts'
import { idempotencyScope, newGatewayState } from '../../mocks/gateway/state.ts'
import {
  below,
  chance,
  HOUR,
  KEYS,
  NUMBERS,
  pick,
  randomFields,
  randomOptions,
  START,
  seed,
  wanted,
} from './inputs.ts'

/*
 * Plays the same random steps against the old and the new gateway, and compares each result with its explanation, each
 * event with its id and time, and each list. Run with `node test/differential/gateway.ts [seed] [steps]`.
 */

interface Use {
  readonly route: 'charge' | 'renew'
  readonly credential: string
  readonly pathId: string
  readonly key: string
}

let base = 'https://gateway.test'
const parts = (options: GatewayOptions) => ({
  clock: createClock({ clock: START }),
  ids: createIds('differential'),
  options,
  baseUrl: () => base,
})

const createOld = (options: GatewayOptions) => {
  const { clock, ids, ...rest } = parts(options)
  const domain = createGatewayDomain({ timeline: clock.timeline, ids, ...rest } as never)
  return {
    clock,
    domain,
    keyed(use: Use, fields: Fields): unknown {
      return (
        domain.original(use, fields) ??
        (use.route === 'charge' ? domain.charge(use, fields) : domain.renew(use, fields))
      )
    },
    async set(time: number) {
      // What is due at this very instant happens before the clock goes back; the old clock forgot it.
      if (time < clock.now()) clock.timeline.settle()
      await clock.set(time)
    },
    snapshot: () =>
      structuredClone({ domain: domain.snapshot(), clock: clock.snapshot(), ids: ids.snapshot() }),
    restore(taken: { domain: unknown; clock: unknown; ids: unknown }) {
      const copy = structuredClone(taken)
      domain.restore(copy.domain)
      ids.restore(copy.ids as never)
      clock.restore(copy.clock as never)
    },
    reset() {
      clock.reset()
      ids.reset()
      domain.restart()
    },
  }
}

const createNew = (options: GatewayOptions) => {
  const { clock, ids, ...rest } = parts(options)
  let state = newGatewayState()
  const domain = createGateway({ state: () => state, timeline: clock.timeline, ids, ...rest })
  domain.seed()
  const keyed = (result: unknown, replayed: boolean): unknown => {
    const { ok, value } = result as { ok: boolean; value: unknown }
    return ok ? { ok, value: { body: value, replayed } } : result
  }
  return {
    clock,
    domain,
    keyed({ route, credential, pathId, key }: Use, fields: Fields): unknown {
      const scope = idempotencyScope(credential, key, route === 'renew' ? pathId : undefined)
      const replay = domain.findReplay(scope, fields)
      if (replay !== undefined) return keyed(replay, true)
      return keyed(
        route === 'charge' ? domain.charge(scope, fields) : domain.renew(scope, pathId, fields),
        false,
      )
    },
    async set(time: number) {
      if (time < clock.now()) domain.freeze()
      await clock.set(time)
    },
    snapshot: () => structuredClone({ domain: state, clock: clock.snapshot(), ids: ids.snapshot() }),
    restore(taken: { domain: unknown; clock: unknown; ids: unknown }) {
      const copy = structuredClone(taken)
      state = copy.domain as typeof state
      ids.restore(copy.ids as never)
      clock.restore({ ...(copy.clock as object), entries: [] } as never)
    },
    reset() {
      clock.reset()
      ids.reset()
      state = newGatewayState()
      domain.seed()
    },
  }
}

const counts = new Map<string, number>()
const count = (name: string, by = 1): void => void counts.set(name, (counts.get(name) ?? 0) + by)

type Event = ReturnType<ReturnType<typeof createNew>['domain']['events']>[number]

/** Sorts events of one instant, because the old gateway's order of an expiry and a retry at one instant is accidental. */
const leveled = (events: readonly Event[], hasDeleted: boolean): unknown => [
  // The id of a deleted charge's event is missing, and the order within the instant decides which one.
  events.map(({ id, created_at }) => (hasDeleted ? created_at : [id, created_at])),
  events.map(({ type, created_at, data }) => JSON.stringify([created_at, type, data])).sort(),
]

const OWN = new Set(['charge.expired', 'charge.succeeded', 'charge.failed'])
const compareEvents = (
  old: readonly Event[],
  fresh: readonly Event[],
  isOwn: boolean,
  trace: string,
): void => {
  count('events compared', old.length)
  if (isDeepStrictEqual(old, fresh)) return
  assert.deepEqual(leveled(fresh, isOwn), leveled(old, isOwn), trace)
  const moved = old.filter((event, index) => !isDeepStrictEqual(event, fresh[index]))
  assert.ok(
    moved.every(({ type }) => OWN.has(type)),
    `${trace}: order of events\n${JSON.stringify([old, fresh], null, 1)}`,
  )
  count(`lists with an expiry and a retry at one instant${isOwn ? ', own reset' : ''}`)
}

let steps = 0
const play = async (game: number): Promise<void> => {
  const options = randomOptions()
  const made = [createOld, createNew].map((create) => {
    try {
      return create(options)
    } catch (error) {
      return String(error)
    }
  })
  if (typeof made[0] === 'string') {
    assert.equal(made[1], made[0])
    count('refused seeds')
    return
  }
  const [old, fresh] = made as unknown as [ReturnType<typeof createOld>, ReturnType<typeof createNew>]
  const saved: { old: ReturnType<typeof old.snapshot>; fresh: ReturnType<typeof fresh.snapshot> }[] = []
  const trace: string[] = []
  const same = (name: string, act: (one: typeof old | typeof fresh) => unknown): unknown => {
    const [left, right] = [act(old), act(fresh)]
    count(name)
    const refusal = (left as { refusal?: { reason: string } } | undefined)?.refusal
    count(refusal === undefined ? 'accepted or read' : `refused: ${refusal.reason}`)
    assert.deepEqual(right, left, `seed ${seed}, game ${game}: ${name} after\n${trace.slice(-12).join('\n')}`)
    return left
  }
  const both = async (act: (one: typeof old | typeof fresh) => unknown): Promise<void> => {
    await act(old)
    await act(fresh)
  }
  const known: string[] = ['ch_none', 'conf_none', '']
  const idOf = (): string => (chance(0.9) ? pick(known.slice(-24)) : pick(known))
  const keyOf = (): string => (chance(0.03) ? pick(['', ' ']) : `k${below(chance(0.5) ? 6 : 400)}`)
  const length = 40 + below(260)
  const goesBack = chance(0.4)
  for (let index = 0; index < length; index += 1) {
    steps += 1
    const kind = below(100)
    trace.push(`${kind} at ${new Date(old.clock.now()).toISOString()}`)
    const credential = fingerprint(pick(KEYS))
    if (kind < 22) {
      const [use, fields] = [
        { route: 'charge', credential, pathId: '', key: keyOf() } as const,
        randomFields(),
      ]
      const result = same('charge', (one) => one.keyed(use, fields)) as {
        value?: { body: { id: string; confirmation_id: string } }
      }
      if (result.value)
        known.push(result.value.body.id, result.value.body.confirmation_id, result.value.body.confirmation_id)
    } else if (kind < 46) {
      const id = idOf()
      const otp = chance(0.75) ? options.otp : pick(['000000', 5, undefined])
      const fields = chance(0.05) ? { otp, more: 1 } : { otp }
      same('confirm', (one) => one.domain.confirm(id, fields, perhapsOf(credential, index)))
    } else if (kind < 56) {
      const id = idOf()
      const use = { route: 'renew', credential, pathId: id, key: keyOf() } as const
      const fields = {
        mandate_id: chance(0.9) ? id : pick(['other', 5, undefined]),
        ...(chance(0.05) ? { more: 1 } : {}),
      }
      const result = same('renew', (one) => one.keyed(use, fields)) as {
        value?: { body: { id: string; confirmation_id: string } }
      }
      if (result.value) known.push(result.value.body.id, result.value.body.confirmation_id)
    } else if (kind < 64) {
      const id = idOf()
      same('status', (one) => one.domain.status(id, perhapsOf(credential, index)))
      same('confirmation', (one) => one.domain.confirmation(id))
      same('related', (one) => [one.domain.related({ id }), one.domain.related({ confirmationId: id })])
    } else if (kind < 78) {
      const by = pick([
        0,
        1,
        HOUR / 2,
        HOUR / 2,
        HOUR,
        HOUR,
        2 * HOUR,
        24 * HOUR,
        below(30) * HOUR,
        below(HOUR),
      ])
      await both((one) => one.clock.advance(by))
    } else if (kind < 82) {
      const time = old.clock.now() + (below(40) - (goesBack ? 30 : 0)) * (HOUR / 2)
      if (time < old.clock.now()) count('clock set back')
      await both((one) => one.set(time))
    } else if (kind < 85) {
      const [number, name] = [pick(NUMBERS), chance(0.9) ? pick(behaviorNames) : 'nothing']
      same('setBehavior', (one) => one.domain.setBehavior(number, name))
    } else if (kind < 88) {
      same('charges', (one) => one.domain.charges())
      same('chargeList', (one) => [one.domain.chargeList.bounds(), one.domain.chargeList.read(1, 9)])
    } else if (kind < 93) {
      compareEvents(
        old.domain.events(),
        fresh.domain.events(),
        options.apiKeyScope === 'own',
        `seed ${seed}, game ${game}, ${trace.slice(-12).join('\n')}`,
      )
      count('events')
    } else if (kind < 94) {
      same('reference', (one) => one.domain.reference())
      const key = pick([...KEYS, 'other', undefined])
      same('authenticate', (one) => one.domain.authenticate(key))
    } else if (kind < 96) {
      if (chance(0.4)) same('reset', (one) => one.domain.reset(credential))
    } else if (kind < 98) {
      if (chance(0.5) || saved.length === 0) saved.push({ old: old.snapshot(), fresh: fresh.snapshot() })
      else {
        const taken = pick(saved)
        old.restore(taken.old)
        fresh.restore(taken.fresh)
        count('restored')
      }
    } else if (kind < 99) {
      if (chance(0.2)) {
        await both((one) => one.reset())
        count('mock reset')
      }
    } else base = pick(['https://gateway.test', 'http://localhost:4000/', 'https://gateway.test/v//'])
  }
  same('charges', (one) => one.domain.charges())
  compareEvents(
    old.domain.events(),
    fresh.domain.events(),
    options.apiKeyScope === 'own',
    `seed ${seed}, game ${game}, at its end`,
  )
}

const perhapsOf = (credential: string, index: number): string | undefined =>
  index % 4 === 0 ? undefined : credential

let game = 0
while (steps < Number(wanted)) {
  await play(game)
  game += 1
}
process.stdout.write(`seed ${seed}: ${steps} steps in ${game} games, no difference\n`)
for (const [name, times] of [...counts].sort()) process.stdout.write(`  ${name}: ${times}\n`)
