import { expect, test } from 'vitest'
import { createMock, MockRefusedError } from '../../mocks/core.ts'

const REQUEST = { start: '2026-12-01', end: '2027-12-01', cycle: 'DAILY', amount: '5' } as const

const open = (authorizedAt?: false) => {
  const mock = createMock({ clock: '2026-12-01T06:00:00Z' })
  const seed = { request: REQUEST, invoiceId: 'invoice', subscriptionId: 'subscription' }
  mock.add({ subscriptions: [authorizedAt === undefined ? seed : { ...seed, authorizedAt }] })
  const statuses = async (days: number) => {
    await mock.clock.advance({ days })
    return mock.state.payments('subscription').map(({ status }) => status)
  }
  return { mock, statuses }
}

test('payments of a subscription that was authorized on the page go as they were scripted before', async () => {
  const { mock, statuses } = open(false)
  mock.payer.setPayments('invoice', ['fail'])
  const page = await mock.fetch(`${mock.clientOptions.subscriptions.baseUrl}/authorize/invoice`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'decision=authorize',
  })
  expect(page.status).toBe(303)
  expect(await statuses(2)).toEqual(['FAILED_PAYMENT', 'SUCCEEDED_PAYMENT'])
})

test('payments to come are scripted in the middle of a subscription', async () => {
  const { mock, statuses } = open()
  await statuses(1)
  mock.payer.setPayments('subscription', ['succeed', 'fail'])
  mock.payer.setPayments('subscription', ['fail'])
  expect(await statuses(2)).toEqual(['SUCCEEDED_PAYMENT', 'FAILED_PAYMENT', 'SUCCEEDED_PAYMENT'])
})

test('an authorization with payments of its own wins over what was scripted before', async () => {
  const { mock, statuses } = open(false)
  mock.payer.setPayments('invoice', ['fail'])
  mock.payer.authorize('invoice', { payments: ['succeed', 'fail'] })
  expect(await statuses(2)).toEqual(['SUCCEEDED_PAYMENT', 'FAILED_PAYMENT'])
})

test('a script that nothing could follow is refused', async () => {
  const { mock } = open(false)
  expect(() => mock.payer.setPayments('nobody', ['fail'])).toThrow(MockRefusedError)
  expect(() => mock.payer.setPayments('invoice', 'fail' as never)).toThrow(
    /payer\.setPayments: payments must be a list/,
  )
  expect(() => mock.payer.setPayments({ invoiceID: 'invoice' } as never, ['fail'])).toThrow(
    /invoiceID or subscriptionId of a subscription, not an object/,
  )
  mock.payer.decline('invoice')
  expect(() => mock.payer.setPayments('invoice', ['fail'])).toThrow(/no payments to come/)
})
