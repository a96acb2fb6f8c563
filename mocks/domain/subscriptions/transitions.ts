import type { KnownCancellationStatus, KnownRequestStatus } from '../../../src/contract/subscriptions.ts'

type RequestState = 'none' | KnownRequestStatus
type CancellationState = 'none' | KnownCancellationStatus
/** The mock's internal phase of a subscription. VOID means that the request was declined or expired. */
export type SubscriptionPhase = 'none' | 'PENDING' | 'ACTIVE' | 'ENDED' | 'CANCELLED' | 'VOID'
/** The events that change a subscription and its request. */
export type SubscriptionTrigger = 'create' | 'authorize' | 'decline' | 'expire' | 'cancel' | 'end'

type Table<State extends string, Trigger extends string> = Record<
  State,
  Partial<Record<Trigger, Exclude<State, 'none'>>>
>

/** The next status of a subscription request, by status and event (row 10). The mock refuses all other changes. */
export const requestTransitions = {
  none: { create: 'INITIALIZED' },
  INITIALIZED: { authorize: 'SUCCEEDED', decline: 'FAILED', expire: 'EXPIRED', cancel: 'CANCELLED' },
  SUCCEEDED: {},
  FAILED: {},
  EXPIRED: {},
  CANCELLED: {},
} as const satisfies Table<RequestState, SubscriptionTrigger>

/** The next phase of a subscription, by current phase and event. The mock refuses all other changes. */
export const subscriptionTransitions = {
  none: { create: 'PENDING' },
  PENDING: { authorize: 'ACTIVE', decline: 'VOID', expire: 'VOID', cancel: 'CANCELLED' },
  ACTIVE: { cancel: 'CANCELLED', end: 'ENDED' },
  ENDED: {},
  CANCELLED: {},
  VOID: {},
} as const satisfies Table<SubscriptionPhase, SubscriptionTrigger>

/** The next status of a cancellation, by status and event. The two events are `cancelDelay` apart (row 27). */
export const cancellationTransitions = {
  none: { request: 'PROCESSING' },
  PROCESSING: { process: 'PROCESSED' },
  PROCESSED: {},
} as const satisfies Table<CancellationState, 'request' | 'process'>

const requestMoves: Table<RequestState, SubscriptionTrigger> = requestTransitions
const subscriptionMoves: Table<SubscriptionPhase, SubscriptionTrigger> = subscriptionTransitions

/** Returns the status of a request after an event, or `undefined` if the event is not allowed. */
export const requestAfter = (state: RequestState, trigger: SubscriptionTrigger) =>
  requestMoves[state][trigger]

/** Returns the phase of a subscription after an event, or `undefined` if the event is not allowed. */
export const subscriptionAfter = (phase: SubscriptionPhase, trigger: SubscriptionTrigger) =>
  subscriptionMoves[phase][trigger]
