declare module '*/smoke.mjs' {
  type Client = typeof import('mandatekit')
  type Mocks = typeof import('mandatekit/mocks/core')

  /** Runs a subscription and a charge through the mock and says so; rejects with what was not as it should be. */
  export function smoke(
    exported: Pick<Client, 'SubscriptionsClient' | 'GatewayClient' | 'isMandateKitError'> &
      Pick<Mocks, 'createMock' | 'testNumbers'>,
    options?: { readonly mock?: ReturnType<Mocks['createMock']>; readonly throughGlobalFetch?: boolean },
  ): Promise<string>
}
