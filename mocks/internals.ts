import type { ListedNotification } from './delivery/deliveries.ts'
import type { ListedCharge, PaymentBody, SubscriptionState } from './domain/api.ts'
import type { ManagedClock } from './domain/clock.ts'
import type { Sequence } from './domain/sequence.ts'
import type { FaultPlan } from './http/faults.ts'
import type { Handler } from './http/handler.ts'
import type { LoggedRequest } from './http/request-log.ts'

/** What the adapters of this package use of a mock. */
export interface MockInternals {
  readonly handler: Handler
  /** The base URLs of the options, area S first. */
  readonly ownBases: readonly string[]
  /**
   * Both areas answer below this URL as well, and the URLs that the mock hands out begin with it, until the function
   * given back is called.
   */
  attach(url: string): () => void
  readonly faults: Pick<FaultPlan, 'armed'>
  /** What the mock holds, to be read in stretches. */
  readonly lists: {
    readonly subscriptions: Sequence<SubscriptionState>
    readonly payments: Sequence<PaymentBody>
    readonly charges: Sequence<ListedCharge>
    readonly requests: Sequence<LoggedRequest>
    readonly notifications: Sequence<ListedNotification>
  }
  readonly outage: { readonly isDown: boolean }
  readonly clock: Pick<ManagedClock, 'standsStill' | 'fromOutside'>
}

// In the global registry, so that a mock of the package's CommonJS copy can be given to the ESM copy's server.
const INTERNALS = Symbol.for('mandatekit.mock')

/** Gives a mock its internals, out of its users' sight. */
export const withInternals = <Mock extends object>(mock: Mock, internals: MockInternals): Mock =>
  Object.defineProperty(mock, INTERNALS, { value: internals })

/** The internals of a mock. Throws a TypeError for what is none. */
export const internalsOf = (mock: object): MockInternals => {
  const holder: { readonly [INTERNALS]?: MockInternals } = mock
  const internals = holder[INTERNALS]
  if (internals === undefined) throw new TypeError('This is not a mock that createMock made.')
  return internals
}
