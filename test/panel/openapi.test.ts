import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { actions } from '../../mocks/panel/actions.ts'
import { type MockServerOptions, startMockServer } from '../../mocks/server.ts'

type Json = Readonly<Record<string, unknown>>

const names = Object.keys(actions)
const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

/** Starts a server, and reads the document as a program that knows nothing else about the panel. */
const open = async (options: MockServerOptions = {}) => {
  const { url, close } = await startMockServer(options)
  const response = await fetch(`${url}/_mock/openapi.json`)
  const document = await response.json()
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'panel')
  const isValid = (value: unknown, place: string) => ajv.validate(`panel#/paths/~1_mock${place}`, value)
  const { requestBody, responses } = document.paths['/_mock'].post
  const send = async (
    body: Json | string,
    type = JSON_TYPE,
    headers: Record<string, string> = { accept: JSON_TYPE },
  ) => {
    const { encoding = {} } = requestBody.content[type] ?? {}
    const texts = Object.entries(body).map(([name, value]) => [
      name,
      encoding[name] === undefined ? String(value) : JSON.stringify(value),
    ])
    const sent = type === FORM ? String(new URLSearchParams(texts)) : JSON.stringify(body)
    const answer = await fetch(`${url}/_mock`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': type, ...headers },
      body: typeof body === 'string' ? body : sent,
    })
    return {
      status: answer.status,
      type: answer.headers.get('content-type')?.split(';')[0],
      text: await answer.text(),
    }
  }
  const schemas: Record<string, Json & { properties: Json; required: string[] }> = document.components.schemas
  return { url, close, response, document, schemas, responses, ajv, isValid, send }
}

let panel: Awaited<ReturnType<typeof open>>
beforeAll(async () => {
  panel = await open({ maxBodyBytes: 2_000 })
})
afterAll(() => panel.close())

const BODY = '/post/requestBody/content/application~1json/schema'

const TEXTS = ['x', '2026-12-01', '25.00']

/** Creates a value that obeys a schema, with or without optional fields. */
const exampleOf = (schema: Json, isFull: boolean): unknown => {
  const {
    type,
    enum: choices,
    anyOf,
    minimum = 1,
    properties = {},
    items,
    required = [],
    pattern,
  } = Object(schema)
  if (anyOf !== undefined) return exampleOf(anyOf[0], isFull)
  if (choices !== undefined) return choices[0]
  if (type === 'array') return isFull ? [exampleOf(items, true)].filter((item) => item !== undefined) : []
  if (type !== 'object')
    return { string: TEXTS.find((one) => new RegExp(pattern).test(one)), number: 1, integer: minimum }[
      String(type)
    ]
  const used = Object.entries<Json>(properties).filter(([name]) => isFull || required.includes(name))
  const fields = used.map(([name, field]) => [name, exampleOf(field, isFull)] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

test('the document is valid, and names the URL of the server', async () => {
  const { url, response, document, ajv, schemas } = panel
  expect(response.headers.get('content-type')).toContain(JSON_TYPE)
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
  expect(names.filter((name) => !ajv.validateSchema(schemas[name] ?? {}))).toEqual([])
  expect(document.servers).toEqual([{ url }])
  expect(await (await fetch(`${url}/_mock/connect`)).text()).toContain('href="/_mock/openapi.json"')
  expect((await fetch(`${url}/_mock/openapi.json`, { method: 'POST' })).status).toBe(405)
  const publicUrl = 'https://pay.example/mock'
  const other = await open({ publicUrl })
  expect(other.document.servers).toEqual([{ url: publicUrl }])
  await other.close()
})

test('every action has its fields, and exactly those are required that the server misses', async () => {
  const { document, schemas, send } = panel
  expect(Object.keys(schemas)).toEqual(names)
  const { oneOf, discriminator } = document.paths['/_mock'].post.requestBody.content[JSON_TYPE].schema
  const references = names.map((name) => `#/components/schemas/${name}`)
  expect([oneOf.map(({ $ref }: Json) => $ref), Object.values(discriminator.mapping)]).toEqual([
    references,
    references,
  ])
  for (const [name, { fields }] of Object.entries(actions)) {
    const { properties, required, description } = schemas[name] ?? expect.fail(name)
    expect(description).toMatch(/^[A-Z].*\.$/)
    expect(Object.keys(properties).sort()).toEqual(['action', ...Object.keys(fields)].sort())
    for (const missing of required.slice(1)) {
      const { [missing]: _missing, ...rest } = Object(exampleOf(schemas[name] ?? {}, true))
      expect((await send(rest)).text).toContain(`Missing ${missing}: pass `)
    }
  }
})

test.each(names)(
  'the server knows every field of the examples of %s, as JSON and as a form',
  async (name) => {
    const { schemas, isValid, send } = panel
    const examples = [false, true].map((isFull) => Object(exampleOf(schemas[name] ?? {}, isFull)))
    for (const [example, type] of examples.flatMap((one) => [
      [one, JSON_TYPE] as const,
      [one, FORM] as const,
    ])) {
      expect(isValid(example, BODY), JSON.stringify(example)).toBe(true)
      const { status, text } = await send(example, type)
      expect([200, 409], text).toContain(status)
      expect(text).not.toMatch(
        /Unknown (field|option|action)|Missing (?!duration|kind)|must be (a string(?! with)|a list|a number)/,
      )
    }
  },
)

test.each<[boolean, Json]>([
  [true, { action: 'advance', months: 1 }],
  [true, { action: 'fault', operation: 'gateway.charge', kind: 'status', when: { msisdn: '+999' } }],
  [true, { action: 'connect', url: 'http://127.0.0.1:1', retries: true, signing: { secret: 'shared' } }],
  [true, { action: 'behavior', msisdn: '+999', behavior: 'expires' }],
  [false, { action: 'fault', operation: '*', kind: 'status', when: 5 }],
  [false, { action: 'connect', url: 'http://127.0.0.1:1', headers: ['x'] }],
  [false, { action: 'explode' }],
  [false, { months: 1 }],
  [false, { action: 'reset', now: true }],
  [false, { action: 'advance', weeks: 1 }],
  [false, { action: 'set-clock' }],
  [false, { action: 'disconnect' }],
  [false, { action: 'behavior', msisdn: '+999', behavior: 'explodes' }],
  [false, { action: 'fault', operation: '*', kind: 'explode' }],
])('the server and the document agree (%j) about %j', async (isKnown, body) => {
  const { isValid, send } = panel
  expect([isValid(body, BODY), (await send(body)).status]).toEqual([isKnown, isKnown ? 200 : 409])
})

test('the document has every response, and the schema of the state', async () => {
  const { url, responses, send, isValid } = panel
  const outcomes = [
    await send({ action: 'flush' }),
    await send({ action: 'flush' }, FORM, {}),
    await send('{'),
    await send({ action: 'flush' }, JSON_TYPE, { origin: 'http://evil.example' }),
    await send({ action: 'explode' }),
    await send('x'.repeat(3_000)),
    await send('flush', 'text/plain'),
  ]
  expect(outcomes.map(({ status }) => String(status))).toEqual(Object.keys(responses))
  for (const { status, type, text } of outcomes) {
    expect(Object.keys(responses[status].content ?? {})).toEqual(status === 303 ? [] : [type])
    const place = `/post/responses/${status}/content/application~1json/schema`
    if (type === JSON_TYPE) expect(isValid(JSON.parse(text), place)).toBe(true)
  }
  const state = await (await fetch(`${url}/_mock/state?limit=1&charges.is=failed`)).json()
  expect(isValid(state, '~1state/get/responses/200/content/application~1json/schema')).toBe(true)
})
