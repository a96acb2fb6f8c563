import type * as client from 'mandatekit'
import type * as mocks from 'mandatekit/mocks/core'

/** Runs a subscription and a charge through the mock and says so; rejects with what was not as it should be. */
export function smoke(
  exported: Pick<typeof client, 'SubscriptionsClient' | 'GatewayClient' | 'isMandateKitError'> &
    Pick<typeof mocks, 'createMock' | 'testNumbers'>,
  options?: { readonly mock?: mocks.Mock; readonly throughGlobalFetch?: boolean },
): Promise<string>
