/** Serves the mock over HTTP, for example for browsers. In a terminal, this example waits until you confirm the charge. */
import { GatewayClient } from 'mandatekit'
import { testNumbers } from 'mandatekit/mocks/core'
import { startMockServer } from 'mandatekit/mocks/server'

const server = await startMockServer()
console.log(`1. The server at ${server.url} serves both areas.`)

const gateway = new GatewayClient(server.mock.clientOptions.gateway)
const charge = await gateway.charge({
  msisdn: testNumbers.succeeds,
  amount: 250,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
})
const page = await fetch(charge.confirmation_url)
const title = /<title>([^<]*)/.exec(await page.text())?.[1]
console.log(`2. The payer sees the page "${title}":\n   ${charge.confirmation_url}`)

if (process.stdout.isTTY) {
  console.log('3. Open the page in a browser and enter the code 123456. To stop waiting, press Ctrl-C.')
  await gateway.waitForCharge(charge.id, { timeout: 3_600_000, pollInterval: 500 })
}
const step = process.stdout.isTTY ? 4 : 3
console.log(`${step}. The status of the charge is ${(await gateway.status(charge.id)).status}.`)
await server.close()
