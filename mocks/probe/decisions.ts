import { dayNumber } from '../../src/contract/formats.ts'
import type { BehaviorName } from '../gateway/behaviors.ts'
import { comparableNumber } from '../gateway/behaviors.ts'
import type { MockOptions, ReadOptions } from '../options.ts'
import { CYCLE_DAYS } from '../subscriptions/billing.ts'
import {
  defaultMerchant,
  type MerchantOptions,
  type PaymentScript,
  type SeedToken,
} from '../subscriptions/options.ts'
import { createCalendar, parseTimeOfDay } from '../time/calendar.ts'
import { toMilliseconds } from '../time/duration.ts'
import type { Mock } from '../types.ts'
import { type Exchange, paymentsOf, textOf } from './exchanges.ts'

const FOREVER = 8_000_000_000_000_000
const UNKNOWN = 'unknown'

/** Returns the merchants and tokens with which the server accepted the recorded logins and calls. */
const credentialsOf = (exchanges: readonly Exchange[]) => {
  const merchants = new Map<string, { clientSecret: string; users: MerchantOptions['users'][number][] }>()
  const issued = new Set<string>()
  const tokens = new Map<string, SeedToken & { isRefused: boolean }>()
  const requests = exchanges.filter(
    ({ operation, succeeded }) => operation === 'subscriptions.subscribe' && succeeded,
  )
  for (const { operation, succeeded, fields, body, bearer, area, response, time } of exchanges) {
    if (operation === 'subscriptions.login' && succeeded) {
      issued.add(textOf(body, 'access_token'))
      if (fields.grant_type !== 'password') continue
      const merchant = merchants.get(textOf(fields, 'client_id'))
      const { clientSecret = textOf(fields, 'client_secret'), users = [] } = merchant ?? {}
      const [username, password] = [textOf(fields, 'username'), textOf(fields, 'password')]
      if (!users.some((user) => user.username === username)) users.push({ username, password })
      merchants.set(textOf(fields, 'client_id'), { clientSecret, users })
    } else if (area === 'subscriptions' && bearer !== '' && !issued.has(bearer)) {
      // The token is older than the recordings. It was valid until the first 401.
      const isRefused = response?.status === 401
      const known = tokens.get(bearer)
      if (known === undefined) tokens.set(bearer, { accessToken: bearer, expiresAt: FOREVER, isRefused })
      else if (isRefused && known.expiresAt === FOREVER) tokens.set(bearer, { ...known, expiresAt: time })
    }
  }
  for (const { fields } of requests) {
    const clientId = textOf(fields, 'clientID')
    const users = merchants.size === 0 ? [...defaultMerchant.users] : []
    if (!merchants.has(clientId)) merchants.set(clientId, { clientSecret: UNKNOWN, users })
  }
  const named = [...merchants].map(([clientId, merchant]) => ({ name: clientId, clientId, ...merchant }))
  const seeds = [...tokens.values()].flatMap(({ isRefused, ...token }) => (isRefused ? [] : [token]))
  return { merchants: named.length === 0 ? [defaultMerchant] : named, tokens: seeds }
}

/** Returns the options of the mock that replays the exchanges: those given, with the recorded credentials. */
export const replayOptions = (exchanges: readonly Exchange[], options: ReadOptions): MockOptions => {
  const keys = new Set<string>()
  const isKey = ({ area, bearer, response }: Exchange): boolean =>
    area === 'gateway' && bearer !== '' && ![undefined, 401, 429].includes(response?.status)
  for (const exchange of exchanges) if (isKey(exchange)) keys.add(exchange.bearer)
  return {
    ...options,
    clock: exchanges[0]?.time ?? 0,
    sleep: 'jump',
    rateLimitTime: 'mock',
    faults: [],
    subscriptions: { ...options.subscriptions, ...credentialsOf(exchanges), notify: [], existing: [] },
    gateway: { ...options.gateway, apiKeys: keys.size === 0 ? ['none'] : [...keys], charges: [] },
  }
}

/** Returns the one-time codes that the server accepted. A correct code for a settled charge gets 409 (row 77). */
export const acceptedCodes = (exchanges: readonly Exchange[]): readonly string[] =>
  exchanges.flatMap(({ operation, succeeded, fields, response }) =>
    operation === 'gateway.confirm' && (succeeded || response?.status === 409) ? [textOf(fields, 'otp')] : [],
  )

/** Something that a payer did between two exchanges. */
export interface Decision {
  /** The latest time at which the payer can have done this. */
  readonly time: number
  /** The index of the first exchange that shows it. */
  readonly before: number
  /** Does the same on the mock. `mapped` returns the mock's identifier of a recorded one. */
  act(mock: Mock, mapped: (id: string) => string): void
}

type Payments = ReadonlyMap<
  string,
  { readonly dueDate: string; readonly at: string; readonly status: string }
>

/** Returns the outcomes of all payments in order. A due date between two others that was not seen has succeeded. */
const scriptsOf = (payments: Payments, step: number): readonly PaymentScript[] => {
  const inOrder = [...payments.values()].sort((one, other) => one.at.localeCompare(other.at))
  let last = dayNumber(inOrder[0]?.dueDate ?? '') ?? 0
  return inOrder.flatMap(({ dueDate, status }): PaymentScript[] => {
    const day = dayNumber(dueDate) ?? last
    const unseen = Math.max(0, Math.round((day - last) / step) - 1)
    last = Math.max(last, day)
    return [...Array<'succeed'>(unseen).fill('succeed'), status === 'FAILED_PAYMENT' ? 'fail' : 'succeed']
  })
}

/** Infers from the responses when payers authorized, declined and canceled, and which payments were reversed. */
const subscriptionDecisions = (
  exchanges: readonly Exchange[],
  options: ReadOptions['subscriptions'],
): Decision[] => {
  const { timeZone, debitTime, enabledValues, requestTtl, cancelDelay } = options
  const calendar = createCalendar(timeZone)
  const ttl = requestTtl === false ? FOREVER : toMilliseconds(requestTtl)
  const invoices = new Map<string, string>()
  const requests = new Map<string, { invoice: string; created: number; end: string; step: number }>()
  const payments = new Map<string, Map<string, { dueDate: string; at: string; status: string }>>()
  for (const exchange of exchanges) {
    const { operation, succeeded, body, fields, time } = exchange
    if (operation === 'subscriptions.subscribe' && succeeded) {
      const invoice = textOf(body, 'invoiceID')
      const cycle = textOf(fields, 'cycle')
      const step = Object.entries(CYCLE_DAYS).find(([name]) => name === cycle)?.[1] ?? 1
      requests.set(invoice, { invoice, created: time, end: textOf(fields, 'end'), step })
      invoices.set(textOf(fields, 'requestID'), invoice)
    }
    if (operation === 'subscriptions.status')
      invoices.set(textOf(body, 'subscriptionId'), textOf(body, 'invoiceId'))
    if (operation === 'subscriptions.details' && !invoices.has(textOf(body, 'id')))
      invoices.set(textOf(body, 'id'), invoices.get(textOf(body, 'requestID')) ?? '')
    for (const payment of paymentsOf(exchange)) {
      const invoice = invoices.get(textOf(payment, 'subscriptionId')) ?? ''
      const known = payments.get(invoice) ?? new Map()
      const [dueDate, at, status] = [
        textOf(payment, 'dueDate'),
        textOf(payment, 'transactionDate'),
        textOf(payment, 'status'),
      ]
      payments.set(invoice, known.set(textOf(payment, 'paymentId'), { dueDate, at, status }))
    }
  }

  const delay = toMilliseconds(cancelDelay)
  const authorized = new Set<string>()
  /** The first exchange after which no payer can decide, unless a cancellation is still running. */
  const closed = new Map<string, { readonly index: number; readonly time: number }>()
  const reversed = new Set<string>()
  const decisions: (Decision & { readonly invoice?: string })[] = []
  exchanges.forEach((exchange, before) => {
    const { operation, succeeded, body, time, id } = exchange
    const invoice = operation === 'subscriptions.status' ? id : (invoices.get(id) ?? '')
    const request = requests.get(invoice)
    if (request === undefined || !succeeded) return
    const end = closed.get(invoice)
    const status = operation === 'subscriptions.status' ? textOf(body, 'status') : ''
    const flag = operation === 'subscriptions.details' ? body.enabled : undefined
    const has = (value: unknown): boolean =>
      [value, String(value), Boolean(value), String(Boolean(value))].includes(Object(flag).valueOf())
    // As a boolean, both values may look alike.
    const is = (name: 'active' | 'inactive'): boolean =>
      has(enabledValues[name]) && !has(enabledValues[name === 'active' ? 'inactive' : 'active'])
    const paid = payments.get(invoice)
    const isPaid = operation === 'subscriptions.payments' && paymentsOf(exchange).length > 0
    if (!authorized.has(invoice) && (status === 'SUCCEEDED' || is('active') || isPaid)) {
      authorized.add(invoice)
      const firstDue = [...(paid?.values() ?? [])].map(({ dueDate }) => dueDate).sort()[0]
      const day = dayNumber(firstDue ?? '')
      const slot = day === undefined ? time : calendar.instantOf(day, parseTimeOfDay(debitTime) ?? 0)
      const scripts = scriptsOf(paid ?? new Map(), request.step)
      const last = end === undefined ? FOREVER : end.time + Math.max(0, delay - 1)
      decisions.push({
        invoice,
        time: Math.max(request.created, Math.min(time, slot, request.created + ttl - 1, last)),
        before: end !== undefined && delay === 0 ? end.index : before,
        act: (mock, mapped) => void mock.payer.authorize(mapped(invoice), { payments: scripts }),
      })
    } else if (end === undefined && status === 'FAILED') {
      closed.set(invoice, { index: before, time })
      decisions.push({
        time: Math.min(time, request.created + ttl - 1),
        before,
        act: (mock, mapped) => void mock.payer.decline(mapped(invoice)),
      })
    } else if (end === undefined && operation === 'subscriptions.cancel') {
      closed.set(invoice, { index: before, time })
    } else if (
      end === undefined &&
      (status === 'CANCELLED' ||
        operation === 'subscriptions.cancellation' ||
        (authorized.has(invoice) && is('inactive') && calendar.dayAt(time) <= (dayNumber(request.end) ?? 0)))
    ) {
      closed.set(invoice, { index: before, time })
      const isRunning = operation === 'subscriptions.cancellation' && textOf(body, 'status') === 'PROCESSING'
      const decided = decisions.findLast((each) => each.invoice === invoice)?.time ?? request.created
      decisions.push({
        invoice,
        time: isRunning ? time : Math.max(decided, time - delay),
        before,
        act: (mock, mapped) => void mock.payer.cancel(mapped(invoice)),
      })
    }
    for (const payment of paymentsOf(exchange)) {
      const [paymentId, dueDate] = [textOf(payment, 'paymentId'), textOf(payment, 'dueDate')]
      if (textOf(payment, 'reverseTransactionId') === '' || reversed.has(paymentId)) continue
      reversed.add(paymentId)
      decisions.push({
        time,
        before,
        act(mock, mapped) {
          const all = mock.state.payments(mapped(textOf(payment, 'subscriptionId')))
          const found =
            all.find((each) => String(each.paymentId) === mapped(paymentId)) ??
            all.find((each) => each.dueDate === dueDate)
          if (found !== undefined) mock.payer.reverse(found.paymentId)
        },
      })
    }
  })
  return decisions
}

/** Returns the behavior of a phone number that explains the statuses of a charge since it was confirmed or renewed. */
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
const gatewayDecisions = (exchanges: readonly Exchange[], options: ReadOptions['gateway']): Decision[] => {
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
        // Charges that no response shows may have changed the result of such a number, or its time.
        const isSure = known !== undefined && known !== 'succeeds_once' && !isOnPage
        const chosen = isSure ? known : behavior
        if (chosen !== undefined && msisdn !== '') mock.payer.setBehavior(msisdn, chosen)
        if (isOnPage) mock.payer.confirm(mapped(confirmationId))
      },
    })
  }
  exchanges.forEach((exchange, before) => {
    const { operation, id, time, succeeded, body, response } = exchange
    const isOpen = ['', 'pending_confirmation', 'expired'].includes(textOf(body, 'status'))
    const isConfirmed =
      operation === 'gateway.confirm' && response?.status === 409 && !/expired/i.test(JSON.stringify(body))
    if (isConfirmed || (operation === 'gateway.status' && succeeded && !isOpen))
      settle(chargeOf(exchange), before, time, true)
    if (!succeeded) return
    if (operation === 'gateway.confirm') settle(chargeOf(exchange), before, time, false)
    if (operation === 'gateway.renew') settle(id, before, time, true)
    if (operation === 'gateway.renew') settle(chargeOf(exchange), before, time, false)
  })
  return decisions
}

/** Infers what the payers did, in the order in which the mock has to do it. */
export const decisionsOf = (exchanges: readonly Exchange[], options: ReadOptions): readonly Decision[] =>
  [
    ...subscriptionDecisions(exchanges, options.subscriptions),
    ...gatewayDecisions(exchanges, options.gateway),
  ].sort((one, other) => one.time - other.time || one.before - other.before)
