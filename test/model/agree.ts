import { expect } from 'vitest'
import type { Mock } from '../../mocks/core.ts'
import { eventsOf, standing } from './gateway-model.ts'
import type { Model } from './model.ts'
import {
  isActive,
  messagesOf,
  paymentsOf,
  paymentView,
  statusOf,
  wasCancelled,
} from './subscriptions-model.ts'

type Rows = readonly (readonly unknown[])[]

const expectSameRows = (actual: Rows, expected: Rows): void => {
  const sorted = (rows: Rows) => rows.map((row) => JSON.stringify(row)).sort()
  expect(sorted(actual)).toEqual(sorted(expected))
}

const expectInOrder = (times: readonly string[] | readonly number[]): void =>
  expect([...times]).toEqual([...times].sort((left, right) => (left < right ? -1 : left > right ? 1 : 0)))

const expectDistinct = (ids: readonly unknown[]): void => expect(new Set(ids).size).toBe(ids.length)

/** Compares subscriptions, payments and notifications with the model. */
export const subscriptionsAgree = (model: Model, mock: Mock): void => {
  const { now, subscriptions } = model
  expect(
    mock.state.subscriptions().map((one) => [
      [one.invoiceId, one.subscriptionId, one.clientId, one.request.requestID],
      [one.createdAt, one.authorizedAt, one.cancelledAt],
      [one.requestStatus, one.active],
    ]),
  ).toEqual(
    subscriptions.map((one) => [
      [one.invoiceId, one.subscriptionId, one.owner, one.requestID],
      [one.createdAt, one.authorizedAt, wasCancelled(one) ? one.cancellation?.at : undefined],
      [statusOf(one, now), isActive(one, now)],
    ]),
  )

  const payments = mock.state.payments()
  for (const one of subscriptions) {
    const own = payments.filter(({ subscriptionId }) => subscriptionId === one.subscriptionId)
    const shown = own.map(({ paymentId, transactionId, reverseTransactionId, ...rest }) => {
      const isReversed = rest.reverseTransactionAmount !== null
      expect([typeof paymentId, transactionId !== '', typeof reverseTransactionId]).toEqual([
        'number',
        true,
        isReversed ? 'string' : 'object',
      ])
      return rest
    })
    expect(shown).toEqual(paymentsOf(one, now).map((payment) => paymentView(one, payment)))
  }
  expect(payments).toHaveLength(subscriptions.reduce((count, one) => count + paymentsOf(one, now).length, 0))
  expectDistinct(payments.map(({ paymentId }) => paymentId))
  expectDistinct(payments.map(({ transactionId }) => transactionId))
  expectInOrder(payments.map(({ transactionDate }) => transactionDate))

  const messages = mock.notifications.all()
  expectSameRows(
    messages.map((each) => [each.type, each.status, each.subscriptionId, each.timestamp]),
    subscriptions.flatMap((one) => messagesOf(one, now)),
  )
  expectDistinct(messages.map(({ notificationId }) => notificationId))
  expectInOrder(messages.map(({ timestamp }) => Number(timestamp)))
  // Each payment is notified once, with its own number and outcome.
  expectSameRows(
    messages
      .filter(({ paymentId }) => paymentId !== '')
      .map((each) => [each.paymentId, each.subscriptionId, each.status]),
    payments.map((each) => [String(each.paymentId), each.subscriptionId, each.status]),
  )
}

/** Compares charges and events with the model; there is one charge for each key that executed. */
export const gatewayAgrees = ({ now, gateway }: Model, { state }: Mock): void => {
  const charges = state.charges()
  expect(
    charges.map((one) => [
      [one.id, one.confirmation_id, one.created_at],
      [one.status, one.outcome],
      [one.msisdn, one.amount, one.currency],
    ]),
  ).toEqual(
    gateway.charges.map((one) => [
      [one.id, one.confirmationId, new Date(one.createdAt).toISOString()],
      standing(one, now),
      [one.fields.msisdn, one.fields.amount, one.fields.currency],
    ]),
  )
  expect(charges).toHaveLength(gateway.answers.size)
  const events = state.events()
  expectSameRows(
    events.map(({ type, data, created_at }) => [type, data.id, created_at, data.status]),
    eventsOf(gateway, now),
  )
  expectDistinct(events.map(({ id }) => id))
  expectInOrder(events.map(({ created_at }) => created_at))
}
