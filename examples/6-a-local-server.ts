/** Serves the mock over HTTP, for example for browsers. In a terminal, this example runs for five seconds. */
import { GatewayClient } from 'mandatekit'
import { testNumbers } from 'mandatekit/mocks/core'
import { startMockServer } from 'mandatekit/mocks/server'

const server = await startMockServer()
console.log('1. Both areas are served at', server.url)

const gateway = new GatewayClient(server.mock.clientOptions.gateway)
const charge = await gateway.charge({
  msisdn: testNumbers.succeeds,
  amount: 250,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
})
const page = await fetch(charge.confirmation_url)
console.log('2. The payer sees', /<title>([^<]*)/.exec(await page.text())?.[1], 'at', charge.confirmation_url)

const stay = process.stdout.isTTY ? 5000 : 0
console.log('3. Open the page in a browser while this program runs; the code is 123456.')
await new Promise((resolve) => setTimeout(resolve, stay))
console.log('4. The charge is', (await gateway.status(charge.id)).status)
await server.close()
