/** A payment as the merchant's books have it. */
export interface BelievedPayment {
  /** Identifier of the payment (S6). */
  readonly paymentId: string | number
  /** `SUCCEEDED_PAYMENT` or `FAILED_PAYMENT`, as a notification said. */
  readonly status: string
  /** Whether the books know of a reversal; `false` when left out. */
  readonly reversed?: boolean | undefined
}

/** A subscription as the merchant's books have it. */
export interface BelievedSubscription {
  /** Identifier of the subscription (S4). */
  readonly subscriptionId: string
  /** Every payment the books know of this subscription; of one listed twice the last entry counts. */
  readonly payments: Iterable<BelievedPayment> | AsyncIterable<BelievedPayment>
  /** Whether it was cancelled; not compared when left out, which saves a call. */
  readonly cancelled?: boolean | undefined
}

/** A charge as the merchant's books have it. */
export interface BelievedCharge {
  /** Identifier of the charge (G1). */
  readonly chargeId: string
  /** Its status as the books have it, such as `succeeded` (G1). */
  readonly status: string
}

/** One entry of the merchant's books. */
export type Believed = BelievedSubscription | BelievedCharge
