const { isMandateKitError } = require('mandatekit')
const { createNotificationHandler, lookupVerifier } = require('mandatekit/notifications')

/**
 * The code under test: takes the money of a cycle from every mandate, and says what is to be done about each.
 *
 * @param {import('mandatekit').GatewayClient} gateway
 * @param {readonly string[]} mandates
 * @param {string} cycle for example `2027-02-01`; it makes the key, so running a cycle again charges nobody twice
 */
async function billCycle(gateway, mandates, cycle) {
  /** @type {Record<string, string>} */
  const results = {}
  for (const mandate of mandates) {
    try {
      results[mandate] = (await gateway.renew(mandate, { cycle })).status
    } catch (error) {
      if (!isMandateKitError(error)) throw error
      results[mandate] = error.outcome === 'unknown' ? 'run again' : error.code
    }
  }
  return results
}

/** Keeps an account of what the platform says about payments. */
function createBooks(/** @type {import('mandatekit').SubscriptionsClient} */ subscriptions) {
  /** @type {Map<string, string>} */
  const payments = new Map()
  const receive = createNotificationHandler({
    verify: lookupVerifier(subscriptions),
    onPayment: ({ paymentId, status }) => {
      if (payments.has(paymentId)) throw new Error(`Payment ${paymentId} was told twice.`)
      payments.set(paymentId, status)
    },
    onSubscription: () => undefined,
  })
  return { payments, receive }
}

module.exports = { billCycle, createBooks }
