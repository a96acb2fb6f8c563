import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'
import { describe, expect, it } from 'vitest'
import { CLIENT_DEFAULTS } from '../../src/index.ts'
import { refusedBy } from '../support/refused.ts'
import { readDocument } from './documents.ts'

const page = await readDocument('docs/options.md')

/** The names and defaults in the table under a heading. */
const tableUnder = (heading: string): Map<string, string> => {
  const [, part = ''] = page.split(`## ${heading}\n`)
  const [table = ''] = part.split('\n## ')
  const rows = [...table.matchAll(/^\| (`[^|]+`) \| ([^|]+) \|/gm)]
  return new Map(
    rows.flatMap(([, names = '', fallback = '']) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => [name, fallback.trim()] as const),
    ),
  )
}

/** The names that the error for an unknown option lists. */
const namesOf = async (make: () => unknown): Promise<string[]> =>
  (await refusedBy(make)).issues
    .flatMap(({ field, rule }) => (field === 'zzzzzzzzzzzz' ? rule.split(': ')[1]?.split(', ') : []) ?? [])
    .sort()

const mock = createMock()
const stranger: object = { zzzzzzzzzzzz: 1 }
const both = [...tableUnder('Both clients').keys()]

describe('the page of options', () => {
  it('names every option of the clients, and none that does not exist', async () => {
    const { subscriptions, gateway } = mock.clientOptions
    const makers = {
      SubscriptionsClient: () => new SubscriptionsClient({ ...subscriptions, ...stranger }),
      GatewayClient: () => new GatewayClient({ ...gateway, ...stranger }),
    }
    for (const [name, make] of Object.entries(makers)) {
      expect([...both, ...tableUnder(`\`${name}\` only`).keys()].sort()).toEqual(await namesOf(make))
    }
  })

  it('names every option of a call', async () => {
    const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch })
    const request = { msisdn: '1', amount: 1, currency: 'BDT', redirect_uri: 'https://shop.example' }
    const names = await namesOf(() => gateway.charge(request, stranger))
    expect([...tableUnder('One call').keys()].sort()).toEqual(names)
  })

  it('has the defaults of the clients', () => {
    const { timeout, totalTimeout, retry, rateLimit } = CLIENT_DEFAULTS
    const documented = tableUnder('Both clients')
    const number = (name: string): number => Number(documented.get(name)?.replace(' ', ''))
    expect(number('timeout')).toBe(timeout)
    expect(number('totalTimeout')).toBe(totalTimeout)
    const retries = documented.get('retry')?.match(/\d[\d_]*/g) ?? []
    expect(retries.map((digits) => Number(digits.replace('_', '')))).toEqual(Object.values(retry))
    expect(documented.get('rateLimit')).toBe(`\`'${rateLimit}'\``)
  })
})
