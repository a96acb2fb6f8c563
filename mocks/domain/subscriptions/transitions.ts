import type { KnownCancellationStatus, KnownRequestStatus } from '../../../src/contract/subscriptions.ts'

/** Where a subscription request can stand; `none` before it exists (row 10). */
export type RequestState = 'none' | KnownRequestStatus
/** Where a subscription can stand; VOID when its request was declined or went unanswered. No answer shows it. */
export type SubscriptionPhase = 'none' | 'PENDING' | 'ACTIVE' | 'ENDED' | 'CANCELLED' | 'VOID'
/** Where a cancellation can stand. */
export type CancellationState = 'none' | KnownCancellationStatus
/** What can happen to a subscription and the request it comes from. */
export type SubscriptionTrigger = 'create' | 'authorize' | 'decline' | 'expire' | 'cancel' | 'end'
/** What can happen to a cancellation. */
export type CancellationTrigger = 'request' | 'process'

type Table<State extends string, Trigger extends string> = Record<
  State,
  Partial<Record<Trigger, Exclude<State, 'none'>>>
>

/** Every move of a subscription request: from → event → to. What is not here is refused. */
export const requestTransitions = {
  none: { create: 'INITIALIZED' },
  INITIALIZED: { authorize: 'SUCCEEDED', decline: 'FAILED', expire: 'EXPIRED', cancel: 'CANCELLED' },
  SUCCEEDED: {},
  FAILED: {},
  EXPIRED: {},
  CANCELLED: {},
} as const satisfies Table<RequestState, SubscriptionTrigger>

/** Every move of a subscription: from → event → to. What is not here is refused. */
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
} as const satisfies Table<CancellationState, CancellationTrigger>

const requestMoves: Table<RequestState, SubscriptionTrigger> = requestTransitions
const subscriptionMoves: Table<SubscriptionPhase, SubscriptionTrigger> = subscriptionTransitions
const cancellationMoves: Table<CancellationState, CancellationTrigger> = cancellationTransitions

/** Where the event leads a request, or `undefined`: the move is illegal. */
export const requestAfter = (
  state: RequestState,
  trigger: SubscriptionTrigger,
): KnownRequestStatus | undefined => requestMoves[state][trigger]

/** Where the event leads a subscription, or `undefined`: the move is illegal. */
export const subscriptionAfter = (
  phase: SubscriptionPhase,
  trigger: SubscriptionTrigger,
): Exclude<SubscriptionPhase, 'none'> | undefined => subscriptionMoves[phase][trigger]

/** Where the event leads a cancellation, or `undefined`: the move is illegal. */
export const cancellationAfter = (
  state: CancellationState,
  trigger: CancellationTrigger,
): KnownCancellationStatus | undefined => cancellationMoves[state][trigger]
