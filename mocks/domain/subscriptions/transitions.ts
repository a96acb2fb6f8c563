import type { KnownCancellationStatus, KnownRequestStatus } from '../../../src/contract/subscriptions.ts'

type RequestState = 'none' | KnownRequestStatus
type CancellationState = 'none' | KnownCancellationStatus
/** Where a subscription stands; VOID when its request was declined or expired. No response shows it. */
export type SubscriptionPhase = 'none' | 'PENDING' | 'ACTIVE' | 'ENDED' | 'CANCELLED' | 'VOID'
/** The events of a subscription and its request. */
export type SubscriptionTrigger = 'create' | 'authorize' | 'decline' | 'expire' | 'cancel' | 'end'

type Table<State extends string, Trigger extends string> = Record<
  State,
  Partial<Record<Trigger, Exclude<State, 'none'>>>
>

/** Every move of a subscription request (row 10): from → event → to. Other moves are refused. */
export const requestTransitions = {
  none: { create: 'INITIALIZED' },
  INITIALIZED: { authorize: 'SUCCEEDED', decline: 'FAILED', expire: 'EXPIRED', cancel: 'CANCELLED' },
  SUCCEEDED: {},
  FAILED: {},
  EXPIRED: {},
  CANCELLED: {},
} as const satisfies Table<RequestState, SubscriptionTrigger>

/** Every move of a subscription: from → event → to. Other moves are refused. */
export const subscriptionTransitions = {
  none: { create: 'PENDING' },
  PENDING: { authorize: 'ACTIVE', decline: 'VOID', expire: 'VOID', cancel: 'CANCELLED' },
  ACTIVE: { cancel: 'CANCELLED', end: 'ENDED' },
  ENDED: {},
  CANCELLED: {},
  VOID: {},
} as const satisfies Table<SubscriptionPhase, SubscriptionTrigger>

/** Every move of a cancellation: from → event → to. Without a delay both events happen at once (row 27). */
export const cancellationTransitions = {
  none: { request: 'PROCESSING' },
  PROCESSING: { process: 'PROCESSED' },
  PROCESSED: {},
} as const satisfies Table<CancellationState, 'request' | 'process'>

const requestMoves: Table<RequestState, SubscriptionTrigger> = requestTransitions
const subscriptionMoves: Table<SubscriptionPhase, SubscriptionTrigger> = subscriptionTransitions

/** Returns where an event leads a request, or `undefined` for an illegal move. */
export const requestAfter = (state: RequestState, trigger: SubscriptionTrigger) =>
  requestMoves[state][trigger]

/** Returns where an event leads a subscription, or `undefined` for an illegal move. */
export const subscriptionAfter = (phase: SubscriptionPhase, trigger: SubscriptionTrigger) =>
  subscriptionMoves[phase][trigger]
