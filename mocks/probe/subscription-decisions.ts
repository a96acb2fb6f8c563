import { dayNumber } from '../../src/contract/formats.ts'
import type { ReadOptions } from '../options.ts'
import { CYCLE_DAYS } from '../subscriptions/billing.ts'
import { defaultErrorCodes, type PaymentScript } from '../subscriptions/options.ts'
import { createCalendar, parseTimeOfDay } from '../time/calendar.ts'
import { toMilliseconds } from '../time/duration.ts'
import { type Decision, type Exchange, FOREVER, paymentsOf, textOf } from './exchanges.ts'

type Payments = ReadonlyMap<
  string,
  { readonly dueDate: string; readonly at: string; readonly status: string }
>

/** Returns the results of all payments in order. A payment that no response shows counts as a success. */
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
export const subscriptionDecisions = (
  exchanges: readonly Exchange[],
  options: ReadOptions['subscriptions'],
): Decision[] => {
  const { timeZone, debitTime, enabledValues, requestTtl, cancelDelay, cancelTwice, errorCodes } = options
  const calendar = createCalendar(timeZone)
  const debitSecond = parseTimeOfDay(debitTime) ?? 0
  const ttl = requestTtl === false ? FOREVER : toMilliseconds(requestTtl)
  const invoices = new Map<string, string>()
  const requests = new Map<string, { created: number; start: string; end: string; step: number }>()
  const payments = new Map<string, Map<string, { dueDate: string; at: string; status: string }>>()
  for (const exchange of exchanges) {
    const { operation, succeeded, body, fields, time } = exchange
    if (operation === 'subscriptions.subscribe' && succeeded) {
      const invoice = textOf(body, 'invoiceID')
      const cycle = textOf(fields, 'cycle')
      const step = Object.entries(CYCLE_DAYS).find(([name]) => name === cycle)?.[1] ?? 1
      const [start, end] = [textOf(fields, 'start'), textOf(fields, 'end')]
      requests.set(invoice, { created: time, start, end, step })
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
  const decided = new Map<string, 'authorized' | 'declined'>()
  /** The first exchange after which the payer can no longer decide, unless a cancellation is still in progress. */
  const closed = new Map<string, { readonly index: number; readonly time: number }>()
  const reversed = new Set<string>()
  const decisions: (Decision & { readonly invoice?: string })[] = []
  const openUntil = new Map<string, number>()
  const dueAfter = (request: { readonly start: string; readonly step: number }, at: number): number => {
    const firstDay = dayNumber(request.start) ?? 0
    const passed = Math.max(0, Math.ceil((calendar.dayAt(at) - firstDay) / request.step))
    const [next = 0, afterNext = 0] = [passed, passed + 1].map((count) =>
      calendar.instantOf(firstDay + count * request.step, debitSecond),
    )
    return next > at ? next : afterNext
  }
  const isUnpaidAt = (exchange: Exchange, due: number): boolean =>
    exchange.operation === 'subscriptions.payments' &&
    exchange.succeeded &&
    !exchange.request.path.includes('?') &&
    paymentsOf(exchange).length === 0 &&
    due <= exchange.time
  exchanges.forEach((exchange, before) => {
    const { operation, succeeded, body, time, id } = exchange
    const invoice = operation === 'subscriptions.status' ? id : (invoices.get(id) ?? '')
    const request = requests.get(invoice)
    const isRefused =
      operation === 'subscriptions.cancel' &&
      !succeeded &&
      cancelTwice === 'refuse' &&
      textOf(body, 'errorCode') === { ...defaultErrorCodes, ...errorCodes }.state
    if (request === undefined || !(succeeded || isRefused)) return
    const end = closed.get(invoice)
    const status = operation === 'subscriptions.status' ? textOf(body, 'status') : ''
    if (status === 'INITIALIZED') openUntil.set(invoice, time)
    const flag = operation === 'subscriptions.details' ? body.enabled : undefined
    const has = (value: unknown): boolean =>
      [value, String(value), Boolean(value), String(Boolean(value))].includes(Object(flag).valueOf())
    // As booleans, both values may be equal.
    const is = (name: 'active' | 'inactive'): boolean =>
      has(enabledValues[name]) && !has(enabledValues[name === 'active' ? 'inactive' : 'active'])
    const daysLeft = (dayNumber(request.end) ?? 0) - calendar.dayAt(time)
    const known = decisions.findLast((each) => each.invoice === invoice)?.time ?? request.created
    // If a payment is due but does not exist, the payer has canceled.
    const due = dueAfter(request, known)
    const isUnpaid = isUnpaidAt(exchange, due)
    const isEnded = is('inactive') && daysLeft >= 0
    const hasNoNext = body.nextPaymentDate === null && daysLeft > request.step
    const paid = payments.get(invoice)
    const isPaid = operation === 'subscriptions.payments' && paymentsOf(exchange).length > 0
    const decide = (latest: number, act: Decision['act']): void => {
      // While a cancellation is processed, the payer can still decide.
      const last = end === undefined ? FOREVER : end.time + Math.max(0, delay - 1)
      const at = Math.max(request.created, Math.min(time, latest, request.created + ttl - 1, last))
      decisions.push({
        invoice,
        time: at,
        before: end !== undefined && delay === 0 ? end.index : before,
        act,
      })
    }
    if (!decided.has(invoice) && (status === 'SUCCEEDED' || is('active') || isPaid)) {
      decided.set(invoice, 'authorized')
      const firstDue = [...(paid?.values() ?? [])].map(({ dueDate }) => dueDate).sort()[0]
      const day = dayNumber(firstDue ?? '')
      const slot = day === undefined ? time : calendar.instantOf(day, debitSecond)
      const scripts = scriptsOf(paid ?? new Map(), request.step)
      decide(slot, (mock, mapped) => void mock.payer.authorize(mapped(invoice), { payments: scripts }))
    } else if (!decided.has(invoice) && status === 'FAILED') {
      decided.set(invoice, 'declined')
      // The details still show the date that was next when the payer declined.
      const details = exchanges
        .slice(before)
        .find((each) => each.operation === 'subscriptions.details' && invoices.get(each.id) === invoice)
      const next = dayNumber(textOf(details?.body ?? {}, 'nextPaymentDate').slice(0, 10))
      const slot = next === undefined ? time : calendar.instantOf(next, debitSecond) - 1
      decide(slot, (mock, mapped) => void mock.payer.decline(mapped(invoice)))
    } else if (end === undefined && operation === 'subscriptions.cancel' && succeeded) {
      closed.set(invoice, { index: before, time })
    } else if (
      end === undefined &&
      (isRefused ||
        status === 'CANCELLED' ||
        operation === 'subscriptions.cancellation' ||
        (decided.get(invoice) === 'authorized' && (isEnded || hasNoNext || isUnpaid)))
    ) {
      closed.set(invoice, { index: before, time })
      const isRunning =
        isRefused || (operation === 'subscriptions.cancellation' && textOf(body, 'status') === 'PROCESSING')
      const lastTime = decided.has(invoice) ? FOREVER : request.created + ttl - 1
      const firstDue = dueAfter(request, openUntil.get(invoice) ?? request.created)
      const wasNeverPaid = exchanges.some(
        (each) => invoices.get(each.id) === invoice && isUnpaidAt(each, firstDue),
      )
      const latest = Math.min(isUnpaid ? due - 1 : time, wasNeverPaid ? firstDue - 1 : time, lastTime)
      const at = isRunning ? time : Math.max(request.created, latest - delay)
      // The payer authorized before canceling, although the recordings show it later.
      const index = decisions.findLastIndex((each) => each.invoice === invoice)
      const earlier = decisions[index]
      if (earlier !== undefined && earlier.time > at) decisions[index] = { ...earlier, time: at }
      decisions.push({
        invoice,
        time: at,
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
