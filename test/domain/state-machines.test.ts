import { expect, test } from 'vitest'
import type { ChargeState, ChargeTrigger } from '../../mocks/domain/gateway/transitions.ts'
import { chargeAfter, chargeTransitions, isFinalStatus } from '../../mocks/domain/gateway/transitions.ts'
import {
  cancellationTransitions,
  requestTransitions,
  subscriptionTransitions,
} from '../../mocks/subscriptions/state.ts'

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
  const triggers: ChargeTrigger[] = ['create', 'succeed', 'fail', 'retry', 'expire']
  for (const state of Object.keys(chargeTransitions) as ChargeState[]) {
    const isFinal = ['succeeded', 'failed', 'expired'].includes(state)
    expect(state !== 'none' && isFinalStatus(state)).toBe(isFinal)
    if (isFinal)
      expect(triggers.map((trigger) => chargeAfter(state, trigger))).toEqual(Array(5).fill(undefined))
  }
  expect(chargeAfter('pending_retry', 'expire')).toBeUndefined()
  expect(chargeAfter('pending_confirmation', 'create')).toBeUndefined()
})
