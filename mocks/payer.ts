import type { MockParts } from './assemble.ts'
import type { Check, Problem } from './domain/check-options.ts'
import { assertPasses, fields, shown, text } from './domain/check-options.ts'
import { granted } from './domain/result.ts'
import { paymentScripts } from './domain/subscriptions/options.ts'
import type { Payer } from './types.ts'

const EXAMPLE = 'such as { payments: ["succeed", "fail"] }'

const scriptFields = fields({}, { payments: paymentScripts })

/** Says with every mistake how a script is written. */
const authorizeOptions: Check = (value) => {
  const found = scriptFields(value)
  if (found === undefined) return undefined
  if (found.known !== undefined) return { ...found, known: [`payments, ${EXAMPLE}`] }
  const { at, must } = found
  if (at === '') return { ...found, must: `an object ${EXAMPLE}` }
  return { ...found, must: at === '.payments' ? `${must}, ${EXAMPLE}` : must, isType: true }
}

const kindOf = (value: unknown): string => {
  if (typeof value === 'string') return 'a URL'
  return typeof value === 'number' ? 'a number' : shown(value)
}

/** Text that is no address: a whole answer, or the page's URL in it, is easily given for the identifier in it. */
const identifier =
  (field: string, of: string): Check =>
  (value): Problem | undefined =>
    typeof value === 'string' && !/^https?:\/\//i.test(value)
      ? undefined
      : { at: '', must: `the ${field} of ${of}`, not: kindOf(value), isType: true }

const invoiceID = identifier('invoiceID', 'a subscription request')
const eitherId = identifier('invoiceID or subscriptionId', 'a subscription')
const confirmation = identifier('confirmation_id', 'a charge')

const paymentId: Check = (value) =>
  typeof value === 'string' || Number.isSafeInteger(value)
    ? undefined
    : { at: '', must: 'the paymentId of a payment', not: kindOf(value), isType: true }

/** What a payer does, done by a test. */
export const payerOf = ({ subscriptions, gateway }: MockParts): Payer => ({
  authorize(invoiceId, options = {}) {
    assertPasses('payer.authorize: the first argument', invoiceId, invoiceID)
    assertPasses('payer.authorize: options', options, authorizeOptions)
    return granted('payer.authorize', subscriptions.domain.authorize(invoiceId, options))
  },
  setPayments(id, payments) {
    assertPasses('payer.setPayments: the first argument', id, eitherId)
    assertPasses('payer.setPayments: payments', payments, paymentScripts)
    granted('payer.setPayments', subscriptions.domain.script(id, payments))
  },
  decline(invoiceId) {
    assertPasses('payer.decline: the first argument', invoiceId, invoiceID)
    return granted('payer.decline', subscriptions.domain.decline(invoiceId))
  },
  confirm(confirmationId, otp = gateway.options.otp) {
    assertPasses('payer.confirm: the first argument', confirmationId, confirmation)
    const result = gateway.domain.confirm(confirmationId, { otp })
    const isCharge = !result.ok && gateway.domain.status(confirmationId).ok
    if (!isCharge) return granted('payer.confirm', result)
    const explanation = 'This is the id of a charge: give its confirmation_id.'
    return granted('payer.confirm', { ok: false, refusal: { ...result.refusal, explanation } })
  },
  setBehavior(msisdn, behavior) {
    assertPasses('payer.setBehavior: msisdn', msisdn, text)
    assertPasses('payer.setBehavior: behavior', behavior, text)
    granted('payer.setBehavior', gateway.domain.setBehavior(msisdn, behavior))
  },
  reverse(payment) {
    assertPasses('payer.reverse: the first argument', payment, paymentId)
    return granted('payer.reverse', subscriptions.domain.reverse(String(payment)))
  },
})
