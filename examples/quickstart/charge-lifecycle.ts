import { type Charge, type GatewayClient, isMandateKitError, renewalKey } from 'mandatekit'
import type { Settings } from './settings.ts'
import type { Timeline } from './timeline.ts'

// Every test number has this one-time code (G confirm).
const SANDBOX_CODE = '123456'

const state = (charge: Partial<Charge>): string => `${charge.status} (${charge.outcome})`

const errorOf = async (made: Promise<unknown>): Promise<string> => {
  try {
    await made
  } catch (error) {
    if (isMandateKitError(error)) return error.message
    throw error
  }
  return 'no error'
}

/** Calls `health` and `reference`, creates a charge, confirms and renews the charge, and calls `reset`. */
export const chargeLifecycle = async (
  client: GatewayClient,
  settings: Settings,
  { call, note }: Timeline,
): Promise<void> => {
  const { mock, msisdn } = settings
  await call(
    'gateway.health',
    () => client.health(),
    ({ ok, status }) => (ok ? 'The service and database are up.' : `The service does not work: ${status}`),
  )
  await call(
    'gateway.reference',
    () => client.reference(),
    (reference) => `The test numbers and error codes: ${JSON.stringify(reference).slice(0, 48)}…`,
  )

  const request = { msisdn, amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid' }
  const idempotencyKey = `order-${settings.now()}`
  const charge = await call(
    'gateway.charge',
    () => client.charge(request, { idempotencyKey }),
    (created) =>
      `Created charge ${created.id}: ${state(created)}. Redirect the payer to ${created.confirmation_url}`,
  )

  await call(
    'gateway.confirm',
    () => errorOf(client.confirm(charge.confirmation_id, { otp: '000000' })),
    (message) => `The payer enters a wrong code: ${message}`,
  )
  await call(
    'gateway.confirm',
    () => client.confirm(charge.confirmation_id, { otp: SANDBOX_CODE, chargeId: charge.id }),
    (confirmed) => `The payer enters the correct code: ${state(confirmed)}`,
  )
  await call(
    'gateway.status',
    () => client.status(charge.id),
    (read) => `Read the charge: ${state(read)}`,
  )
  await call(
    'gateway.charge',
    () => client.charge(request, { idempotencyKey }),
    ({ id }) =>
      id === charge.id
        ? 'Retried with the same key: the same charge, not a second one'
        : `ANOTHER charge for the same key: ${id}`,
  )

  const dueDate = new Date(settings.now()).toISOString().slice(0, 10)
  const renew = () => client.renew(charge.id, { dueDate })
  const renewal = await call(
    'gateway.renew',
    renew,
    (renewed) => `Renewed as ${renewed.id}: ${state(renewed)}. Key: ${renewalKey(charge.id, dueDate)}`,
  )
  await call('gateway.renew', renew, ({ id }) =>
    id === renewal.id
      ? 'Renewed again for the same due date: the same renewal'
      : `ANOTHER renewal for the same due date: ${id}`,
  )
  if (mock !== undefined)
    note(`The payer paid ${mock.state.charges().length} charges: the first and one renewal`)

  const { failingMsisdn } = settings
  if (failingMsisdn !== undefined) {
    const failing = await call(
      'gateway.charge',
      () => client.charge({ ...request, msisdn: failingMsisdn }),
      ({ id }) => `Created charge ${id} for a number whose charges fail`,
    )
    await client.confirm(failing.confirmation_id, { otp: SANDBOX_CODE })
    await call(
      'gateway.status',
      () => client.status(failing.id),
      (read) => `Read that charge: ${state(read)}`,
    )
  }
  if (settings.reset) {
    await call(
      'gateway.reset',
      () => client.reset(),
      () => `Deleted all charges${mock === undefined ? '' : `: ${mock.state.charges().length} charges left`}`,
    )
  }
}
