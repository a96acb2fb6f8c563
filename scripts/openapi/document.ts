import type { Area } from '../../src/contract/endpoint.ts'
import { pageQuerySchema } from '../../src/contract/subscriptions.ts'
import { linkTo } from '../marks.ts'
import { componentsOf, referenceOf } from './components.ts'
import type { Docstrings } from './docstrings.ts'
import { type Method, type OperationEntry, operationEntries } from './operations.ts'
import { responsesOf, retryAfterName } from './responses.ts'
import { notShown } from './rules.ts'
import { documentComponents, type Json, plainSchema } from './schemas.ts'
import type { Exchange, Tour } from './tour.ts'

const FORM = 'application/x-www-form-urlencoded'

interface AreaText {
  readonly title: string
  readonly version: string
  readonly tag: string
  readonly description: string
  /** The name of the security scheme. */
  readonly scheme: string
  readonly security: string
}

const areas: Readonly<Record<Area, AreaText>> = {
  subscriptions: {
    title: 'Recurring subscription payments',
    version: '1.0',
    tag: 'Subscriptions',
    description:
      'Subscriptions whose payers pay daily, weekly or every fifteen days. Log in, create a subscription request, and send the payer to its `url`.',
    scheme: 'accessToken',
    security: 'The `access_token` of a login.',
  },
  gateway: {
    title: 'Sandbox charge gateway',
    version: '1',
    tag: 'Gateway',
    description:
      'Mobile-money charges of a sandbox. Create a charge, send the payer to its `confirmation_url`, and renew the charge for each later billing cycle.',
    scheme: 'apiKey',
    security: 'An API key of the gateway.',
  },
}

const NOTE = `Statuses and error codes that the specification does not show are those of the [mock](${linkTo('mock')}). Each names its row in the list of [open points](${linkTo('unknowns')}), and a real server may use others. Every enumeration is open, because a server may add values.`

const CONTACT = { name: 'mandatekit', url: 'https://github.com/mandatekit/mandatekit/issues' }

/** The texts about the parameters in paths. */
const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  'subscriptions invoiceId': 'The `invoiceID` that subscribe returned.',
  'subscriptions subscriptionId': 'The `subscriptionId` that the status of the request contains.',
  'subscriptions paymentId': 'The `paymentId` of a payment in the list.',
  'gateway confirmationId': 'The `confirmation_id` of the charge.',
  'gateway id': 'The `id` of the charge.',
}

/** Returns the first sentence of a text. A summary is plain text. */
const sentence = (text: string): string =>
  (/^.*?[.](?= |$)/.exec(text)?.[0].slice(0, -1) ?? text).replaceAll('`', '')

const pathParameters = ({ area, path }: OperationEntry): Json[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARAMETERS[`${area} ${name}`],
    schema: { type: 'string' },
  }))

const KEY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  description:
    'Your own key of this call. A repeated request with the same key returns the original response, and nothing is charged twice.',
  schema: { type: 'string', minLength: 1 },
  example: 'order-1001',
}

// The client sends no default, so its schema has none. The first page is not specified. (Limits, Pagination)
const DEFAULTS: Readonly<Record<string, Json>> = { page: { default: 1 }, per_page: { default: 10 } }

const queryParameters = ({ definition }: OperationEntry, docstrings: Docstrings): Json[] => {
  if (definition.query === undefined) return []
  const texts: Readonly<Record<string, string>> = {
    page: docstrings.of('pageNumber'),
    per_page: docstrings.of('pageSize'),
  }
  return Object.entries<Json>(Object(plainSchema(pageQuerySchema).properties)).map(([name, schema]) => ({
    name,
    in: 'query',
    description: texts[name],
    schema: { ...schema, ...DEFAULTS[name] },
  }))
}

const requestBody = (entry: OperationEntry, method: Method, exchanges: readonly Exchange[]): Json => {
  const { area, definition, operation } = entry
  if (method !== 'POST') return {}
  const schema = definition.request && referenceOf(area, definition.request)
  if (schema === undefined) {
    const description = `The specification defines no fields. No body and \`{}\` are accepted. ${notShown('31')}`
    return {
      requestBody: {
        description,
        content: { 'application/json': { schema: { type: 'object' }, example: {} } },
      },
    }
  }
  const sent = exchanges.find((each) => each.operation === operation && each.status < 300)
  const example = { schema, example: sent?.sent }
  const isLogin = definition.auth === 'credentials'
  return {
    requestBody: {
      required: true,
      ...(isLogin ? { description: `As JSON, or as a form. ${notShown('32')}` } : {}),
      content: { 'application/json': example, ...(isLogin ? { [FORM]: example } : {}) },
    },
  }
}

const ANCHORS: Readonly<Record<Area, (entry: OperationEntry) => string>> = {
  subscriptions: ({ definition }) => definition.spec.toLowerCase(),
  gateway: ({ name }) => `g-${name}`,
}

const operationOf = (
  entry: OperationEntry,
  method: Method,
  {
    tour,
    docstrings,
    texts,
  }: { tour: Tour; docstrings: Docstrings; texts: Readonly<Record<string, string>> },
): Json => {
  const { area, name, operation, definition } = entry
  const text = texts[name] ?? ''
  const parameters = [
    ...pathParameters(entry),
    ...queryParameters(entry, docstrings),
    ...(definition.idempotencyKey === true ? [KEY_PARAMETER] : []),
  ]
  const exchanges = tour.exchanges.filter((each) => each.operation === operation && each.method === method)
  const isAlternative = method !== entry.method
  return {
    operationId: isAlternative ? `${operation}With${method[0]}${method.slice(1).toLowerCase()}` : operation,
    tags: [areas[area].tag],
    summary: isAlternative ? `${sentence(text)}, with ${method}` : sentence(text),
    description: entry.methods.length > 1 ? `${text} The method is ${method}. ${notShown('65')}` : text,
    externalDocs: {
      description: 'The specification',
      url: linkTo('specification', ANCHORS[area](entry)),
    },
    security: entry.auth === 'none' || entry.auth === 'credentials' ? [] : [{ [areas[area].scheme]: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(entry, method, exchanges),
    responses: responsesOf(entry, exchanges),
  }
}

const pathsOf = (area: Area, tour: Tour, docstrings: Docstrings): Json => {
  const texts = docstrings.fieldsOf(`${area}Contract`)
  const paths: Record<string, Json> = {}
  for (const entry of operationEntries.filter((each) => each.area === area)) {
    const path = entry.path.replace(/:(\w+)/g, '{$1}')
    const items = entry.methods.map((method) => [
      method.toLowerCase(),
      operationOf(entry, method, { tour, docstrings, texts }),
    ])
    paths[path] = { ...paths[path], ...Object.fromEntries(items) }
  }
  return paths
}

/** The headers that the specification gives every response of area S (Limits, area S). */
const rateLimitHeaders = (tour: Tour): Json => {
  const first = tour.exchanges.find(({ operation }) => operation === 'subscriptions.subscribe')
  const header = (name: string, description: string): Json => ({
    description,
    required: true,
    schema: { type: 'integer', format: 'int64' },
    example: Number(first?.headers[name.toLowerCase()]),
  })
  return {
    'X-RateLimit-Limit': header(
      'X-RateLimit-Limit',
      'The maximum number of requests in a window of one minute.',
    ),
    'X-RateLimit-Remaining': header('X-RateLimit-Remaining', 'The requests that are left in this window.'),
    'X-RateLimit-Reset': header('X-RateLimit-Reset', 'The end of the window: UNIX time in seconds.'),
  }
}

const retryAfter = (isRequired: boolean): Json => ({
  description: isRequired
    ? 'The seconds until the next request is allowed.'
    : `The seconds until the next request is allowed. ${notShown('43')}`,
  ...(isRequired ? { required: true } : {}),
  schema: { type: 'integer', minimum: 0 },
  example: 60,
})

const NOTIFICATION_TEXT = `Receives a message about a subscription or a payment. ${notShown('45')}`

const webhooksOf = (tour: Tour): Json => {
  const examples = tour.notifications.map((message) => [
    `${message.type} ${message.status}`.toLowerCase().replaceAll(' ', '_'),
    { value: message },
  ])
  return {
    notification: {
      post: {
        operationId: 'subscriptions.receiveNotification',
        tags: [areas.subscriptions.tag],
        summary: 'Receives a notification',
        description: `${NOTIFICATION_TEXT} A message may arrive more than once, and in any order.`,
        externalDocs: { description: 'The specification', url: linkTo('specification', 's8') },
        security: [],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/Notification' },
              examples: Object.fromEntries(examples),
            },
          },
        },
        responses: {
          '2XX': { description: `The receiver has processed the message. ${notShown('45')}` },
          default: { description: `The receiver has not processed the message. ${notShown('47')}` },
        },
      },
    },
  }
}

/** Creates the OpenAPI document of an area. */
export const documentOf = (area: Area, tour: Tour, docstrings: Docstrings): Json => {
  const { title, version, tag, description, scheme, security } = areas[area]
  const isSubscriptions = area === 'subscriptions'
  return {
    openapi: '3.1.1',
    info: {
      title,
      version,
      summary: sentence(description),
      description: `${description}\n\n${NOTE}`,
      contact: CONTACT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:4010', description: 'The mock: `npx mandatekit mock`' }],
    tags: [{ name: tag, description }],
    paths: pathsOf(area, tour, docstrings),
    ...(isSubscriptions ? { webhooks: webhooksOf(tour) } : {}),
    components: {
      schemas: documentComponents(componentsOf(area), docstrings),
      headers: {
        ...(isSubscriptions ? rateLimitHeaders(tour) : {}),
        [retryAfterName(area)]: retryAfter(!isSubscriptions),
      },
      securitySchemes: { [scheme]: { type: 'http', scheme: 'bearer', description: security } },
    },
  }
}
