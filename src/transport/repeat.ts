import type { AuthKind, Repeatable } from '../contract/endpoint.ts'
import { backoff } from './wait-hint.ts'

/** How an attempt failed, as far as repeating it is concerned. */
export type Failure =
  /** `certificate`: the server's was refused, and will be again. */
  | { readonly kind: 'connection'; readonly surelyNotSent: boolean; readonly certificate?: boolean }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' }
  /** An HTTP status of 400 or above. */
  | { readonly kind: 'status'; readonly status: number }
  /** A 2xx answer that carries an error code. `readable`: a text that says what was refused. */
  | { readonly kind: 'code'; readonly readable: boolean }
  /** A 2xx answer that was cut off on the way. */
  | { readonly kind: 'cut' }
  /** A redirect, or a 2xx answer that is not the contract. */
  | { readonly kind: 'unexpected' }

/** Everything the decision rests on. */
export interface RepeatQuestion {
  readonly endpoint: { readonly repeatable: Repeatable; readonly auth: AuthKind }
  readonly failure: Failure
  /** Repeats made so far, renewals not counted. */
  readonly repeats: number
  /** Most repeats. */
  readonly limit: number
  /** Whether this call was already repeated with a renewed token. */
  readonly renewed: boolean
  /** What the server asked for, in milliseconds. */
  readonly hint: number | undefined
  /** The longest wait before a repeat, in milliseconds. */
  readonly maxWait: number
  /** What is left of the call's total time, in milliseconds. */
  readonly remaining: number
  /** A number in [0, 1) for the jitter. */
  readonly random: number
}

/** Why an attempt is repeated. */
export type RepeatReason = 'not-sent' | 'rate-limited' | 'answer-lost' | 'credential-refused'

/** Why it is not. */
type StandReason =
  | 'ended-by-caller'
  | 'never-repeated'
  | 'refused'
  | 'may-have-executed'
  | 'no-time-named'
  | 'limit-reached'
  | 'wait-too-long'

/** Whether to repeat, why or why not, and after how long. */
export type RepeatDecision =
  | { readonly repeat: true; readonly reason: RepeatReason; readonly waitMs: number }
  | { readonly repeat: false; readonly reason: StandReason; readonly waitMs?: number }

/** Statuses of an answer that was lost, rather than given. */
export const LOST_ANSWER = new Set([408, 500, 502, 503, 504])

type Kind = 'not-sent' | 'rate-limited' | 'answer-lost' | 'refused' | 'ended'

const kindOf = (failure: Failure): Kind => {
  switch (failure.kind) {
    case 'aborted':
      return 'ended'
    case 'connection':
      if (failure.certificate) return 'refused'
      return failure.surelyNotSent ? 'not-sent' : 'answer-lost'
    case 'timeout':
    case 'cut':
      return 'answer-lost'
    case 'status':
      if (failure.status === 429) return 'rate-limited'
      return LOST_ANSWER.has(failure.status) ? 'answer-lost' : 'refused'
    default:
      return 'refused'
  }
}

const stand = (reason: StandReason): RepeatDecision => ({ repeat: false, reason })

/** What an endpoint forbids to repeat after a failure of a kind, or `undefined` when it may be repeated. */
const forbidden = (
  { endpoint: { repeatable }, hint }: RepeatQuestion,
  kind: Exclude<Kind, 'refused' | 'ended'>,
): StandReason | undefined => {
  if (repeatable === 'never') return 'never-repeated'
  if (repeatable === 'always' || kind === 'not-sent') return undefined
  if (kind === 'answer-lost') return 'may-have-executed'
  return repeatable === 'when-not-sent' && hint === undefined ? 'no-time-named' : undefined
}

/**
 * Decides whether an attempt that failed is made again: the table "What may be repeated" of the documentation.
 * Pure; the endpoint's definition says what it may, this function knows no operation.
 */
export const decideRepeat = (question: RepeatQuestion): RepeatDecision => {
  const { endpoint, failure, renewed, repeats, limit, hint, maxWait, remaining, random } = question
  if (failure.kind === 'status' && failure.status === 401 && endpoint.auth === 'token' && !renewed) {
    return remaining > 0 ? { repeat: true, reason: 'credential-refused', waitMs: 0 } : stand('wait-too-long')
  }
  const kind = kindOf(failure)
  if (kind === 'ended') return stand('ended-by-caller')
  if (kind === 'refused') return stand('refused')
  const prohibition = forbidden(question, kind)
  if (prohibition !== undefined) return stand(prohibition)
  if (repeats >= limit) return stand('limit-reached')
  const waitMs = hint ?? backoff(repeats, random)
  if (waitMs > maxWait || waitMs >= remaining) return { repeat: false, reason: 'wait-too-long', waitMs }
  return { repeat: true, reason: kind, waitMs }
}
