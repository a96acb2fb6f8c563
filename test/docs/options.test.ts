import type { InvalidRequestError } from 'mandatekit'
import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'
import { describe, expect, it } from 'vitest'
import { CLIENT_DEFAULTS } from '../../src/index.ts'
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
const namesIn = (error: unknown): string[] =>
  (error as InvalidRequestError).issues
    .find(({ field }) => field === 'zzzzzzzzzzzz')
    ?.rule.replace('one of the options: ', '')
    .split(', ') ?? []

const namesOf = (make: () => unknown): string[] => {
  try {
    make()
  } catch (error) {
    return namesIn(error)
  }
  return []
}

const mock = createMock()
const stranger: object = { zzzzzzzzzzzz: 1 }
const both = [...tableUnder('Both clients').keys()]

describe('the page of options', () => {
  it('names every option of the clients, and none that does not exist', () => {
    const subscriptions = namesOf(
      () => new SubscriptionsClient({ ...mock.clientOptions.subscriptions, ...stranger }),
    )
    const gateway = namesOf(() => new GatewayClient({ ...mock.clientOptions.gateway, ...stranger }))
    expect([...both, ...tableUnder('`SubscriptionsClient` only').keys()].sort()).toEqual(subscriptions.sort())
    expect([...both, ...tableUnder('`GatewayClient` only').keys()].sort()).toEqual(gateway.sort())
  })

  it('names every option of a call', async () => {
    const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch })
    const request = { msisdn: '1', amount: 1, currency: 'BDT', redirect_uri: 'https://shop.example' }
    const error: unknown = await gateway.charge(request, stranger).catch((reason: unknown) => reason)
    expect([...tableUnder('One call').keys()].sort()).toEqual(namesIn(error).sort())
  })

  it('has the defaults of the clients', () => {
    const { timeout, totalTimeout, retry, rateLimit } = CLIENT_DEFAULTS
    const documented = tableUnder('Both clients')
    const number = (name: string): number => Number(documented.get(name)?.replace(' ', ''))
    expect(number('timeout')).toBe(timeout)
    expect(number('totalTimeout')).toBe(totalTimeout)
    expect(
      documented
        .get('retry')
        ?.match(/\d[\d_]*/g)
        ?.map((digits) => Number(digits.replace('_', ''))),
    ).toEqual(Object.values(retry))
    expect(documented.get('rateLimit')).toBe(`\`'${rateLimit}'\``)
  })
})
