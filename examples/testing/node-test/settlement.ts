import { type GatewayClient, isMandateKitError, type SubscriptionsClient } from 'mandatekit'

/** The numbers of paid, failed and reversed payments of a subscription. */
export interface Settlement {
  readonly paid: number
  readonly failed: number
  readonly reversed: number
}

/** Counts the payments of a subscription. */
export const settle = async (client: SubscriptionsClient, subscriptionId: string): Promise<Settlement> => {
  const settlement = { paid: 0, failed: 0, reversed: 0 }
  for await (const payment of client.allPayments(subscriptionId)) {
    if (payment.reverseTransactionId !== null) settlement.reversed += 1
    else if (payment.status === 'SUCCEEDED_PAYMENT') settlement.paid += 1
    else settlement.failed += 1
  }
  return settlement
}

/** Charges an order only once. Returns `undefined` if it is unknown whether the payer was charged. */
export const chargeOrder = async (
  gateway: GatewayClient,
  order: { readonly id: string; readonly msisdn: string; readonly amount: number },
): Promise<string | undefined> => {
  const { id, msisdn, amount } = order
  try {
    const request = { msisdn, amount, currency: 'BDT', redirect_uri: 'https://shop.example/paid' }
    return (await gateway.charge(request, { idempotencyKey: `order-${id}` })).id
  } catch (error) {
    if (isMandateKitError(error) && error.outcome === 'unknown') return undefined
    throw error
  }
}
