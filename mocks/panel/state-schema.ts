import type { Field, Shape } from '../../src/contract/fields.ts'
import { type Json, jsonOf, oneOf, STRING } from '../../src/contract/fields.ts'
import { chargeSchema } from '../../src/contract/gateway.ts'
import { paymentSchema } from '../../src/contract/subscriptions.ts'
import { deliveryOptions } from '../delivery/types.ts'
import { operations } from '../http/area.ts'
import { faultFields, faultKinds } from '../http/fault-schema.ts'
import { paymentScripts } from '../subscriptions/options.ts'
import type { ListName } from './view.ts'

const time = { ...STRING, format: 'date-time' }
const day = { ...STRING, format: 'date' }
const count = { type: 'integer', minimum: 0 }
const yes = { type: 'boolean' }
const area = jsonOf(oneOf(['subscriptions', 'gateway']))
const texts = { type: 'object', additionalProperties: STRING }
/** Bodies of requests and responses: a fault or a client may send anything. */
const anything = { type: ['string', 'number', 'boolean', 'object', 'array', 'null'] }

const listOf = (items: Json): Json => ({ type: 'array', items })
const record = (required: Json, optional: Json = {}): Json => ({
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
})
const jsonsOf = (fields: Shape): Json =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, jsonOf(schema)]))

/** The schema of a response of the payment APIs, with more fields. */
const extended = (response: Field<unknown>, more: Json = {}): Json => {
  const { properties, ...json } = jsonOf(response)
  return { ...json, properties: { ...Object(properties), ...more }, additionalProperties: false }
}

const payment = extended(paymentSchema)
const subscription = record(
  {
    invoiceId: STRING,
    subscriptionId: STRING,
    requestStatus: STRING,
    clientId: STRING,
    requestID: STRING,
    amount: STRING,
    cycle: STRING,
    start: day,
    end: day,
    createdAt: time,
    active: yes,
    phase: STRING,
    paymentCount: count,
    lastPayments: listOf(payment),
    retryDates: listOf(day),
    script: jsonOf(paymentScripts),
  },
  { authorizedAt: time, cancelledAt: time, nextDueDate: day, cancellation: STRING },
)
const attempt = record(
  {
    notificationId: STRING,
    attempt: count,
    at: time,
    delivered: yes,
    headers: texts,
    body: STRING,
  },
  { status: count, error: STRING },
)
const notification = record({
  notificationId: STRING,
  type: STRING,
  status: STRING,
  subscriptionId: STRING,
  paymentId: STRING,
  timestamp: STRING,
  attempts: listOf(attempt),
})
const request = record(
  {
    number: count,
    at: time,
    area,
    method: STRING,
    path: STRING,
    headers: texts,
    durationMs: { type: 'number', minimum: 0 },
    executed: yes,
    decision: STRING,
    explanation: STRING,
  },
  {
    operation: jsonOf(oneOf(operations)),
    body: anything,
    idempotencyKey: STRING,
    status: count,
    response: anything,
    responseHeaders: texts,
    nearestRoute: STRING,
    fault: jsonOf(oneOf(faultKinds)),
  },
)
const items: Readonly<Record<ListName, Json>> = {
  subscriptions: subscription,
  payments: payment,
  charges: extended(chargeSchema, {
    renews: STRING,
    idempotencyKey: STRING,
    planned: record({ at: time, status: STRING }),
  }),
  requests: request,
  notifications: notification,
}

const { operation, when: _when, ...faultDetails } = jsonsOf(faultFields)
const when = { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } }
const { headers: _headers, signing: _signing, ...receiverOptions } = jsonsOf(deliveryOptions)

/** The JSON Schema of the panel's state. */
export const stateSchema = record(
  {
    now: time,
    isFrozen: yes,
    outages: listOf(area),
    faults: listOf(
      record({
        number: count,
        fault: record({ operation }, { when, ...faultDetails }),
        left: { anyOf: [count, { ...STRING, enum: ['always'] }] },
      }),
    ),
    receivers: listOf(record({ number: count }, { to: STRING, ...receiverOptions })),
    snapshots: listOf(record({ name: STRING, at: time })),
    ...Object.fromEntries(
      Object.entries(items).map(([name, item]) => [
        name,
        record({ total: count, skipped: count, items: listOf(item) }, { older: count, newer: count }),
      ]),
    ),
  },
  { nextEventAt: time },
)
