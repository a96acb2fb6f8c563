/**
 * Runs a subscription and a charge from beginning to end, on the mock.
 *
 *   npm run quickstart                          in this process, without a network
 *   npm run quickstart -- --http                with the mock behind a local HTTP server
 *   npm run quickstart -- --base-url https://…  against any server; credentials come from the environment:
 *       MANDATEKIT_CLIENT_ID, MANDATEKIT_CLIENT_SECRET, MANDATEKIT_USERNAME, MANDATEKIT_PASSWORD,
 *       MANDATEKIT_API_KEY, and optionally MANDATEKIT_MSISDN and MANDATEKIT_FAILING_MSISDN
 */
import { parseArgs } from 'node:util'
import { GatewayClient, isMandateKitError, SubscriptionsClient } from 'mandatekit'
import { chargeLifecycle } from './quickstart/charge-lifecycle.ts'
import { fromEnvironment, onMock } from './quickstart/settings.ts'
import { subscriptionLifecycle } from './quickstart/subscription-lifecycle.ts'
import { createTimeline } from './quickstart/timeline.ts'

const { values } = parseArgs({
  options: {
    http: { type: 'boolean', default: false },
    'base-url': { type: 'string' },
    'gateway-url': { type: 'string' },
    wait: { type: 'string', default: '60' },
    reset: { type: 'boolean', default: false },
  },
})

const baseUrl = values['base-url']
const settings =
  baseUrl === undefined
    ? await onMock({ http: values.http })
    : fromEnvironment({
        baseUrl,
        gatewayUrl: values['gateway-url'] ?? baseUrl,
        waitMs: Number(values.wait) * 1000,
        reset: values.reset,
      })

const timeline = createTimeline(settings.now)
try {
  timeline.title(`A subscription, on ${settings.subscriptions.baseUrl}`)
  const payments = await subscriptionLifecycle(
    new SubscriptionsClient(settings.subscriptions),
    settings,
    timeline,
  )
  timeline.title(`A charge and its renewal, on ${settings.gateway.baseUrl}`)
  const gateway = new GatewayClient(settings.gateway)
  const { calls, charges } = await chargeLifecycle(gateway, settings, timeline)
  const failed = payments.filter((status) => status === 'FAILED_PAYMENT').length
  timeline.title('Done.')
  timeline.text(
    `Billing cycles: ${payments.length}. Failed payments: ${failed}. A failure does not end the subscription.`,
  )
  timeline.text(
    `Calls for the first payer: ${calls}. Charges: ${charges.size}, because two calls used an earlier call's key.`,
  )
  timeline.text('Next, run npm run example 1, or read docs/shop.md.')
} catch (error) {
  if (!isMandateKitError(error)) throw error
  timeline.note(`Stopped by ${error.name} (outcome: ${error.outcome}): ${error.message}`)
  process.exitCode = 1
} finally {
  await settings.close()
}
