import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { checkBody } from '../../../mocks/probe/differences.ts'
import { readExchanges } from '../../../mocks/probe/exchanges.ts'
import { recordShop } from './shop.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false })
for (const area of ['subscriptions', 'gateway']) {
  const document = readFileSync(new URL(`../../../openapi/${area}.json`, import.meta.url), 'utf8')
  ajv.addSchema(JSON.parse(document), area)
}

/** Returns a body with each of its fields removed, or with a value of another type. */
const changed = (body: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] =>
  Object.keys(body).flatMap((name) => {
    const { [name]: value, ...rest } = body
    const others = [null, true, [], {}, 'text', 1.5].filter((each) => typeof each !== typeof value)
    return [rest, ...others.map((other) => ({ ...rest, [name]: other }))]
  })

test('compare checks responses as a validator with the OpenAPI documents does', async () => {
  const operations = new Set<string>()
  let wrong = 0
  const odd = new Set<string>()
  for (const seed of [1, 2, 3, 4]) {
    const { recordings } = await recordShop({}, { seed, steps: 60 })
    for (const { area, definition, response, succeeded, body } of readExchanges(recordings)) {
      if (definition === undefined || response === undefined || response.body === undefined) continue
      const path = definition.path.replace(/:(\w+)/g, '{$1}').replaceAll('/', '~1')
      const place = `paths/${path}/${definition.method.toLowerCase()}/responses/${response.status}`
      const schema = { $ref: `${area}#/${place}/content/application~1json/schema` }
      const accepts = ajv.compile(schema)
      operations.add(`${definition.operation} ${succeeded}`)
      for (const each of [body, ...changed(body)]) {
        const findings = checkBody(definition, succeeded, each)
        if (findings.length > 0) wrong += 1
        if ((findings.length === 0) !== accepts(each))
          odd.add(JSON.stringify([place, findings, ajv.errorsText(accepts.errors)]))
      }
    }
  }
  expect([...odd]).toEqual([])
  expect(operations.size).toBeGreaterThan(15)
  expect(wrong).toBeGreaterThan(100)
})
