import { describe, expect, it } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import type { UnexpectedReport } from '../../src/index.ts'
import { GatewayClient } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST } from '../support/bodies.ts'
import { errorOf, gatewayClient } from '../support/clients.ts'
import { startServer } from '../support/scripted-server.ts'

/** The reports of a charge that is answered with these fields. */
const reportsOf = async (answer: object): Promise<readonly UnexpectedReport[]> => {
  const { url } = await startServer([{ status: 202, body: { ...CHARGE, ...answer } }])
  const reports: UnexpectedReport[] = []
  const client = gatewayClient(url, { onUnexpected: (report) => reports.push(report) })
  expect(await client.charge(CHARGE_REQUEST)).toMatchObject({ id: 'ch_1' })
  return reports
}

describe('an idempotency key that was used before for another charge', () => {
  const idempotencyKey = 'order-77'

  it('gives the first charge, and a report that tells no value', async () => {
    const mock = createMock()
    const reports: UnexpectedReport[] = []
    const client = new GatewayClient({
      ...mock.clientOptions.gateway,
      fetch: mock.fetch,
      onUnexpected: (report) => reports.push(report),
    })
    const first = await client.charge(CHARGE_REQUEST, { idempotencyKey })
    expect(await client.charge(CHARGE_REQUEST, { idempotencyKey })).toEqual(first)
    expect(reports).toEqual([])
    const other = { ...CHARGE_REQUEST, msisdn: '8801799999999', amount: 999 }
    expect(await client.charge(other, { idempotencyKey })).toEqual(first)
    expect(reports).toEqual([
      expect.objectContaining({
        operation: 'gateway.charge',
        field: 'msisdn',
        message: expect.stringMatching(/msisdn.*amount.*idempotency ?key/i),
      }),
    ])
    expect(JSON.stringify(reports)).not.toMatch(/8801799999999|999/)
    expect(mock.state.charges()).toHaveLength(1)
  })

  it('is refused where the server compares the bodies, and then nothing is reported', async () => {
    const mock = createMock({ gateway: { keyReuse: 'reject' } })
    const reports: UnexpectedReport[] = []
    const client = new GatewayClient({
      ...mock.clientOptions.gateway,
      fetch: mock.fetch,
      onUnexpected: (report) => reports.push(report),
    })
    await client.charge(CHARGE_REQUEST, { idempotencyKey })
    const error = await errorOf(client.charge({ ...CHARGE_REQUEST, amount: 999 }, { idempotencyKey }))
    expect(error).toMatchObject({ status: 422, outcome: 'rejected' })
    expect(reports).toEqual([])
  })
})

describe('a charge is what was sent', () => {
  it.each([
    ['with the amount as text', { amount: '250' }],
    ['with places after the point', { amount: '250.00' }],
    ['with the number as a number', { msisdn: 8801700000001 }],
    ['with a plus before the number', { msisdn: '+880 1700000001' }],
    ['with the currency in small letters', { currency: 'bdt' }],
    ['without a field', { currency: undefined }],
    ['with an empty field', { currency: '' }],
  ])('%s', async (_, answer) => {
    const reports = await reportsOf(answer)
    expect(reports.filter(({ rule }) => rule === 'what was sent')).toEqual([])
  })
})

it.each([
  ['amount', { amount: -250 }],
  ['amount', { amount: 25 }],
  ['amount', { amount: 2.5 }],
  ['currency', { currency: 'USD' }],
  ['msisdn', { msisdn: '8801700000002' }],
])('a differing %s is reported once, and the answer returned: %o', async (field, answer) => {
  expect(await reportsOf(answer)).toMatchObject([{ field, rule: 'what was sent' }])
})
