import { type BehaviorName, comparableNumber } from '../gateway/behaviors.ts'
import type { ReadOptions } from '../options.ts'
import { toMilliseconds } from '../time/duration.ts'
import { type Decision, type Exchange, FOREVER, textOf } from './exchanges.ts'

/** Returns the behavior of a phone number that explains a charge's statuses after its confirmation or renewal. */
const behaviorOf = (statuses: readonly string[], outcome: string): BehaviorName | undefined => {
  const [first = ''] = statuses
  switch (first) {
    case 'succeeded':
      return 'succeeds'
    case 'failed':
      return outcome === 'WALLET_BLOCKED' ? 'wallet_blocked' : 'insufficient_funds'
    case 'expired':
      return 'expires'
    case 'pending_retry':
      if (statuses.includes('succeeded')) return 'retry_then_succeeds'
      return statuses.includes('failed') ? 'retry_then_fails' : 'stays_pending_retry'
    default:
      return undefined
  }
}

interface ChargeSeen {
  readonly msisdn: string
  readonly created: number
  readonly confirmationId: string
  readonly states: {
    readonly index: number
    readonly time: number
    readonly status: string
    readonly outcome: string
  }[]
}

/** Infers from the responses how each wallet behaved, and which charges payers confirmed on the page. */
export const gatewayDecisions = (
  exchanges: readonly Exchange[],
  options: ReadOptions['gateway'],
): Decision[] => {
  const listed = new Map(
    Object.entries(options.testNumbers).map(([msisdn, name]) => [comparableNumber(msisdn), name]),
  )
  const seen = new Map<string, ChargeSeen>()
  const byConfirmation = new Map<string, string>()
  const chargeOf = ({ operation, id, body }: Exchange): string => {
    if (operation === 'gateway.confirm') return byConfirmation.get(id) ?? ''
    return operation === 'gateway.status' ? id : textOf(body, 'id')
  }
  exchanges.forEach((exchange, index) => {
    const { body, id, operation, fields, succeeded, time } = exchange
    if (!succeeded || !operation?.startsWith('gateway.')) return
    const chargeId = chargeOf(exchange)
    if ((operation === 'gateway.charge' || operation === 'gateway.renew') && !seen.has(chargeId)) {
      const confirmationId = textOf(body, 'confirmation_id')
      const msisdn = textOf(fields, 'msisdn') || (seen.get(id)?.msisdn ?? '')
      seen.set(chargeId, { msisdn, created: time, confirmationId, states: [] })
      byConfirmation.set(confirmationId, chargeId)
    }
    // Only a succeeded charge can be renewed.
    if (operation === 'gateway.renew')
      seen.get(id)?.states.push({ index, time, status: 'succeeded', outcome: 'SUCCEEDED' })
    const [status, outcome] = [textOf(body, 'status'), textOf(body, 'outcome')]
    if (status !== '') seen.get(chargeId)?.states.push({ index, time, status, outcome })
  })

  const ttl = options.confirmationTtl === false ? FOREVER : toMilliseconds(options.confirmationTtl)
  const delay = options.retryDelay === false ? FOREVER : toMilliseconds(options.retryDelay)
  /** Returns whether a charge expired before its time, and not because of wrong codes. */
  const isEarly = (chargeId: string, index: number): boolean => {
    const { created = 0, confirmationId } = seen.get(chargeId) ?? {}
    const codes = exchanges
      .slice(0, index)
      .filter(({ operation, id }) => operation === 'gateway.confirm' && id === confirmationId)
    const isUsedUp = options.maxOtpAttempts !== false && codes.length >= options.maxOtpAttempts
    return (exchanges[index]?.time ?? 0) < created + ttl && !isUsedUp
  }
  const settled = new Set<string>()
  const decisions: Decision[] = []
  const settle = (chargeId: string, before: number, time: number, isOnPage: boolean): void => {
    const charge = seen.get(chargeId)
    if (charge === undefined || settled.has(chargeId)) return
    settled.add(chargeId)
    const { created, msisdn, confirmationId } = charge
    const later = charge.states.filter(({ index }) => index >= before)
    const outcome = later.find((each) => each.outcome !== 'RETRYING')?.outcome ?? ''
    const behavior = behaviorOf(
      later.map(({ status }) => status),
      outcome,
    )
    const retried =
      later[0]?.status === 'pending_retry'
        ? later.find(({ status }) => status !== 'pending_retry')
        : undefined
    const latest = Math.min(
      time,
      created + ttl - 1,
      (retried?.time ?? FOREVER) - (retried === undefined ? 0 : delay),
    )
    decisions.push({
      time: isOnPage ? Math.max(created, latest) : time,
      before,
      act(mock, mapped) {
        const known = listed.get(comparableNumber(msisdn))
        // Otherwise, charges that no response shows may have changed the number's result, or the time of its result.
        const isSure = known !== undefined && known !== 'succeeds_once' && !isOnPage
        const chosen = isSure ? known : behavior
        if (chosen !== undefined && msisdn !== '') mock.payer.setBehavior(msisdn, chosen)
        if (isOnPage) mock.payer.confirm(mapped(confirmationId))
      },
    })
  }
  exchanges.forEach((exchange, before) => {
    const { operation, id, time, succeeded, body, response } = exchange
    const status = textOf(body, 'status')
    const isLate = status === 'expired' || /expired/i.test(JSON.stringify(body.error ?? ''))
    const isOpen =
      ['', 'pending_confirmation'].includes(status) || (isLate && !isEarly(chargeOf(exchange), before))
    const isConfirmed =
      operation === 'gateway.confirm' &&
      response?.status === 409 &&
      (!isLate || isEarly(chargeOf(exchange), before))
    if (isConfirmed || (operation === 'gateway.status' && succeeded && !isOpen))
      settle(chargeOf(exchange), before, time, true)
    if (!succeeded) return
    if (operation === 'gateway.confirm') settle(chargeOf(exchange), before, time, false)
    if (operation === 'gateway.renew') settle(id, before, time, true)
    if (operation === 'gateway.renew') settle(chargeOf(exchange), before, time, false)
  })
  return decisions
}
