import type { Charge, GatewayClient } from 'mandatekit'
import { isMandateKitError, renewalKey } from 'mandatekit'
import type { Settings } from './settings.ts'
import type { Timeline } from './timeline.ts'

// Every test number has this one-time code (G confirm).
const SANDBOX_CODE = '123456'

const words = (charge: Partial<Charge>): string =>
  `${charge.id ?? ''} ${charge.status} (${charge.outcome})`.trim()

/** Calls `health` and `reference`, creates a charge, confirms and renews the charge, and calls `reset`. */
export const chargeLifecycle = async (
  client: GatewayClient,
  settings: Settings,
  { line }: Timeline,
): Promise<void> => {
  const { mock, msisdn } = settings
  const health = await client.health()
  line('health', health.ok ? 'the service and its data store are reachable' : `not healthy: ${health.status}`)
  line('reference', `${JSON.stringify(await client.reference()).slice(0, 72)}…`)

  const request = { msisdn, amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid' }
  const idempotencyKey = `order-${settings.now()}`
  const charge = await client.charge(request, { idempotencyKey })
  line('charge', `${words(charge)}; send the payer to ${charge.confirmation_url}`)

  try {
    await client.confirm(charge.confirmation_id, { otp: '000000' })
  } catch (error) {
    if (!isMandateKitError(error)) throw error
    line('confirm, wrong code', error.message)
  }
  const confirmed = await client.confirm(charge.confirmation_id, { otp: SANDBOX_CODE, chargeId: charge.id })
  line('confirm, correct code', words(confirmed))
  line('status', words(await client.status(charge.id)))

  const again = await client.charge(request, { idempotencyKey })
  line(
    'the same key again',
    `${again.id}: ${again.id === charge.id ? 'the same charge, not a second one' : 'ANOTHER'}`,
  )

  const dueDate = new Date(settings.now()).toISOString().slice(0, 10)
  const renewal = await client.renew(charge.id, { dueDate })
  line('renew', `${words(renewal)} with key ${renewalKey(charge.id, dueDate)}`)
  const sameCycle = await client.renew(charge.id, { dueDate })
  line(
    'renew, same cycle',
    `${sameCycle.id}: ${sameCycle.id === renewal.id ? 'the same renewal' : 'ANOTHER'}`,
  )
  if (mock !== undefined)
    line('counted', `${mock.state.charges().length} charges: the mandate and one renewal`)

  if (settings.failingMsisdn !== undefined) {
    const failing = await client.charge({ ...request, msisdn: settings.failingMsisdn })
    await client.confirm(failing.confirmation_id, { otp: SANDBOX_CODE })
    line('a failing number', words(await client.status(failing.id)))
  }
  if (settings.reset) {
    await client.reset()
    line(
      'reset',
      mock === undefined ? 'charges and events cleared' : `${mock.state.charges().length} charges left`,
    )
  }
}
