import * as sdk from 'mandatekit'
import * as contract from 'mandatekit/contract'
import { expect, test } from 'vitest'
import { toJSONSchema } from 'zod/v4/core'
import type { Json } from '../../scripts/openapi/schemas.ts'
import { documents, joined } from './documents.ts'

/** The texts of a document, by their places, without the targets of links. */
const textsOf = (part: unknown, place = ''): (readonly [place: string, text: string])[] =>
  Object.entries(Object(part)).flatMap(([name, value]) => {
    // Examples are data.
    if (name === 'example' || name === 'examples') return []
    const isText = typeof value === 'string' && /^(?:description|summary|title)$/.test(name)
    if (isText) return [[`${place}/${name}`, value.replace(/\]\([^)]*\)/g, ']')] as const]
    return typeof value === 'object' ? textsOf(value, `${place}/${name}`) : []
  })

/** Every name and constant that a reader in any language sees in a document. */
const wordsOf = (part: unknown): string[] =>
  typeof part === 'object' && part !== null
    ? Object.entries(part).flatMap(([name, value]) => [name, ...wordsOf(value)])
    : [String(part)]

/** Words for users of the TypeScript client. They belong after `@remarks`. */
const SDK_WORDS =
  /\b(?:client|SDK|TypeScript|JavaScript|package|throws?|thrown|promise|await|undefined|hook|option|method name|withResponse|nextStep|waitFor\w*|is (?:read|converted)|(?:never|not) retried|does not retry|\w+Error|Known[A-Z]\w+)\b/

/** Code in texts that names no part of a document. */
const LITERALS =
  /^(?:npx mandatekit mock|YYYY-MM-DD(?: HH:MM:SS)?|[\d-]+(?:T[\d:.]+Z)?|"25\.00"|BDT|\w+_1|\{\}|CANCELED)$/

/** Returns the texts that only a user of the client understands. */
const sdkTexts = (document: Json): string[] => {
  const words = new Set(wordsOf(document))
  const exported = new Set([...Object.keys(sdk), ...Object.keys(contract)])
  return textsOf(document).flatMap(([place, text]) => {
    const code = [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    const foreign = code.filter((name) => !words.has(name) && !LITERALS.test(name))
    const found = [
      ...(text.match(SDK_WORDS) ?? []),
      ...foreign,
      ...text.split(/\W+/).filter((word) => exported.has(word)),
    ]
    return found.map((word) => `${place}: ${word}`)
  })
}

test.each([
  ['subscriptions', documents.subscriptions],
  ['gateway', documents.gateway],
  ['joined', joined('http://127.0.0.1:4010')],
])('the document %s is written for readers of every language', (_name, document) => {
  expect(textsOf(document).length).toBeGreaterThan(100)
  expect(sdkTexts(document)).toEqual([])
})

test.each([
  ['For any other code, the client throws an `ApiError`.', ['client', 'ApiError', 'ApiError']],
  ['The first argument of `confirm`.', ['confirm']],
  ['See `toInstant`.', ['toInstant', 'toInstant']],
  ['Another `KnownRequestStatus`.', ['KnownRequestStatus', 'KnownRequestStatus']],
  ['Decimal text is converted to a number.', ['is converted']],
  ['A rejected login is not retried.', ['not retried']],
])('the check refuses %j', (description, words) => {
  const document = { ...documents.gateway, info: { description } }
  expect(sdkTexts(document)).toEqual(words.map((word) => `/info/description: ${word}`))
})

test('the schema of an input has its bounds, and the documents have only those of the specification', () => {
  expect(toJSONSchema(contract.chargeRequestSchema)).toMatchObject({ properties: { amount: { minimum: 0 } } })
  expect(toJSONSchema(contract.pageQuerySchema)).toMatchObject({
    properties: { page: { minimum: 1 }, per_page: { minimum: 1, maximum: 100 } },
  })
  const { ChargeRequest } = Object(documents.gateway.components).schemas
  expect(ChargeRequest.properties.amount).not.toHaveProperty('minimum')
  const { parameters } = Object(documents.subscriptions.paths)[
    '/api/v1.0/subscription/{subscriptionId}/payments'
  ].post
  expect(parameters.slice(1).map(({ schema }: Json) => schema)).toEqual([
    { type: 'integer', format: 'int64', default: 1 },
    { type: 'integer', format: 'int64', maximum: 100, default: 10 },
  ])
})
