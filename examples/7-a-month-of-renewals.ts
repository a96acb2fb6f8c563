/** The job that renews mandates for a month. It may be started again at any time: a cycle is charged once. */
import { GatewayClient } from 'mandatekit'
import { createMock, testNumbers } from 'mandatekit/mocks/core'

const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch })

// Three payers agreed in January, each with a charge of their own.
const payers = { good: testNumbers.succeeds, poor: '+99955500001', slow: '+99955500002' }
const mandates = new Map<string, string>()
for (const [name, msisdn] of Object.entries(payers)) {
  const charge = await gateway.charge({
    msisdn,
    amount: 250,
    currency: 'BDT',
    redirect_uri: `https://shop.example/paid?payer=${name}`, // comes back as it is: put your order into it
  })
  mock.payer.confirm(charge.confirmation_id)
  mandates.set(name, charge.id)
}
mock.payer.setBehaviour(payers.poor, 'insufficient_funds')
mock.payer.setBehaviour(payers.slow, 'retry_then_succeeds')

// Renewals that the gateway still tries. The renewal's own key would give their first answer again.
const undecided = new Map<string, string>()

const renewAll = async (cycle: string, attempt = 1) => {
  for (const [name, id] of mandates) {
    const renewal = await gateway.renew(id, { cycle, attempt })
    if (renewal.status === 'succeeded') console.log(name, cycle, 'succeeded')
    // The gateway is still trying: another attempt of ours would be a second charge.
    else if (renewal.status === 'pending_retry') {
      undecided.set(renewal.id, `${name} ${cycle}`)
      console.log(name, cycle, 'pending_retry: wait')
    } else if (attempt < 2) {
      console.log(name, cycle, `${renewal.status}: a second try`)
      const second = await gateway.renew(id, { cycle, attempt: attempt + 1 })
      console.log(name, cycle, second.status, second.outcome)
    }
  }
}

await renewAll('2027-02-01')
await renewAll('2027-02-01') // the job was started twice: nobody is charged again
mock.payer.setBehaviour(payers.poor, 'succeeds')
await mock.clock.advance({ days: 28 })
await renewAll('2027-03-01')

await mock.clock.advance({ days: 1 })
for (const [id, which] of undecided) console.log('Afterwards', which, (await gateway.status(id)).status)
console.log('Charges made:', mock.state.charges().length)
