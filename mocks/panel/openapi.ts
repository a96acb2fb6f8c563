import { isObject, type Json, jsonOf, object, oneOf } from '../../src/contract/fields.ts'
import { FORM_TYPE } from '../http/message.ts'
import { PANEL_PATH, STATE_PATH } from './access.ts'
import { actions } from './actions.ts'
import { stateSchema } from './state-schema.ts'
import { filters, listNames } from './view.ts'

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

const text = { type: 'string' }
const count = { type: 'integer', minimum: 0 }
const json = (description: string, properties: Json): Json => {
  const schema = { type: 'object', properties, required: Object.keys(properties) }
  return { description, content: { 'application/json': { schema } } }
}
const refused = (description: string): Json => ({ description, content: { 'text/plain': { schema: text } } })
const parameter = (name: string, description: string, schema: Json = text): Json => ({
  in: 'query',
  name,
  description,
  schema,
})

const outcome = { ok: { type: 'boolean' }, message: text }

const runAction = {
  operationId: 'runAction',
  summary: 'Executes an action on the mock.',
  requestBody: {
    required: true,
    content: { 'application/json': { schema: anyAction }, [FORM_TYPE]: { schema: anyAction, encoding } },
  },
  responses: {
    200: json('The action was executed.', outcome),
    303: { description: 'A form without `Accept: application/json` gets the panel’s page.' },
    400: refused('The body is not valid JSON.'),
    403: refused('The host is not allowed, or a page of another site sent the request.'),
    409: json('The action failed, and `message` says why.', outcome),
    413: refused('The body is too large.'),
    415: refused('The body is neither JSON nor a form.'),
  },
}

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
  responses: {
    200: { description: 'The state.', content: { 'application/json': { schema: stateSchema } } },
    403: refused('The host is not allowed.'),
  },
}

/** Returns the OpenAPI document of the panel's API at a base URL. */
export const openApiOf = (baseUrl: string): Json => ({
  openapi: '3.1.1',
  info: { title: 'Control panel of a mandatekit mock', version: '1' },
  servers: [{ url: baseUrl }],
  paths: { [PANEL_PATH]: { post: runAction }, [STATE_PATH]: { get: getState } },
  components: { schemas },
})
