import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { onTestFinished } from 'vitest'
import { chargeLifecycle } from '../../examples/quickstart/charge-lifecycle.ts'
import { onMock } from '../../examples/quickstart/settings.ts'
import { subscriptionLifecycle } from '../../examples/quickstart/subscription-lifecycle.ts'

type Fetch = typeof globalThis.fetch

const timeline = {
  title: () => undefined,
  text: () => undefined,
  note: () => undefined,
  call: async <Value>(_operation: string, run: () => Promise<Value>) => run(),
}

/** Runs the quickstart with the `fetch` that `watch` makes, on a mock in this process or behind a server. */
export const runQuickstart = async (
  { http }: { readonly http: boolean },
  watch: (fetch: Fetch, baseUrl: string) => Fetch | Promise<Fetch>,
): Promise<void> => {
  const settings = await onMock({ http })
  onTestFinished(settings.close)
  const own = http ? globalThis.fetch : (settings.mock?.fetch ?? globalThis.fetch)
  const fetch = await watch(own as Fetch, String(settings.gateway.baseUrl))
  const subscriptions = new SubscriptionsClient({ ...settings.subscriptions, fetch })
  await subscriptionLifecycle(subscriptions, settings, timeline)
  await chargeLifecycle(new GatewayClient({ ...settings.gateway, fetch }), settings, timeline)
}
