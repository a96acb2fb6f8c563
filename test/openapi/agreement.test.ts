import { createMock } from 'mandatekit/mocks/core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../scripts/openapi/schemas.ts'
import { takeTour } from '../../scripts/openapi/tour.ts'
import { full, sized } from '../support/sizes.ts'
import { createAgreement, type Observed, observing } from './agreement.ts'
import { joined } from './documents.ts'
import { runQuickstart } from './quickstart.ts'
import { generateTraffic } from './traffic.ts'

const document = joined('http://127.0.0.1:4010')
const agreement = createAgreement(document)

const problemsOf = (traffic: readonly Observed[], isValid = false, check = agreement): string[] => [
  ...new Set(traffic.flatMap((seen) => check(seen, isValid))),
]

/** Traffic with every status of every operation. */
const tour: Observed[] = []
beforeAll(async () => {
  await takeTour((fetch) => observing(fetch, tour))
})

test.each([false, true])(
  'the traffic of the quickstart agrees with the document (over HTTP: %s)',
  async (http) => {
    const seen: Observed[] = []
    await runQuickstart({ http }, (fetch) => observing(fetch, seen))
    expect(seen.length).toBeGreaterThan(20)
    expect(problemsOf(seen, true)).toEqual([])
  },
)

test('every example comes from traffic that agrees with the document', () => {
  expect(tour.length).toBeGreaterThan(150)
  expect(problemsOf(tour)).toEqual([])
})

test('generated valid requests and their responses agree with the document', async () => {
  const seen = await generateTraffic(sized(3_000, 300), { invalid: 0 })
  expect(problemsOf(seen, true)).toEqual([])
})

test('the responses to generated requests with mistakes agree with the document', async () => {
  const seen = await generateTraffic(sized(3_000, 600), { invalid: 0.5 })
  expect(problemsOf(seen)).toEqual([])
  const statuses = new Set(seen.map(({ status }) => status))
  for (const status of [400, 401, 404, 409, 415, 422, 429]) expect(statuses).toContain(status)
})

describe('the comparison finds', () => {
  type Editable = { [name: string]: Editable }

  /** Returns the differences of the requests that a change concerns from a changed copy of the document. */
  const problemsAfter = (change: (copy: Editable) => void, concerns: (seen: Observed) => boolean): string => {
    const copy: Editable = JSON.parse(JSON.stringify(document))
    change(copy)
    return problemsOf(tour.filter(concerns), false, createAgreement(copy)).join('\n')
  }
  /** All in a full run, else every fourth: a changed document is compiled for each field and status. */
  const some = <Item>(all: readonly Item[]) => all.filter((_, index) => full || index % 4 === 0)

  const { schemas } = Object(document.components)
  const responses = some(
    Object.entries<Json>(schemas).filter(([name]) => name !== 'Notification' && !name.endsWith('Request')),
  )

  test.each(responses)('each removed field of %s', (name, { properties }) => {
    for (const field of Object.keys(Object(properties))) {
      const problems = problemsAfter(
        (copy) => {
          delete copy.components?.schemas?.[name]?.properties?.[field]
        },
        ({ status, body }) => status < 300 === !/Error/.test(name) && body.includes(`"${field}"`),
      )
      expect(problems).toContain(`"additionalProperty":"${field}"`)
    }
  })

  test('a value that an open enumeration does not know', () => {
    const known = { status: 'INITIALIZED', outcome: 'PENDING' }
    for (const [field, value] of Object.entries(known)) {
      const other = tour.map((seen) => ({ ...seen, body: seen.body.replace(`"${value}"`, '"NEW"') }))
      expect(problemsOf(other).join('\n')).toContain(`/${field} must be equal to one of the allowed values`)
    }
  })

  const operations = Object.entries<Json>(Object(document.paths)).flatMap(([path, item]) =>
    Object.entries<Json>(Object(item)).map(([method, { responses }]) => ({ method, path, responses })),
  )

  const pathOf = ({ url }: Observed): string => new URL(url).pathname

  test.each(some(operations))('each removed status of $method $path', ({ method, path, responses }) => {
    for (const status of Object.keys(Object(responses)).filter((each) => each !== 'default')) {
      const problems = problemsAfter(
        (copy) => {
          delete copy.paths?.[path]?.[method]?.responses?.[status]
        },
        (seen) => String(seen.status) === status && pathOf(seen).split('/').length === path.split('/').length,
      )
      expect(problems).toContain(`the status ${status} is not documented`)
    }
  })

  test.each([
    ['status', { status: 418 }, 'GET /health 418: the status 418 is not documented'],
    [
      'header',
      { status: 503, headers: { 'X-Request-Id': '1' } },
      'GET /health 503: the response has the header x-request-id',
    ],
  ])('a %s that the mock adds', async (_, effect, problem) => {
    const seen: Observed[] = []
    const mock = createMock({ faults: [{ operation: '*', kind: 'status', ...effect }] })
    await observing(mock.fetch, seen)(`${mock.clientOptions.gateway.baseUrl}/health`)
    expect(problemsOf(seen)).toEqual([problem])
  })

  test('each header that the mock omits', () => {
    const bare = tour.map((seen) => ({ ...seen, headers: { 'content-type': 'application/json' } }))
    const problems = problemsOf(bare).join('\n')
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'])
      expect(problems).toContain(`lacks the header ${name}`)
  })

  test('a field that the mock adds or omits', () => {
    const more = tour.map((seen) => ({ ...seen, body: seen.body.replace(/^\{/, '{"extra":1,') }))
    expect(problemsOf(more).join('\n')).toContain('"additionalProperty":"extra"')
    const less = tour.map((seen) => ({ ...seen, body: seen.body.replace(/"(?:id|error)":/, '"other":') }))
    for (const field of ['id', 'error'])
      expect(problemsOf(less).join('\n')).toContain(`"missingProperty":"${field}"`)
  })
})
