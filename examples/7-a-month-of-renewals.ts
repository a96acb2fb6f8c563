/** Renews mandates. The job can restart at any time, and still charges a payer only once for each due date. */
import { GatewayClient } from 'mandatekit'
import { createMock, testNumbers } from 'mandatekit/mocks/core'

const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch })

// In January, each of the three payers confirmed one charge.
const payers = { good: testNumbers.succeeds, poor: '+99955500001', slow: '+99955500002' }
const mandates = new Map<string, string>()
for (const [name, msisdn] of Object.entries(payers)) {
  const charge = await gateway.charge({
    msisdn,
    amount: 250,
    currency: 'BDT',
    redirect_uri: `https://shop.example/paid?payer=${name}`, // the payer returns here: include your order number
  })
  mock.payer.confirm(charge.confirmation_id)
  mandates.set(name, charge.id)
}
mock.payer.setBehavior(payers.poor, 'insufficient_funds')
mock.payer.setBehavior(payers.slow, 'retry_then_succeeds')

// Renewals with status pending_retry. Read them with `status`, because `renew` would return the original response.
const undecided = new Map<string, string>()

const renewAll = async (dueDate: string, attempt = 1) => {
  for (const [name, id] of mandates) {
    const renewal = await gateway.renew(id, { dueDate, attempt })
    if (renewal.status === 'succeeded') console.log(`${dueDate} ${name}: succeeded`)
    // The gateway itself retries a pending_retry renewal. A new renewal could charge the payer twice.
    else if (renewal.status === 'pending_retry') {
      undecided.set(renewal.id, `${dueDate} ${name}`)
      console.log(`${dueDate} ${name}: pending_retry, so the gateway retries the renewal`)
    } else if (renewal.status === 'failed' && attempt < 2) {
      console.log(`${dueDate} ${name}: ${renewal.status}, so the job tries a second time`)
      const second = await gateway.renew(id, { dueDate, attempt: attempt + 1 })
      console.log(`${dueDate} ${name}, second attempt: ${second.status} (${second.outcome})`)
    }
  }
}

console.log('1. The job runs in February.')
await renewAll('2027-02-01')
const charged = mock.state.charges().length
console.log('2. The job runs again, because its machine restarted.')
await renewAll('2027-02-01')
if (mock.state.charges().length !== charged) throw new Error('A payer was charged twice for February.')
console.log('3. The second run charged nobody: it received the results of the first run.')
mock.payer.setBehavior(payers.poor, 'succeeds')
await mock.clock.advance({ days: 28 })
console.log('4. The job runs in March.')
await renewAll('2027-03-01')

await mock.clock.advance({ days: 1 })
for (const [id, which] of undecided)
  console.log(`5. Now the renewal "${which}" has the status ${(await gateway.status(id)).status}.`)
console.log(`6. ${mock.state.charges().length} charges: 3 first, 6 renewals, 1 second attempt. No duplicate.`)
