/* Area G as questions: a charge keeps what was done to it, and its status follows from the time asked. */

const DAY = 86_400_000

type Step = readonly [status: string, outcome: string]

const SUCCEEDED: Step = ['succeeded', 'SUCCEEDED']
const NO_FUNDS: Step = ['failed', 'INSUFFICIENT_FUNDS']
const RETRYING: Step = ['pending_retry', 'RETRYING']
const EXPIRED: Step = ['expired', 'EXPIRED']

/** How the eight behaviors end (row 61): at once, later, and from the number's second success on. */
const BEHAVIORS: Readonly<Record<string, { first: Step; retried?: Step; later?: Step }>> = {
  succeeds: { first: SUCCEEDED },
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
  /** Set when the charge renews another. */
  readonly mandateId: string | undefined
  /** When the code came, and how the number behaved then. */
  resolved: { readonly at: number; readonly step: Step; readonly retried: Step | undefined } | undefined
}

/** Status and outcome at a time. */
export const standing = ({ createdAt, resolved }: ModelCharge, now: number): Step => {
  if (resolved === undefined) return now >= createdAt + DAY ? EXPIRED : ['pending_confirmation', 'PENDING']
  const { at, step, retried } = resolved
  return retried !== undefined && now >= at + DAY ? retried : step
}

/** The charges of one mock since its last reset. */
export class GatewayModel {
  charges: ModelCharge[] = []
  /** Scope and key → the first answer's bytes. */
  answers = new Map<string, string>()
  behaviors: Map<string, string>

  constructor(numbers: Readonly<Record<string, string>>) {
    this.behaviors = new Map(Object.entries(numbers).map(([name, msisdn]) => [msisdn, name]))
  }

  byId(id: string): ModelCharge | undefined {
    return this.charges.find((charge) => charge.id === id)
  }

  byConfirmation(id: string): ModelCharge | undefined {
    return this.charges.find(({ confirmationId }) => confirmationId === id)
  }

  /** What the number does now. */
  resolve(charge: Pick<ModelCharge, 'fields'>, now: number): Exclude<ModelCharge['resolved'], undefined> {
    const { msisdn } = charge.fields
    const { first, retried, later } = BEHAVIORS[this.behaviors.get(String(msisdn)) ?? 'succeeds'] ??
      BEHAVIORS.succeeds ?? { first: SUCCEEDED }
    const paid = this.charges.some(
      (other) => other.fields.msisdn === msisdn && standing(other, now)[0] === 'succeeded',
    )
    return { at: now, step: paid && later !== undefined ? later : first, retried }
  }

  copy(): GatewayModel {
    const copy = new GatewayModel({})
    copy.charges = structuredClone(this.charges)
    copy.answers = new Map(this.answers)
    copy.behaviors = new Map(this.behaviors)
    return copy
  }

  reset(): void {
    this.charges = []
    this.answers = new Map()
  }

  /** Every event of a charge as type, charge, time and status (row 80). */
  events(now: number): readonly (readonly string[])[] {
    return this.charges.flatMap((charge) => {
      const { createdAt, resolved, mandateId, id } = charge
      const event = (type: string, at: number, status: string) => [
        `charge.${type}`,
        id,
        new Date(at).toISOString(),
        status,
      ]
      const list: (readonly string[])[] = []
      if (mandateId === undefined) list.push(event('created', createdAt, 'pending_confirmation'))
      else list.push(event('renewed', createdAt, resolved?.step[0] ?? ''))
      if (resolved === undefined) {
        if (now >= createdAt + DAY) list.push(event('expired', createdAt + DAY, 'expired'))
        return list
      }
      const { at, step, retried } = resolved
      if (mandateId === undefined) list.push(event('confirmed', at, 'pending_confirmation'))
      list.push(event(step[0], at, step[0]))
      if (retried !== undefined && now >= at + DAY) list.push(event(retried[0], at + DAY, retried[0]))
      return list
    })
  }
}
