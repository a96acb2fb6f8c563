import type { Payment } from '../contract/subscriptions.ts'
import type { Believed, BelievedCharge, BelievedPayment } from './belief.ts'

/**
 * Where the books and the API disagree.
 *
 * - `payment-missing`: the API has a payment that the books lack: a notification was lost, or is still on its way.
 * - `payment-differs`: another status, or a reversal that the books do not know (or know and the API does not).
 * - `payment-not-found`: the books have a payment that the API does not list.
 * - `cancellation-missing`, `cancellation-not-found`: the API, or only the books, know of a cancellation.
 * - `subscription-not-found`, `charge-not-found`: the API does not know it.
 * - `charge-differs`: another status.
 * - `unchecked`: no answer about this entry could be had; nothing is said about it. Run again later.
 */
export type Difference =
  | {
      readonly kind: 'payment-missing'
      readonly subscriptionId: string
      /** Empty when the API gave the payment none. */
      readonly paymentId: string
      readonly payment: Payment
    }
  | {
      readonly kind: 'payment-differs'
      readonly subscriptionId: string
      readonly paymentId: string
      readonly believed: BelievedPayment
      readonly payment: Payment
    }
  | {
      readonly kind: 'payment-not-found'
      readonly subscriptionId: string
      readonly paymentId: string
      readonly believed: BelievedPayment
    }
  | {
      readonly kind: 'cancellation-missing' | 'cancellation-not-found' | 'subscription-not-found'
      readonly subscriptionId: string
    }
  | {
      readonly kind: 'charge-differs'
      readonly chargeId: string
      readonly believed: BelievedCharge
      /** Status of the charge at the API. */
      readonly status: string
    }
  | { readonly kind: 'charge-not-found'; readonly chargeId: string; readonly believed: BelievedCharge }
  | { readonly kind: 'unchecked'; readonly believed: Believed; readonly error: unknown }
