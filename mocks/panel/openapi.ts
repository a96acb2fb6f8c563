import type { Field, Shape } from '../../src/contract/fields.ts'
import { isObject, type Json, jsonOf, object, oneOf, STRING } from '../../src/contract/fields.ts'
import { chargeSchema } from '../../src/contract/gateway.ts'
import { paymentSchema } from '../../src/contract/subscriptions.ts'
import { deliveryOptions } from '../delivery/types.ts'
import { operations } from '../http/area.ts'
import { faultFields, faultKinds } from '../http/fault-schema.ts'
import { FORM_TYPE } from '../http/message.ts'
import { paymentScripts } from '../subscriptions/options.ts'
import { PANEL_PATH, STATE_PATH } from './access.ts'
import { actions } from './actions.ts'
import { filters, type ListName, listNames } from './view.ts'

/** Adds the largest number that the panel reads exactly to each schema of whole numbers without a maximum. */
const withLargest = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withLargest)
  if (!isObject(schema)) return schema
  const parts = Object.entries(schema).map(([name, part]) => [name, withLargest(part)])
  const limit = schema.type === 'integer' ? { maximum: Number.MAX_SAFE_INTEGER } : {}
  return { ...limit, ...Object.fromEntries(parts) }
}

const schemas = Object.fromEntries(
  Object.entries(actions).map(([name, { description, fields }]): [string, Json] => {
    const schema = object({ action: oneOf([name]), ...fields })
    return [name, { description, ...Object(withLargest(jsonOf(schema))), additionalProperties: false }]
  }),
)
const references = Object.keys(schemas).map((name) => [name, `#/components/schemas/${name}`] as const)
const anyAction = {
  oneOf: references.map(([, $ref]) => ({ $ref })),
  discriminator: { propertyName: 'action', mapping: Object.fromEntries(references) },
}

const PLAIN: readonly unknown[] = ['string', 'number', 'integer']

/** In a form, each value that is not plain text, a number or a word is JSON. */
const encoding = Object.fromEntries(
  Object.values(schemas)
    .flatMap(({ properties }) => Object.entries<Json>(Object(properties)))
    .filter(([, { type, enum: words }]) => !PLAIN.includes(type) && words === undefined)
    .map(([name]) => [name, { contentType: 'application/json' }]),
)

const time = { ...STRING, format: 'date-time' }
const day = { ...STRING, format: 'date' }
const count = { type: 'integer', minimum: 0 }
const flag = { type: 'boolean' }
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
/** Returns fields of one type by their names. */
const all = (schema: Json, ...names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, schema]))
const jsonsOf = (fields: Shape): Json =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, jsonOf(schema)]))

/** The schema of a response of the payment APIs, with more fields. */
const extended = (response: Field<unknown>, more: Json = {}): Json => {
  const { properties, ...json } = jsonOf(response)
  return { ...json, properties: { ...Object(properties), ...more }, additionalProperties: false }
}

const payment = extended(paymentSchema)
const items: Readonly<Record<ListName, Json>> = {
  subscriptions: record(
    {
      ...all(STRING, 'invoiceId', 'subscriptionId', 'clientId', 'requestID', 'requestStatus', 'phase'),
      ...all(STRING, 'amount', 'cycle'),
      ...all(day, 'start', 'end'),
      createdAt: time,
      active: flag,
      paymentCount: count,
      lastPayments: listOf(payment),
      retryDates: listOf(day),
      script: jsonOf(paymentScripts),
    },
    { authorizedAt: time, cancelledAt: time, nextDueDate: day, cancellation: STRING },
  ),
  payments: payment,
  charges: extended(chargeSchema, {
    ...all(STRING, 'renews', 'idempotencyKey'),
    planned: record({ at: time, status: STRING }),
  }),
  requests: record(
    {
      ...all(STRING, 'method', 'path', 'decision', 'explanation'),
      number: count,
      at: time,
      area,
      headers: texts,
      executed: flag,
      durationMs: { type: 'number', minimum: 0 },
    },
    {
      ...all(STRING, 'idempotencyKey', 'nearestRoute'),
      ...all(anything, 'body', 'response'),
      status: count,
      responseHeaders: texts,
      operation: jsonOf(oneOf(operations)),
      fault: jsonOf(oneOf(faultKinds)),
    },
  ),
  notifications: record({
    ...all(STRING, 'notificationId', 'type', 'status', 'subscriptionId', 'paymentId', 'timestamp'),
    attempts: listOf(
      record(
        {
          ...all(STRING, 'notificationId', 'body'),
          attempt: count,
          at: time,
          delivered: flag,
          headers: texts,
        },
        { status: count, error: STRING },
      ),
    ),
  }),
}

const { operation, when: _when, ...faultDetails } = jsonsOf(faultFields)
const when = { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } }
const { headers: _headers, signing: _signing, ...receiverOptions } = jsonsOf(deliveryOptions)

const state = record(
  {
    now: time,
    isFrozen: flag,
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

const answer = (description: string, schema: Json): Json => ({
  description,
  content: { 'application/json': { schema } },
})
const refused = (description: string): Json => ({
  description,
  content: { 'text/plain': { schema: STRING } },
})
const outcome = record({ ok: flag, message: STRING })

const runAction = {
  operationId: 'runAction',
  summary: 'Executes an action on the mock.',
  requestBody: {
    required: true,
    content: { 'application/json': { schema: anyAction }, [FORM_TYPE]: { schema: anyAction, encoding } },
  },
  responses: {
    200: answer('The action was executed.', outcome),
    303: { description: 'A form without `Accept: application/json` gets the panel’s page.' },
    400: refused('The body is not valid JSON.'),
    403: refused('The host is not allowed, or a page of another site sent the request.'),
    409: answer('The action failed, and `message` says why.', outcome),
    413: refused('The body is too large.'),
    415: refused('The body is neither JSON nor a form.'),
  },
}

const parameter = (name: string, description: string, schema: Json = STRING): Json => ({
  in: 'query',
  name,
  description,
  schema,
})

const getState = {
  operationId: 'getState',
  summary: 'Returns the state of the mock.',
  parameters: [
    parameter('limit', 'The number of items in each list, by default 50.', { ...count, minimum: 1 }),
    parameter('requests.of', 'Identifier of the subscription or charge that the requests are about.'),
    ...listNames.flatMap((name) => [
      parameter(name, 'The page that `older` of a response names.', count),
      parameter(`${name}.q`, 'Text that the items contain.'),
      ...filters[name].map(({ name: end, label, choices }) =>
        parameter(`${name}.${end}`, `${label} of the items.`, { enum: choices }),
      ),
    ]),
  ],
  responses: { 200: answer('The state.', state), 403: refused('The host is not allowed.') },
}

/** Returns the OpenAPI document of the panel's API at a base URL. */
export const openApiOf = (baseUrl: string): Json => ({
  openapi: '3.1.1',
  info: { title: 'Control panel of a mandatekit mock', version: '1' },
  servers: [{ url: baseUrl }],
  paths: { [PANEL_PATH]: { post: runAction }, [STATE_PATH]: { get: getState } },
  components: { schemas },
})
