import { ApiError } from '../../src/errors.ts'
import type { Payment } from '../../src/index.ts'
import type { GatewayReader, SubscriptionsReader } from '../../src/notifications/index.ts'

/** An error response of the API. */
export const refusal = (status: number, errorCode = '02'): ApiError =>
  new ApiError('refused', {
    operation: 'subscriptions.payments',
    phase: 'response',
    outcome: 'rejected',
    attempts: 1,
    retryable: false,
    status,
    errorCode,
    verdict: [200, 400, 404].includes(status) ? 'not-found' : 'refused',
  })

/** An API with these payments, charges and cancellations, which counts its look-ups. */
export const openApi = (
  payments: Readonly<Record<string, readonly Payment[] | Error>> = {},
  charges: Readonly<Record<string, string>> = {},
  cancelled: readonly string[] = [],
) => {
  const counts = { open: 0, mostOpen: 0, lookUps: 0 }
  const lookUp = async <Found>(signal: AbortSignal, found: Found | undefined): Promise<Found> => {
    counts.lookUps += 1
    counts.open += 1
    counts.mostOpen = Math.max(counts.mostOpen, counts.open)
    await new Promise((resolve) => setImmediate(resolve))
    counts.open -= 1
    signal.throwIfAborted()
    if (found === undefined) throw refusal(404)
    return found
  }
  return {
    counts,
    async *allPayments(subscriptionId, _page, { signal }) {
      const found = await lookUp(signal, payments[subscriptionId])
      if (found instanceof Error) throw found
      yield* found
    },
    async cancellation(subscriptionId, { signal }) {
      return {
        subscriptionID: await lookUp(
          signal,
          cancelled.find((id) => id === subscriptionId),
        ),
        status: 'PROCESSED',
      }
    },
    async status(chargeId, { signal }) {
      return { status: await lookUp(signal, charges[chargeId]) }
    },
  } satisfies SubscriptionsReader & GatewayReader & { counts: object }
}
