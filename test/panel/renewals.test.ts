import { createMock } from 'mandatekit/mocks/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startSite } from '../pages/served-site.ts'
import { startServer } from '../support/mock-server.ts'
import { stateOf } from './asking.ts'

let site: Awaited<ReturnType<typeof startSite>>

beforeEach(async () => {
  site = await startSite()
})

afterEach(() => site.close())

/** A mandate, and its renewal under a key. */
const renewed = async (key: string) => {
  const { id } = await site.charge()
  site.mock.payer.confirm(site.mock.state.charges().at(-1)?.confirmation_id ?? '')
  const answer = await fetch(`${site.url}/api/v1/mfs/charges/${id}/renew`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${site.mock.clientOptions.gateway.apiKey}`,
      'idempotency-key': key,
    },
    body: JSON.stringify({ mandate_id: id }),
  })
  expect(answer.status).toBe(201)
  const renewal: Record<string, unknown> = await answer.json()
  return { mandate: id, renewal }
}

const page = async () => (await fetch(`${site.url}/_mock`)).text()

/** The row of a charge in the page. */
const rowOf = async (id: unknown) =>
  (await page()).split(`<li id="charge-${id}">`)[1]?.split('</li>')[0] ?? ''

test('a renewal is told from its mandate in the list and in the state, with the key of each', async () => {
  const { mandate, renewal } = await renewed('cycle-2026-12')
  const { charges } = await stateOf(site.url)
  expect(charges.items).toMatchObject([
    { id: renewal.id, renews: mandate, idempotencyKey: 'cycle-2026-12' },
    { id: mandate, idempotencyKey: 'key-1' },
  ])
  expect(charges.items[1]).not.toHaveProperty('renews')
  const [newer, older] = [await rowOf(renewal.id), await rowOf(mandate)]
  expect(newer).toContain(`<dt>Renews</dt><dd><bdi>${mandate}</bdi>`)
  expect(newer).toContain('<dd><bdi>cycle-2026-12</bdi>')
  expect(older).toContain('<dd><bdi>key-1</bdi>')
  expect(older).not.toContain('Renews')
})

test('what the API answers of a renewal has the specified fields alone', async () => {
  const { renewal } = await renewed('cycle-2026-12')
  expect(Object.keys(renewal).sort()).toEqual([
    'amount',
    'confirmation_id',
    'confirmation_url',
    'created_at',
    'currency',
    'id',
    'msisdn',
    'outcome',
    'status',
  ])
  expect(site.mock.state.charges().at(-1)).toEqual(renewal)
})

test('a key is shown as text and cut like other foreign text', async () => {
  const { renewal } = await renewed(`<img src=x>${'k'.repeat(500)}`)
  const row = await rowOf(renewal.id)
  expect(row).toContain(`&lt;img src=x&gt;${'k'.repeat(89)}…`)
  expect(row).not.toContain('<img')
  expect(row).not.toContain('k'.repeat(90))
})

test('a key that holds a secret is shown without it', async () => {
  const { apiKey } = site.mock.clientOptions.gateway
  await renewed(`mine-${apiKey}-1`)
  const text = JSON.stringify(await stateOf(site.url)) + (await page())
  expect(text).toContain('mine-[redacted]-1')
  expect(text).not.toContain(apiKey)
})

test('a renewal that the mock started with names its mandate and no key', async () => {
  const seed = { msisdn: '+1', amount: 1, currency: 'BDT' }
  const mock = createMock({ gateway: { charges: [{ ...seed, id: 'ch_2', mandate_id: 'ch_1' }] } })
  const { url } = await startServer({ mock })
  const { charges } = await stateOf(url)
  expect(charges.items[0]).toMatchObject({ id: 'ch_2', renews: 'ch_1' })
  expect(charges.items[0]).not.toHaveProperty('idempotencyKey')
})
