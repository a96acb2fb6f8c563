import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testNumbers } from '../../mocks/domain/gateway/behaviors.ts'
import type { ChargeState, ChargeTrigger } from '../../mocks/domain/gateway/transitions.ts'
import { chargeAfter, chargeTransitions, isFinalStatus } from '../../mocks/domain/gateway/transitions.ts'
import type { ChargeBody } from '../../mocks/domain/gateway/types.ts'
import { CREDENTIAL, createFixture, HOUR, request } from './gateway-fixture.ts'

type Step =
  | { readonly kind: 'charge'; readonly msisdn: string; readonly key: string }
  | { readonly kind: 'confirm'; readonly at: number; readonly otp: string }
  | { readonly kind: 'renew'; readonly at: number; readonly key: string }
  | { readonly kind: 'advance'; readonly milliseconds: number }

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const at = fc.nat({ max: 12 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('charge' as const),
    msisdn: fc.constantFrom(...Object.values(testNumbers), '+8801000000000'),
    key,
  }),
  fc.record({ kind: fc.constant('confirm' as const), at, otp: fc.constantFrom('123456', '654321') }),
  fc.record({ kind: fc.constant('renew' as const), at, key }),
  fc.record({ kind: fc.constant('advance' as const), milliseconds: fc.nat({ max: 30 * HOUR }) }),
)
const steps = fc.array(step, { maxLength: 60 })

const allowed = (from: ChargeState): readonly string[] => {
  const direct: string[] = Object.values(chargeTransitions[from])
  return [from, ...direct, ...direct.flatMap((next) => Object.values(chargeTransitions[next as ChargeState]))]
}

/** Runs the steps and calls `after` behind each. */
const play = (
  script: readonly Step[],
  after: (fixture: ReturnType<typeof createFixture>, executed: ReadonlySet<string>, changed: boolean) => void,
) => {
  const fixture = createFixture()
  const executed = new Set<string>()
  for (const next of script) {
    const charges = fixture.gateway.charges()
    const chosen = 'at' in next ? charges[next.at] : undefined
    const id = chosen?.id ?? 'ch_none'
    let ok = true
    if (next.kind === 'advance') fixture.advance(next.milliseconds)
    else if (next.kind === 'confirm') {
      ok = fixture.gateway.confirm(chosen?.confirmation_id ?? 'conf_none', { otp: next.otp }).ok
    } else if (next.kind === 'charge') {
      ok = fixture.gateway.charge(CREDENTIAL, next.key, request(next.msisdn)).ok
      if (ok) executed.add(next.key)
    } else {
      ok = fixture.gateway.renew(CREDENTIAL, next.key, id, { mandate_id: id }).ok
      if (ok) executed.add(`${id} ${next.key}`)
    }
    after(fixture, executed, ok)
  }
  return fixture
}

describe('whatever is called in whatever order', () => {
  it('a charge moves along the table only, and never leaves succeeded, failed or expired', () => {
    fc.assert(
      fc.property(steps, (script) => {
        let before: readonly ChargeBody[] = []
        play(script, ({ gateway }) => {
          const now = gateway.charges()
          before.forEach((charge, index) => {
            const status = now[index]?.status
            expect(allowed(charge.status)).toContain(status)
            if (isFinalStatus(charge.status)) expect(now[index]).toEqual(charge)
          })
          before = now
        })
      }),
    )
  })

  it('there are as many charges as distinct keys that executed', () => {
    fc.assert(
      fc.property(steps, (script) => {
        play(script, ({ gateway }, executed) => expect(gateway.charges()).toHaveLength(executed.size))
      }),
    )
  })

  it('a refused call leaves the state equal', () => {
    fc.assert(
      fc.property(steps, (script) => {
        let before = createFixture().gateway.snapshot()
        play(script, ({ gateway }, _, changed) => {
          const now = gateway.snapshot()
          if (!changed) expect(now).toEqual(before)
          before = now
        })
      }),
    )
  })

  it('every charge has one event of birth, and its last event shows its status', () => {
    fc.assert(
      fc.property(steps, (script) => {
        const { gateway } = play(script, () => undefined)
        const events = gateway.events()
        for (const charge of gateway.charges()) {
          const own = events.filter(({ data }) => data.id === charge.id)
          const births = own.filter(({ type }) => type === 'charge.created' || type === 'charge.renewed')
          expect(births).toHaveLength(1)
          expect(own.at(-1)?.data).toEqual(charge)
        }
        const times = events.map((event) => event.created_at)
        expect(times).toEqual(times.toSorted())
      }),
    )
  })

  it('the same calls make the same history, byte for byte', () => {
    fc.assert(
      fc.property(steps, (script) => {
        const history = () => {
          const { gateway } = play(script, () => undefined)
          return JSON.stringify([gateway.charges(), gateway.events()])
        }
        expect(history()).toBe(history())
      }),
    )
  })

  it('a wrong code gets one and the same answer', () => {
    const fixture = createFixture()
    const ids = Object.entries(testNumbers).map(
      ([name, msisdn]) => fixture.charge(msisdn, name).confirmation_id,
    )
    const answer = JSON.stringify(fixture.gateway.confirm('conf_none', { otp: 'x' }))
    fc.assert(
      fc.property(fc.constantFrom(...ids), fc.string({ unit: 'binary', maxLength: 40 }), (id, otp) => {
        fc.pre(otp !== '123456')
        expect(JSON.stringify(fixture.gateway.confirm(id, { otp }))).toBe(answer)
      }),
    )
  })
})

describe('the table of moves', () => {
  const states = Object.keys(chargeTransitions) as ChargeState[]
  const triggers: ChargeTrigger[] = ['create', 'succeed', 'fail', 'retry', 'expire']

  it('leads nowhere from a final status and to a known status from everywhere else', () => {
    for (const state of states) {
      for (const trigger of triggers) {
        const next = chargeAfter(state, trigger)
        if (next !== undefined) expect(states).toContain(next)
        if (['succeeded', 'failed', 'expired'].includes(state)) expect(next).toBeUndefined()
      }
    }
    expect(chargeAfter('pending_retry', 'expire')).toBeUndefined()
    expect(chargeAfter('pending_confirmation', 'create')).toBeUndefined()
  })
})
