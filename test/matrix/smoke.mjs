// A subscription and a charge through the mock, in plain JavaScript that any runtime can run. Every environment of the
// matrix calls this one function with the package's exports as it loaded them.

function expectEqual(what, actual, expected) {
  const [shown, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (shown !== wanted) throw new Error(`${what}: ${shown} instead of ${wanted}`)
}

async function subscription(client, mock) {
  const { url, invoiceID } = await client.subscribe({
    requestID: 'order-1001',
    start: '2027-01-01',
    end: '2027-12-31',
    cycle: 'DAILY',
    amount: '25.00',
    userReturnURL: 'https://shop.example/return',
  })
  expectEqual('url of subscribe', URL.canParse(url), true)
  mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail'] })
  const { status, subscriptionId } = await client.status(invoiceID)
  expectEqual('request status', status, 'SUCCEEDED')
  await mock.clock.advance({ days: 2 })
  const statuses = []
  for await (const payment of client.allPayments(subscriptionId)) statuses.push(payment.status)
  expectEqual('payments', statuses, ['SUCCEEDED_PAYMENT', 'FAILED_PAYMENT'])
  expectEqual('cancellation', (await client.cancel(subscriptionId)).status, 'PROCESSED')
}

async function charge(client, mock, testNumbers) {
  const request = {
    msisdn: testNumbers.succeeds,
    amount: 250,
    currency: 'BDT',
    redirect_uri: 'https://shop.example/paid',
  }
  const first = await client.charge(request, { idempotencyKey: 'order-1001' })
  const again = await client.charge(request, { idempotencyKey: 'order-1001' })
  expectEqual('charge with the same key', again.id, first.id)
  expectEqual('stored charges', mock.state.charges().length, 1)
  await client.confirm(first.confirmation_id, { otp: '123456' })
  expectEqual('confirmed charge', (await client.status(first.id)).status, 'succeeded')
  expectEqual('renewal', (await client.renew(first.id, { dueDate: '2027-02-01' })).status, 'succeeded')
}

/** @param options `throughGlobalFetch`: calls go through the runtime's fetch, which something else intercepts. */
export async function smoke(exported, { mock: given, throughGlobalFetch = false } = {}) {
  const { SubscriptionsClient, GatewayClient, isMandateKitError, createMock, testNumbers } = exported
  const mock = given ?? createMock({ clock: new Date('2027-01-01T06:00:00Z') })
  const through = throughGlobalFetch ? {} : { fetch: mock.fetch }
  const gateway = new GatewayClient({ ...mock.clientOptions.gateway, ...through })
  await subscription(new SubscriptionsClient({ ...mock.clientOptions.subscriptions, ...through }), mock)
  await charge(gateway, mock, testNumbers)
  const error = await gateway.status('ch_unknown').catch((reason) => reason)
  expectEqual('error of an unknown charge', [isMandateKitError(error), error.outcome], [true, 'rejected'])
  return 'a subscription and a charge'
}
