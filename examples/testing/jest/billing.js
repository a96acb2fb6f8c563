const { isMandateKitError } = require('mandatekit')
const { createNotificationHandler, lookupVerifier } = require('mandatekit/notifications')

/**
 * The code under test: renews every mandate for one due date, and returns a result for each mandate.
 *
 * @param {import('mandatekit').GatewayClient} gateway
 * @param {readonly string[]} mandates
 * @param {string} dueDate such as `2027-02-01`. The key contains the due date, so a second run charges no payer twice
 */
async function billCycle(gateway, mandates, dueDate) {
  /** @type {Record<string, string>} */
  const results = {}
  for (const mandate of mandates) {
    try {
      results[mandate] = (await gateway.renew(mandate, { dueDate })).status
    } catch (error) {
      if (!isMandateKitError(error)) throw error
      results[mandate] = error.outcome === 'unknown' ? 'run again' : error.code
    }
  }
  return results
}

/** Keeps records of the payments that notifications report. */
function createBooks(/** @type {import('mandatekit').SubscriptionsClient} */ subscriptions) {
  /** @type {Map<string, string>} */
  const payments = new Map()
  const receive = createNotificationHandler({
    verify: lookupVerifier(subscriptions),
    onPayment: ({ paymentId, status }) => {
      if (payments.has(paymentId)) throw new Error(`Payment ${paymentId} was reported twice.`)
      payments.set(paymentId, status)
    },
    onSubscription: () => undefined,
  })
  return { payments, receive }
}

module.exports = { billCycle, createBooks }
