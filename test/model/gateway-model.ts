/* Area G as questions: a charge keeps what was done to it, and its status follows from the time of the question. */

const DAY = 86_400_000

type Step = readonly [status: string, outcome: string]

const SUCCEEDED: Step = ['succeeded', 'SUCCEEDED']
const NO_FUNDS: Step = ['failed', 'INSUFFICIENT_FUNDS']
const RETRYING: Step = ['pending_retry', 'RETRYING']
const EXPIRED: Step = ['expired', 'EXPIRED']

/** How a number behaves (row 61): at once, after a retry, and from its second success on. */
interface Behavior {
  readonly first: Step
  readonly retried?: Step
  readonly later?: Step
}

const succeeds: Behavior = { first: SUCCEEDED }

const BEHAVIORS: Readonly<Record<string, Behavior>> = {
  succeeds,
  insufficient_funds: { first: NO_FUNDS },
  wallet_blocked: { first: ['failed', 'WALLET_BLOCKED'] },
  retry_then_succeeds: { first: RETRYING, retried: SUCCEEDED },
  retry_then_fails: { first: RETRYING, retried: NO_FUNDS },
  stays_pending_retry: { first: RETRYING },
  expires: { first: EXPIRED },
  succeeds_once: { first: SUCCEEDED, later: NO_FUNDS },
}

export const BEHAVIOR_NAMES = Object.keys(BEHAVIORS)

export interface ModelCharge {
  readonly id: string
  readonly confirmationId: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly createdAt: number
  /** Whether the charge renews another. */
  readonly isRenewal: boolean
  /** When the code was given, and how the number behaved then. */
  resolved: { readonly at: number; readonly step: Step; readonly retried: Step | undefined } | undefined
}

/** The charges of one mock since its last reset; plain data, so that a structured clone keeps it. */
export interface GatewayModel {
  charges: ModelCharge[]
  /** Scope and key → the bytes of the original response. */
  answers: Map<string, string>
  /** Number → name of its behavior. */
  behaviors: Map<string, string>
}

export const createGatewayModel = (numbers: Readonly<Record<string, string>>): GatewayModel => ({
  charges: [],
  answers: new Map(),
  behaviors: new Map(Object.entries(numbers).map(([name, msisdn]) => [msisdn, name])),
})

/** Status and outcome at a time. */
export const standing = ({ createdAt, resolved }: ModelCharge, now: number): Step => {
  if (resolved === undefined) return now >= createdAt + DAY ? EXPIRED : ['pending_confirmation', 'PENDING']
  const { at, step, retried } = resolved
  return retried !== undefined && now >= at + DAY ? retried : step
}

/** How the number of a charge behaves now. */
export const resolve = ({ charges, behaviors }: GatewayModel, { fields }: ModelCharge, now: number) => {
  const { first, retried, later } = BEHAVIORS[behaviors.get(String(fields.msisdn)) ?? ''] ?? succeeds
  const paid = charges.some(
    (other) => other.fields.msisdn === fields.msisdn && standing(other, now)[0] === 'succeeded',
  )
  return { at: now, step: paid && later !== undefined ? later : first, retried }
}

/** Every event as type, charge, time and status (row 80). */
export const eventsOf = ({ charges }: GatewayModel, now: number): readonly (readonly string[])[] =>
  charges.flatMap(({ createdAt, resolved, isRenewal, id }) => {
    const event = (type: string, at: number, status: string) =>
      at > now ? [] : [[`charge.${type}`, id, new Date(at).toISOString(), status]]
    const pending = 'pending_confirmation'
    if (resolved === undefined) {
      return [...event('created', createdAt, pending), ...event('expired', createdAt + DAY, 'expired')]
    }
    const { at, step, retried } = resolved
    return [
      ...(isRenewal
        ? event('renewed', createdAt, step[0])
        : [...event('created', createdAt, pending), ...event('confirmed', at, pending)]),
      ...event(step[0], at, step[0]),
      ...(retried === undefined ? [] : event(retried[0], at + DAY, retried[0])),
    ]
  })
