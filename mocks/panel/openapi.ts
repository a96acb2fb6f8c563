import { type Field, isObject, type Json, jsonOf, object, oneOf, STRING } from '../../src/contract/fields.ts'
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
const withLargest = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema), (_, part) =>
    isObject(part) && part.type === 'integer' ? { maximum: Number.MAX_SAFE_INTEGER, ...part } : part,
  )

const schemas = Object.fromEntries(
  Object.entries(actions).map(([name, { description, fields }]): [string, Json] => {
    const schema = withLargest(jsonOf(object({ action: oneOf([name]), ...fields })))
    return [name, { description, ...schema, additionalProperties: false }]
  }),
)
const references = Object.keys(schemas).map((name) => [name, `#/components/schemas/${name}`] as const)
const anyAction = {
  oneOf: references.map(([, $ref]) => ({ $ref })),
  discriminator: { propertyName: 'action', mapping: Object.fromEntries(references) },
}

const isPlain = (type: unknown): boolean => /^(string|number|integer|string,number)$/.test(String(type))

/** In a form, each value that is not plain text, a number or a word is JSON. */
const encoding = Object.fromEntries(
  Object.values(schemas)
    .flatMap(({ properties }) => Object.entries<Json>(Object(properties)))
    .filter(([, { type, enum: words }]) => !isPlain(type) && words === undefined)
    .map(([name]) => [name, { contentType: 'application/json' }]),
)

const time = { ...STRING, format: 'date-time' }
const day = { ...STRING, format: 'date' }
const count = { type: 'integer', minimum: 0 }
const boolean = { type: 'boolean' }
const area = jsonOf(oneOf(['subscriptions', 'gateway']))
const texts = { type: 'object', additionalProperties: STRING }
/** Bodies of requests and responses: a fault or a client may send anything. */
const anything = { type: ['string', 'number', 'boolean', 'object', 'array', 'null'] }

const listOf = (items: Json): Json => ({ type: 'array', items })

/** Returns the schema of an object. A key has all names of one type; a name with `?` is optional. */
const record = (types: Readonly<Record<string, Json>>): Json => {
  const fields = Object.entries(types).flatMap(([names, type]) =>
    names.split(' ').map((name) => [name, type] as const),
  )
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, type]) => [name.replace('?', ''), type])),
    required: fields.map(([name]) => name).filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  }
}

/** Returns the schema of an object whose fields a zod schema has, with more optional fields. */
const extended = (fields: Field<unknown>, more: Json = {}): Json => {
  const { properties, ...json } = jsonOf(fields)
  return { ...json, properties: { ...Object(properties), ...more }, additionalProperties: false }
}

const attempt = record({
  'notificationId body error? to?': STRING,
  'attempt status?': count,
  at: time,
  delivered: boolean,
  headers: texts,
})
const payment = extended(paymentSchema)
const items: Readonly<Record<ListName, Json>> = {
  subscriptions: record({
    'invoiceId subscriptionId clientId requestID requestStatus phase amount cycle cancellation?': STRING,
    'start end nextDueDate?': day,
    'createdAt authorizedAt? cancelledAt?': time,
    active: boolean,
    paymentCount: count,
    lastPayments: listOf(payment),
    retryDates: listOf(day),
    script: jsonOf(paymentScripts),
  }),
  payments: payment,
  charges: extended(chargeSchema, {
    renews: STRING,
    idempotencyKey: STRING,
    planned: record({ at: time, status: STRING }),
  }),
  requests: record({
    'method path decision explanation idempotencyKey? objectId? nearestRoute?': STRING,
    'number status?': count,
    at: time,
    area,
    'headers responseHeaders?': texts,
    'body? response?': anything,
    executed: boolean,
    durationMs: { type: 'number', minimum: 0 },
    'operation?': jsonOf(oneOf(operations)),
    'fault?': jsonOf(oneOf(faultKinds)),
  }),
  notifications: record({
    'notificationId type status subscriptionId paymentId timestamp': STRING,
    attempts: listOf(attempt),
  }),
}

const page = (item: Json): Json =>
  record({ 'total skipped': count, items: listOf(item), 'older? newer?': count })
const when = { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } }
const fault = extended(object(faultFields), { when })
const { headers: _headers, signing: _signing, ...receiverOptions } = deliveryOptions
const receiver = extended(object(receiverOptions), { number: count, to: STRING })

const state = record({
  'now nextEventAt?': time,
  'nextEvent?': STRING,
  isFrozen: boolean,
  outages: listOf(area),
  faults: listOf(record({ number: count, fault, left: { anyOf: [count, { ...STRING, enum: ['always'] }] } })),
  receivers: listOf({ ...receiver, required: ['number'] }),
  snapshots: listOf(record({ name: STRING, at: time })),
  ...Object.fromEntries(Object.entries(items).map(([name, item]) => [name, page(item)])),
})

const answer = (description: string, schema: Json = record({ ok: boolean, message: STRING })): Json => ({
  description,
  content: { 'application/json': { schema } },
})

const runAction = {
  operationId: 'runAction',
  summary: 'Executes an action on the mock.',
  requestBody: {
    required: true,
    content: { 'application/json': { schema: anyAction }, [FORM_TYPE]: { schema: anyAction, encoding } },
  },
  responses: {
    200: answer('The action was executed.'),
    303: { description: 'A form without `Accept: application/json` gets the panel’s page.' },
    400: answer('The body is not valid JSON.'),
    403: answer('The host is not allowed, or a page of another site sent the request.'),
    409: answer('The action failed, and `message` says why.'),
    413: { description: 'The body is too large.', content: { 'text/plain': { schema: STRING } } },
    415: answer('The body is neither JSON nor a form.'),
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
  responses: { 200: answer('The state.', state), 403: answer('The host is not allowed.') },
}

/** Returns the OpenAPI document of the panel's API at a base URL. */
export const openApiOf = (baseUrl: string): Json => ({
  openapi: '3.1.1',
  info: { title: 'Control panel of a mandatekit mock', version: '1' },
  servers: [{ url: baseUrl }],
  paths: { [PANEL_PATH]: { post: runAction }, [STATE_PATH]: { get: getState } },
  components: { schemas },
})
