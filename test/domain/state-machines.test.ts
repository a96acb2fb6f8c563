import { expect, test } from 'vitest'
import { chargeTransitions } from '../../mocks/gateway/state.ts'
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
  const { succeeded, failed, expired, pending_retry, pending_confirmation } = chargeTransitions
  expect([succeeded, failed, expired]).toEqual([{}, {}, {}])
  expect(pending_retry).not.toHaveProperty('expire')
  expect(pending_confirmation).not.toHaveProperty('create')
})
