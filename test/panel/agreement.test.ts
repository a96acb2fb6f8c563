import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { actionNames, actions } from '../../mocks/panel/actions.ts'
import { type MockServer, startMockServer } from '../../mocks/server.ts'
import { isAbsoluteUrl, isCalendarDate } from '../../src/contract/formats.ts'
import { clientsOf, MOCK_CHARGE, ORDER } from '../support/mock-clients.ts'
import { startServer } from '../support/mock-server.ts'
import { stateOf } from './asking.ts'

type Json = Readonly<Record<string, unknown>>

const RUNS = 12
const TEXTS = ['x', '25.00', '2026-12-01T00:00:00Z', '2026-12-01', 'two words', '017', '+99900000001']
const WRONG = [
  '',
  ' ',
  'explode',
  -1,
  0,
  1.5,
  1e308,
  2 ** 53,
  true,
  false,
  null,
  [],
  [null],
  {},
  { other: 1 },
]
const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
const BODY = '/paths/~1_mock/post/requestBody/content/application~1json/schema'

let server: MockServer
let document: {
  readonly servers: unknown
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
  readonly paths: Readonly<Record<string, { readonly post: Json }>>
}
const ajv = new Ajv2020({ strict: false })
  .addFormat('date', isCalendarDate)
  .addFormat('uri', isAbsoluteUrl)
  .addFormat('int64', true)
  .addFormat('date-time', (text: string) => /T.*Z$/.test(text) && !Number.isNaN(Date.parse(text)))

beforeAll(async () => {
  server = await startMockServer({ mock: createMock({ clock: '2026-12-01T06:00:00Z' }), maxBodyBytes: 8_000 })
  document = await (await fetch(`${server.url}/_mock/openapi.json`)).json()
  ajv.addSchema(document, 'panel')
})
afterAll(() => server.close())

const isValid = (value: unknown, place: string): boolean => ajv.validate(`panel#${place}`, value) === true
const partsOf = (schema: Json): readonly [string, Json][] => Object.entries(Object(schema.properties))

/** Creates values that obey a schema of the document. */
const valuesOf = (schema: Json): fc.Arbitrary<unknown> => {
  const { type, enum: choices, anyOf, items, format, pattern = '', required = [] } = Object(schema)
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(valuesOf))
  if (choices !== undefined) return fc.constantFrom(...choices)
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => valuesOf({ type: one })))
  const { minimum = 0, maximum = 1_000, minItems = 0, maxItems = minItems + 2 } = Object(schema)
  switch (type) {
    case 'integer':
      return fc.integer({ min: minimum, max: Math.min(maximum, minimum + 1_000) })
    case 'number':
      // A form has no numbers with an exponent.
      return fc.nat(4_000).map((count) => minimum + (count / 4_000) * (Math.min(maximum, 1_000) - minimum))
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      // The first of two durations may not be longer than the second.
      if (maxItems === minItems) return fc.constant(Array.from({ length: minItems }, () => 5))
      return fc.array(valuesOf(items ?? { type: 'null' }), { minLength: minItems, maxLength: maxItems })
    case 'string':
      if (format === 'uri') return fc.constant('http://127.0.0.1:9/hook')
      if (format === 'date') return fc.constant('2026-12-01')
      return fc.oneof(
        fc.constantFrom(...TEXTS).filter((text) => new RegExp(pattern).test(text)),
        ...(pattern === '' ? [fc.string()] : []),
      )
    default: {
      const { additionalProperties } = schema
      if (additionalProperties !== undefined && additionalProperties !== false)
        return fc.dictionary(fc.constantFrom('x-one', 'x-two'), valuesOf(Object(additionalProperties)))
      const fields = Object.fromEntries(partsOf(schema).map(([name, one]) => [name, valuesOf(one)]))
      return fc.record(fields, { requiredKeys: required })
    }
  }
}

/** Replaces, removes or adds one part of a value, at any depth. */
const changed = (value: unknown, wrong: unknown, places: readonly number[]): unknown => {
  const [place = 0, ...deeper] = places
  if (typeof value !== 'object' || value === null || place === 0) return wrong
  const entries = Object.entries(value)
  const index = place % (entries.length + 1)
  const [name, inner] = entries[index] ?? ['unknown', undefined]
  const result = inner === undefined ? wrong : changed(inner, wrong, deeper)
  if (Array.isArray(value)) return entries.map(([, item], at) => (at === index ? result : item))
  const { [name]: _old, ...others } = value as Json
  return place > 50 ? others : { ...others, [name]: result }
}

const post = async (
  body: string,
  type = JSON_TYPE,
  headers: Record<string, string> = { accept: JSON_TYPE },
) => {
  const sent = { method: 'POST', headers: { 'content-type': type, ...headers }, body }
  const response = await fetch(`${server.url}/_mock`, { ...sent, redirect: 'manual' })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}
const send = async (body: unknown) => {
  const { status, text } = await post(JSON.stringify(body))
  return { status, message: String(JSON.parse(text).message) }
}

/** A body as the document says that a form sends it. */
const asForm = (body: unknown): string => {
  const { encoding } = Object(Object(document.paths['/_mock']?.post.requestBody).content[FORM])
  const texts = Object.entries(Object(body)).map(([name, value]) => [
    name,
    encoding[name] === undefined ? String(value) : JSON.stringify(value),
  ])
  return String(new URLSearchParams(texts))
}

/** What the panel says about a field that it does not accept, before it executes the action. */
const REFUSAL = /^(?:Missing (?!duration)|Unknown (?:field|option)|[\w.-]+ must be )/
/** The same for a form, in which an empty field means that it is missing. */
const UNKNOWN = /Unknown (?:field|option|action)|must be (?:a string(?! with)|a list|a number)/

describe.each(actionNames)('the panel and its document agree about %s', (name) => {
  const schemaOf = () => document.components.schemas[name] ?? expect.fail(name)
  const place = `/components/schemas/${name}`

  test('the panel accepts the fields of every body that obeys the document, as JSON and as a form', async () => {
    await fc.assert(
      fc.asyncProperty(valuesOf(schemaOf()), async (body) => {
        expect(isValid(JSON.parse(JSON.stringify(body)), place), JSON.stringify(body)).toBe(true)
        for (const [text, type] of [[JSON.stringify(body)], [asForm(body), FORM]] as const) {
          server.mock.reset()
          const { status, text: response } = await post(text, type)
          expect([200, 409], response).toContain(status)
          expect(JSON.parse(response).message, text).not.toMatch(type === FORM ? UNKNOWN : REFUSAL)
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('the panel refuses every body that the document forbids', async () => {
    // In the options of a receiver, null means that the option is omitted.
    const wrongs = WRONG.filter((wrong) => name !== 'connect' || wrong !== null)
    const places = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(valuesOf(schemaOf()), fc.constantFrom(...wrongs), places, async (body, wrong, at) => {
        const { action: _action, ...fields } = Object(changed(body, wrong, at))
        const sent = { ...fields, action: name }
        fc.pre(!isValid(sent, place))
        server.mock.reset()
        const { status, message } = await send(sent)
        expect([status, message], JSON.stringify(sent)).toEqual([409, expect.stringMatching(REFUSAL)])
      }),
      { numRuns: RUNS },
    )
  })
})

test.each([
  { action: 'start-outage', area: '' },
  { action: 'behavior', msisdn: 1e308, behavior: 'expires' },
  { action: 'advance', days: '1' },
  { action: 'authorize', invoiceId: 'none', payments: 'fail' },
  { action: 'decline', invoiceId: null },
  { action: 'explode' },
  { months: 1 },
])('a program gets no conversion that only forms need, and names a known action: %j', async (body) => {
  expect((await send(body)).status).toBe(409)
  expect(isValid(body, BODY)).toBe(false)
})

test('the document is valid, names the URL of the server, and describes every action with its fields', async () => {
  const { url } = server
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
  expect(document.servers).toEqual([{ url }])
  expect(await (await fetch(`${url}/_mock/connect`)).text()).toContain('href="/_mock/openapi.json"')
  expect((await fetch(`${url}/_mock/openapi.json`, { method: 'POST' })).status).toBe(405)
  const other = await startServer({ publicUrl: 'https://pay.example/mock' })
  const response = await fetch(`${other.url}/_mock/openapi.json`)
  expect(response.headers.get('content-type')).toContain(JSON_TYPE)
  expect(await response.json()).toMatchObject({ servers: [{ url: 'https://pay.example/mock' }] })
  const { schemas } = document.components
  expect(Object.keys(schemas)).toEqual(actionNames)
  for (const [name, { fields }] of Object.entries(actions)) {
    expect(schemas[name]?.description).toMatch(/^[A-Z].*\.$/)
    expect(Object.keys(Object(schemas[name]?.properties)).sort()).toEqual(
      ['action', ...Object.keys(fields)].sort(),
    )
    expect(ajv.validateSchema(schemas[name] ?? {})).toBe(true)
  }
  const { schema } = Object(document.paths['/_mock']?.post.requestBody).content[JSON_TYPE]
  const references = actionNames.map((name) => `#/components/schemas/${name}`)
  expect(schema.oneOf.map(({ $ref }: Json) => $ref)).toEqual(references)
  expect(Object.values(schema.discriminator.mapping)).toEqual(references)
})

test('the document has every response of an action', async () => {
  const flush = JSON.stringify({ action: 'flush' })
  const outcomes = [
    await post(flush),
    await post('action=flush', FORM, {}),
    await post('{'),
    await post(flush, JSON_TYPE, { origin: 'http://evil.example' }),
    await post('{"action":"explode"}'),
    await post('x'.repeat(9_000)),
    await post('flush', 'text/plain'),
  ]
  const responses = Object(document.paths['/_mock']?.post.responses)
  expect(outcomes.map(({ status }) => String(status))).toEqual(Object.keys(responses))
  for (const { status, type, text } of outcomes) {
    const media = type?.split(';')[0]
    expect(Object.keys(responses[status].content ?? {})).toEqual(status === 303 ? [] : [media])
    const place = `/paths/~1_mock/post/responses/${status}/content/application~1json/schema`
    if (media === JSON_TYPE) expect(isValid(JSON.parse(text), place)).toBe(true)
  }
})

/** Returns the places of a schema that say nothing about the type of a value. */
const untyped = (schema: Json, at: string): readonly string[] => {
  const { anyOf = [], oneOf = [], items, additionalProperties, type, enum: choices, $ref } = Object(schema)
  // The branches of a schema with a type have this type.
  const branches = type === undefined ? [...anyOf, ...oneOf] : []
  const inner = [...branches, ...(items ? [items] : [])].flatMap((one) => untyped(one, `${at}/`))
  const values = typeof additionalProperties === 'object' ? untyped(additionalProperties, `${at}/*`) : []
  const fields = partsOf(schema).flatMap(([name, one]) => untyped(one, `${at}.${name}`))
  const isOpen = type === 'object' && partsOf(schema).length === 0 && additionalProperties === undefined
  const isTyped = type ?? choices ?? $ref ?? (anyOf.length > 0 || oneOf.length > 0)
  return [...(isTyped && !isOpen ? [] : [at]), ...inner, ...values, ...fields]
}

test('every value in the document has a type', () => {
  const found: string[] = []
  const walk = (part: unknown, at: string): void => {
    for (const [name, inner] of Object.entries(Object(part))) {
      if (name === 'schema') found.push(...untyped(Object(inner), at))
      else if (typeof inner === 'object') walk(inner, `${at}/${name}`)
    }
  }
  walk(document, '')
  for (const [name, schema] of Object.entries(document.components.schemas))
    found.push(...untyped(schema, name))
  expect(found).toEqual([])
})

test('the state of a busy mock obeys the schema of the state, which names every field', async () => {
  const { mock, url } = server
  mock.reset()
  const { gateway, subscriptions } = clientsOf(mock, { fetch, retry: false })
  mock.notifications.connect('http://127.0.0.1:9/hook', { retries: true, delay: [1, 2], headers: { a: 'b' } })
  mock.faults.add({ operation: 'gateway.health', kind: 'html', when: { idempotencyKey: 5 }, times: 2 })
  mock.faults.add({ operation: 'gateway.status', kind: 'lost-response' })
  mock.control.snapshots.save('one')
  const { invoiceID } = await subscriptions.subscribe({ ...ORDER, clientID: 'mock-client' })
  await subscriptions.subscribe({ ...ORDER, clientID: 'mock-client', requestID: 'other' })
  mock.payer.authorize(invoiceID, { payments: ['fail', 'succeed', 'fail'] })
  await mock.control.moveClock({ by: { days: 3 } })
  mock.payer.reverse(mock.state.payments().at(1)?.paymentId ?? '')
  mock.payer.cancel(invoiceID)
  const { id, confirmation_id } = await gateway.charge(MOCK_CHARGE)
  mock.payer.confirm(confirmation_id)
  await gateway.renew(id, { idempotencyKey: 'renewal' })
  await gateway.status(id).catch(() => undefined)
  await fetch(`${url}/nothing`, { method: 'POST', body: 'text' })
  mock.outage.start()
  await mock.notifications.flush()
  const at = new Date(mock.clock.now()).toISOString()
  const { subscriptions: listed } = await stateOf(url)
  expect(listed.items[0]).not.toHaveProperty('authorizedAt')
  expect(listed.items[1]).toMatchObject({ authorizedAt: '2026-12-01T06:00:00.000Z', cancelledAt: at })
  const place = '/paths/~1_mock~1state/get/responses/200/content/application~1json/schema'
  for (const query of ['', `?limit=1&show=${invoiceID}`, `?requests=1&show=${id}`, '?charges.is=failed']) {
    expect(isValid(await stateOf(url, query), place), JSON.stringify(ajv.errors)).toBe(true)
  }
  expect(isValid({ ...(await stateOf(url)), more: 1 }, place)).toBe(false)
})
