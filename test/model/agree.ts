import { expect } from 'vitest'
import { standing } from './gateway-model.ts'
import type { Model } from './model.ts'
import {
  isActive,
  messagesOf,
  paymentsOf,
  paymentView,
  statusOf,
  wasCancelled,
} from './subscriptions-model.ts'
import type { World } from './world.ts'

const sorted = (rows: readonly (readonly unknown[])[]): readonly string[] =>
  rows.map((row) => JSON.stringify(row)).sort()

const expectInOrder = (times: readonly string[] | readonly number[]): void =>
  expect([...times]).toEqual([...times].sort((left, right) => (left < right ? -1 : left > right ? 1 : 0)))

const expectDistinct = (ids: readonly unknown[]): void => expect(new Set(ids).size).toBe(ids.length)

/** Subscriptions, payments and notifications are those of the model. */
export const subscriptionsAgree = (model: Model, { mock }: World): void => {
  const { now } = model
  expect(
    mock.state.subscriptions().map(({ invoiceId, subscriptionId, clientId, ...state }) => ({
      ids: [invoiceId, subscriptionId, clientId, state.request.requestID],
      times: [state.createdAt, state.authorizedAt, state.cancelledAt],
      status: [state.requestStatus, state.active],
    })),
  ).toEqual(
    model.subscriptions.map((one) => ({
      ids: [one.invoiceId, one.subscriptionId, one.owner, one.requestID],
      times: [one.createdAt, one.authorizedAt, wasCancelled(one) ? one.cancellation?.at : undefined],
      status: [statusOf(one, now), isActive(one, now)],
    })),
  )

  const payments = mock.state.payments()
  for (const one of model.subscriptions) {
    const own = payments.filter(({ subscriptionId }) => subscriptionId === one.subscriptionId)
    expect(
      own.map(({ paymentId, transactionId, reverseTransactionId, ...shown }) => {
        expect([paymentId, transactionId, typeof reverseTransactionId]).toEqual([
          expect.any(Number),
          expect.stringMatching(/./),
          shown.reverseTransactionAmount === null ? 'object' : 'string',
        ])
        return shown
      }),
    ).toEqual(paymentsOf(one, now).map((payment) => paymentView(one, payment)))
  }
  expect(payments).toHaveLength(
    model.subscriptions.reduce((count, one) => count + paymentsOf(one, now).length, 0),
  )
  expectDistinct(payments.map(({ paymentId }) => paymentId))
  expectDistinct(payments.map(({ transactionId }) => transactionId))
  expectInOrder(payments.map(({ transactionDate }) => transactionDate))

  const messages = mock.notifications.all()
  expect(
    sorted(
      messages.map(({ type, status, subscriptionId, timestamp }) => [
        type,
        status,
        subscriptionId,
        timestamp,
      ]),
    ),
  ).toEqual(sorted(model.subscriptions.flatMap((one) => messagesOf(one, now))))
  expectDistinct(messages.map(({ notificationId }) => notificationId))
  expectInOrder(messages.map(({ timestamp }) => Number(timestamp)))
  // Each payment was told once, with its own number and outcome.
  expect(
    sorted(
      messages
        .filter(({ paymentId }) => paymentId !== '')
        .map((each) => [each.paymentId, each.subscriptionId, each.status]),
    ),
  ).toEqual(sorted(payments.map((each) => [String(each.paymentId), each.subscriptionId, each.status])))
}

/** Charges and events are those of the model, and there is one charge for each key that executed. */
export const gatewayAgrees = (model: Model, { mock }: World): void => {
  const { now, gateway } = model
  const charges = mock.state.charges()
  expect(
    charges.map(({ id, confirmation_id, status, outcome, created_at, msisdn, amount, currency }) => ({
      ids: [id, confirmation_id, created_at],
      standing: [status, outcome],
      fields: [msisdn, amount, currency],
    })),
  ).toEqual(
    gateway.charges.map((charge) => ({
      ids: [charge.id, charge.confirmationId, new Date(charge.createdAt).toISOString()],
      standing: standing(charge, now),
      fields: [charge.fields.msisdn, charge.fields.amount, charge.fields.currency],
    })),
  )
  expect(charges).toHaveLength(gateway.answers.size)
  const events = mock.state.events()
  expect(
    sorted(events.map(({ type, data, created_at }) => [type, data.id, created_at, data.status])),
  ).toEqual(sorted(gateway.events(now)))
  expectDistinct(events.map(({ id }) => id))
  expectInOrder(events.map(({ created_at }) => created_at))
}
