import { ApiError, type Charge, type GatewayClient } from 'mandatekit'
import type { Settings } from './settings.ts'
import type { Timeline } from './timeline.ts'

// Every test number has this one-time code (G confirm).
const SANDBOX_CODE = '123456'

const state = ({ status, outcome }: Partial<Charge>): string =>
  status === 'failed' ? `failed, ${outcome}` : String(status)

/** Returns the status of the error response that a call must get. */
const refusalOf = async (made: Promise<unknown>): Promise<number | undefined> => {
  try {
    await made
  } catch (error) {
    if (error instanceof ApiError) return error.status
    throw error
  }
  throw new Error('The gateway accepted a wrong code.')
}

/** Which charges the program made. */
interface Charged {
  /** How many calls could have charged the payer. */
  readonly calls: number
  /** The identifiers of the charges that those calls returned. */
  readonly charges: ReadonlySet<string>
}

/** Calls `health` and `reference`, creates a charge, confirms and renews the charge, and calls `reset`. */
export const chargeLifecycle = async (
  client: GatewayClient,
  settings: Settings,
  { call }: Timeline,
): Promise<Charged> => {
  const { msisdn } = settings
  await call(
    'gateway.health',
    () => client.health(),
    ({ ok, status }) => (ok ? 'The gateway works.' : `The gateway does not work: HTTP ${status}.`),
  )
  await call(
    'gateway.reference',
    () => client.reference(),
    () => 'The gateway lists test numbers and a one-time code.',
  )

  const request = { msisdn, amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid' }
  const idempotencyKey = `order-${settings.now()}`
  const charge = await call(
    'gateway.charge',
    () => client.charge(request, { idempotencyKey }),
    (created) =>
      `A charge of 250 BDT: ${state(created)}. The shop sends the payer to ${created.confirmation_url}`,
  )

  await call(
    'gateway.confirm',
    () => refusalOf(client.confirm(charge.confirmation_id, { otp: '000000' })),
    (status) => `The gateway refuses a wrong code: HTTP ${status}.`,
  )
  await call(
    'gateway.confirm',
    () => client.confirm(charge.confirmation_id, { otp: SANDBOX_CODE, chargeId: charge.id }),
    (confirmed) => `The payer enters the correct code: ${state(confirmed)}.`,
  )
  await call(
    'gateway.status',
    () => client.status(charge.id),
    (read) => `The status of the charge: ${state(read)}.`,
  )
  const again = await call(
    'gateway.charge',
    () => client.charge(request, { idempotencyKey }),
    ({ id }) =>
      id === charge.id
        ? 'A call with the same key made no second charge.'
        : `ANOTHER charge for the same key: ${id}.`,
  )

  const dueDate = new Date(settings.now()).toISOString().slice(0, 10)
  const renew = () => client.renew(charge.id, { dueDate })
  const renewal = await call(
    'gateway.renew',
    renew,
    (renewed) => `The renewal for ${dueDate} needs no code: ${state(renewed)}.`,
  )
  const renewedAgain = await call('gateway.renew', renew, ({ id }) =>
    id === renewal.id
      ? 'A call for the same date made no second renewal.'
      : `ANOTHER renewal for the same due date: ${id}.`,
  )
  const charges = new Set([charge, again, renewal, renewedAgain].map(({ id }) => id))

  const { failingMsisdn } = settings
  if (failingMsisdn !== undefined) {
    const failing = await call(
      'gateway.charge',
      () => client.charge({ ...request, msisdn: failingMsisdn }),
      () => 'The shop charges another payer, whose charges fail.',
    )
    await client.confirm(failing.confirmation_id, { otp: SANDBOX_CODE })
    await call(
      'gateway.status',
      () => client.status(failing.id),
      (read) => `The other charge: ${state(read)}.`,
    )
  }
  if (settings.reset) {
    await call(
      'gateway.reset',
      () => client.reset(),
      () => 'The gateway deleted all charges of the sandbox.',
    )
  }
  return { calls: 4, charges }
}
