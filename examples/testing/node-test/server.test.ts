import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { testNumbers } from 'mandatekit/mocks/core'
import { createNotificationHandler, toNodeHandler } from 'mandatekit/notifications'
import { openServer } from './open-mock.ts'
import { chargeOrder } from './settlement.ts'

const ORDER = { id: '1001', msisdn: testNumbers.succeeds, amount: 250 }

describe('with startMockServer', { concurrency: true }, () => {
  test('the payer is charged once if the connection breaks before the response arrives', async (context) => {
    const { mock, gateway } = await openServer(context)
    mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })
    assert.match(String(await chargeOrder(gateway, ORDER)), /^ch_/)
    assert.equal(mock.state.charges().length, 1)
  })

  test('two servers that run at the same time share no charges', async (context) => {
    const [one, other] = await Promise.all([openServer(context), openServer(context)])
    await Promise.all([chargeOrder(one.gateway, ORDER), chargeOrder(other.gateway, { ...ORDER, amount: 99 })])
    assert.deepEqual(
      [one, other].map(({ mock }) => mock.state.charges().map(({ amount }) => amount)),
      [[250], [99]],
    )
  })

  test("the mock posts notifications to the shop's HTTP server", async (context) => {
    const { mock, subscriptions } = await openServer(context)
    const seen: string[] = []
    const receive = createNotificationHandler({
      verify: 'none',
      onPayment: ({ status }) => {
        seen.push(status)
      },
      onSubscription: ({ status }) => {
        seen.push(status)
      },
    })
    const shop = createServer(toNodeHandler(receive))
    await new Promise<void>((resolve) => {
      shop.listen(0, '127.0.0.1', resolve)
    })
    context.after(() => shop.close())
    const { port } = shop.address() as AddressInfo
    mock.notifications.connect(`http://127.0.0.1:${port}/notifications`)

    const { invoiceID } = await subscriptions.subscribe({
      requestID: 'order-1',
      start: '2027-01-01',
      end: '2027-12-31',
      cycle: 'DAILY',
      amount: '5.00',
      userReturnURL: 'https://shop.example/return',
    })
    mock.payer.authorize(invoiceID, { payments: ['fail'] })
    await mock.clock.advance({ days: 1 })
    assert.deepEqual(seen, ['SUCCEEDED', 'FAILED_PAYMENT'])
  })
})
