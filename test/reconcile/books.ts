import { ApiError } from '../../src/errors.ts'
import type { Payment } from '../../src/index.ts'
import type { GatewayReader, SubscriptionsReader } from '../../src/notifications/index.ts'

/** What the API answers for something it does not know. */
const notFound = (): ApiError =>
  new ApiError('not found', {
    operation: 'subscriptions.payments',
    phase: 'response',
    outcome: 'rejected',
    attempts: 1,
    retryable: false,
    status: 404,
    errorCode: '02',
  })

/** What the API holds, and how many look-ups are under way. */
export class Api implements SubscriptionsReader, GatewayReader {
  underWay = 0
  mostUnderWay = 0
  lookUps = 0
  readonly #payments: Readonly<Record<string, readonly Payment[] | Error>>
  readonly #charges: Readonly<Record<string, string>>
  readonly #cancelled: readonly string[]

  constructor(
    payments: Readonly<Record<string, readonly Payment[] | Error>> = {},
    charges: Readonly<Record<string, string>> = {},
    cancelled: readonly string[] = [],
  ) {
    this.#payments = payments
    this.#charges = charges
    this.#cancelled = cancelled
  }

  async *allPayments(subscriptionId: string, _page: undefined, { signal }: { signal: AbortSignal }) {
    await this.#lookUp(signal)
    const payments = this.#payments[subscriptionId]
    if (payments === undefined) throw notFound()
    if (payments instanceof Error) throw payments
    yield* payments
  }

  async cancellation(subscriptionId: string, { signal }: { signal: AbortSignal }) {
    await this.#lookUp(signal)
    if (!this.#cancelled.includes(subscriptionId)) throw notFound()
    return { subscriptionID: subscriptionId }
  }

  async status(chargeId: string, { signal }: { signal: AbortSignal }) {
    await this.#lookUp(signal)
    const status = this.#charges[chargeId]
    if (status === undefined) throw notFound()
    return { status }
  }

  async #lookUp(signal: AbortSignal): Promise<void> {
    this.lookUps += 1
    this.underWay += 1
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay)
    await new Promise((resolve) => setImmediate(resolve))
    this.underWay -= 1
    signal.throwIfAborted()
  }
}
