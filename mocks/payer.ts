import { filledText, input, optional } from '../src/contract/fields.ts'
import type { MockInternals } from './assemble.ts'
import { check, rule, strict } from './base/fields.ts'
import { valueOrThrow } from './base/result.ts'
import { paymentScripts } from './subscriptions/options.ts'
import type { Payer } from './types.ts'

const authorizeOptions = strict({ payments: optional(paymentScripts) }, 'option')

/** Accepts an identifier and refuses a URL. Callers often pass the `url` of a response by mistake. */
const identifier = (words: string) => input(`${words}, not its URL`, (value) => !/^https?:\/\//i.test(value))

const text = filledText()

const invoiceID = identifier('the invoiceID of a subscription request')
const eitherId = identifier('the invoiceID or subscriptionId of a subscription')
const confirmation = identifier('the confirmation_id of a charge')

const paymentId = rule<string | number>(
  'the paymentId of a payment',
  (value) => typeof value === 'string' || Number.isSafeInteger(value),
)

/** Creates the `payer` of a mock. */
export const payerOf = ({ subscriptions, gateway }: MockInternals): Payer => ({
  authorize(given, options = {}) {
    const invoiceId = check(invoiceID, given, 'payer.authorize: ', 'invoiceId')
    const { payments } = check(authorizeOptions, options, 'payer.authorize: ')
    return valueOrThrow(
      'payer.authorize',
      subscriptions.domain.authorize(invoiceId, payments && { payments }),
    )
  },
  setPayments(given, scripts) {
    const id = check(eitherId, given, 'payer.setPayments: ', 'id')
    const payments = check(paymentScripts, scripts, 'payer.setPayments: ', 'payments')
    valueOrThrow('payer.setPayments', subscriptions.domain.script(id, payments))
  },
  cancel(given) {
    const id = check(eitherId, given, 'payer.cancel: ', 'id')
    return valueOrThrow('payer.cancel', subscriptions.domain.end(id))
  },
  decline(given) {
    const invoiceId = check(invoiceID, given, 'payer.decline: ', 'invoiceId')
    return valueOrThrow('payer.decline', subscriptions.domain.decline(invoiceId))
  },
  confirm(given, otp = gateway.options.otp) {
    const confirmationId = check(confirmation, given, 'payer.confirm: ', 'confirmationId')
    return valueOrThrow('payer.confirm', gateway.domain.confirm(confirmationId, { otp }))
  },
  setBehavior(number, behavior) {
    const msisdn = check(text, number, 'payer.setBehavior: ', 'msisdn')
    valueOrThrow(
      'payer.setBehavior',
      gateway.domain.setBehavior(msisdn, check(text, behavior, 'payer.setBehavior: ', 'behavior')),
    )
  },
  reverse(given) {
    const payment = check(paymentId, given, 'payer.reverse: ', 'paymentId')
    return valueOrThrow('payer.reverse', subscriptions.domain.reverse(String(payment)))
  },
})
