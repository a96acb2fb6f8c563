/** Charges a payer, who confirms with a one-time code. Then renews the charge, which needs no code. */
import { ApiError, GatewayClient } from 'mandatekit'
import { createMock, testNumbers } from 'mandatekit/mocks/core'

const mock = createMock()
const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch })

const charge = await gateway.charge(
  { msisdn: testNumbers.succeeds, amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid' },
  { idempotencyKey: 'order-1001' },
)
console.log('1. Send the payer to', charge.confirmation_url)

try {
  await gateway.confirm(charge.confirmation_id, { otp: '000000' })
} catch (error) {
  if (!(error instanceof ApiError)) throw error
  console.log(`2. The gateway refused a wrong code (${error.errorCode}), so the payer was not charged.`)
}

const confirmed = await gateway.confirm(charge.confirmation_id, { otp: '123456', chargeId: charge.id })
console.log(`3. The gateway accepted the correct code. The status of the charge is ${confirmed.status}.`)

// The client derives the idempotency key from the due date, so a restarted job cannot charge February twice.
const renewal = await gateway.renew(charge.id, { dueDate: '2027-02-01' })
const again = await gateway.renew(charge.id, { dueDate: '2027-02-01' })
console.log(`4. The status of the renewal for February is ${renewal.status}. The payer entered no code.`)
if (again.id !== renewal.id) throw new Error('The payer was charged twice for February.')
console.log('5. A second call for February returned the same renewal, so the payer paid once.')
