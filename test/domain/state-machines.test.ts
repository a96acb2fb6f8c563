import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { internalsOf } from '../../mocks/assemble.ts'
import { behaviorNames } from '../../mocks/gateway/behaviors.ts'
import { chargeTransitions } from '../../mocks/gateway/state.ts'
import {
  cancellationTransitions,
  requestTransitions,
  subscriptionTransitions,
} from '../../mocks/subscriptions/state.ts'
import { MOCK_CHARGE, ORDER, openMock } from '../support/mock-clients.ts'

test.each([
  ['charges', chargeTransitions],
  ['requests', requestTransitions],
  ['subscriptions', subscriptionTransitions],
  ['cancellations', cancellationTransitions],
])('the table of %s leads to its own states, and every state can be reached', (_, table) => {
  const reached = new Set(['none', ...Object.values(table).flatMap((events) => Object.values(events))])
  expect([...reached].sort()).toEqual([...new Set(['none', ...Object.keys(table)])].sort())
})

test('a charge never leaves a final status, and expires only while it is unconfirmed', () => {
  const { succeeded, failed, expired, pending_retry, pending_confirmation } = chargeTransitions
  expect([succeeded, failed, expired]).toEqual([{}, {}, {}])
  expect(pending_retry).not.toHaveProperty('expire')
  expect(pending_confirmation).not.toHaveProperty('create')
})

/** Returns the states to which a table leads from a state, in any number of steps. */
const reachable = (table: Readonly<Record<string, object>>, from: string): ReadonlySet<string> => {
  const found = new Set([from])
  for (const state of found) for (const next of Object.values(table[state] ?? {})) found.add(next)
  return found
}

const steps = fc.oneof(
  fc.constantFrom('subscribe', 'charge', 'renew', 'authorize', 'decline', 'cancel', 'confirm', 'wrong code'),
  fc.constantFrom({ hours: 1 }, { hours: 25 }, { days: 20 }),
)

test('whatever happens, each object changes along its table', async () => {
  const runs = fc.array(fc.tuple(steps, fc.nat()), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(runs, fc.constantFrom(...behaviorNames), async (script, behavior) => {
      const { mock, subscriptions, gateway } = openMock({ subscriptions: { cancelDelay: { hours: 3 } } })
      mock.payer.setBehavior(MOCK_CHARGE.msisdn, behavior)
      const statesNow = () => [
        ...mock.state.charges().map(({ id, status }) => [chargeTransitions, id, status] as const),
        ...invoices.flatMap((id) => {
          const one = internalsOf(mock).subscriptions.domain.listed(id)
          if (one === undefined) return []
          const { requestStatus, phase, cancellation = 'none' } = one
          return [
            [requestTransitions, id, requestStatus],
            [subscriptionTransitions, `phase ${id}`, phase],
            [cancellationTransitions, `cancellation ${id}`, cancellation],
          ] as const
        }),
      ]
      const invoices: string[] = []
      const before = new Map<string, string>()
      for (const [step, index] of script) {
        const invoice = invoices[index % invoices.length] ?? ''
        const { id = '', confirmation_id = '' } = mock.state.charges().at(index % 3) ?? {}
        const acts: Readonly<Record<string, () => unknown>> = {
          subscribe: async () =>
            invoices.push((await subscriptions.subscribe({ ...ORDER, requestID: `o-${index}` })).invoiceID),
          charge: () => gateway.charge(MOCK_CHARGE),
          renew: () => gateway.renew(id, { idempotencyKey: `k-${index}` }),
          authorize: () => mock.payer.authorize(invoice),
          decline: () => mock.payer.decline(invoice),
          cancel: () => mock.payer.cancel(invoice),
          confirm: () => mock.payer.confirm(confirmation_id),
          'wrong code': () => gateway.confirm(confirmation_id, { otp: '0' }),
        }
        // A refused step changes nothing.
        if (typeof step !== 'string') await mock.clock.advance(step)
        else
          await Promise.resolve()
            .then(acts[step])
            .catch(() => undefined)
        for (const [table, name, state] of statesNow()) {
          expect([name, before.get(name), [...reachable(table, before.get(name) ?? 'none')]]).toEqual([
            name,
            before.get(name),
            expect.arrayContaining([state]),
          ])
          before.set(name, state)
        }
      }
    }),
    { numRuns: 60 },
  )
})
