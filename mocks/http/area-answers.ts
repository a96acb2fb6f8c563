import type { EndpointDefinition } from '../../src/contract/endpoint.ts'
import type { Refusal } from '../domain/result.ts'
import type { Answer } from './answer.ts'

/** What an operation yields: its body, and what differs from the contract's plain success. */
export interface Success {
  readonly body: unknown
  /** Another status than the contract's; 204 has no body. */
  readonly status?: number
  /** The body was made by an earlier call with the same key. */
  readonly replayed?: boolean
}

/** How an area words its answers. `headers` are those that every answer of the moment carries. */
export interface AreaAnswers {
  success(definition: EndpointDefinition, success: Success, headers: Headers): Answer
  refusal(refusal: Refusal, headers: Headers): Answer
  /** An error that no rule of the domain gave: outages, faults, wrong paths. */
  failure(status: number, message: string, headers: Headers): Answer
}

/** Header names and values. */
export type Headers = Readonly<Record<string, string>>

/** What a limiter said about a call. */
export interface LimitState {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
}

/** Whole seconds from now until a time, at least one. */
export const secondsUntil = (time: number, now: number): number =>
  Math.max(1, Math.ceil((time - now) / 1_000))
