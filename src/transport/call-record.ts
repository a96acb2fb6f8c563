import type { EndpointDefinition } from '../contract/endpoint.ts'
import type { ErrorFacts, Outcome, Phase } from '../errors.ts'
import type { CallFacts } from './hooks.ts'
import { worseOutcome } from './outcome.ts'
import type { Redactor } from './redaction.ts'
import { createRedactor } from './redaction.ts'

/** What a call is, before any attempt of it. */
export interface CallIdentity {
  readonly endpoint: EndpointDefinition
  readonly method: string
  readonly url: string
  /** The version prefix in which the base URL ends, although the client adds it. */
  readonly ending?: string | undefined
  /** The checked fields of the body. */
  readonly fields: unknown
  readonly idempotencyKey: string | undefined
  /** Whether the client made the key: calling again unchanged would then make another one. */
  readonly ownKey: boolean
}

const referenceIn = (name: string | undefined, fields: unknown): string | undefined => {
  if (name === undefined || typeof fields !== 'object' || fields === null) return undefined
  const value: unknown = Reflect.get(fields, name)
  return typeof value === 'string' ? value : undefined
}

/** What is known about one logical call while its attempts run. */
export class CallRecord {
  readonly identity: CallIdentity
  #facts: CallFacts | undefined
  phase: Phase = 'request'
  #attempts = 0
  #outcome: Outcome = 'not-sent'
  readonly #sent: Readonly<Record<string, string>>[] = []

  constructor(identity: CallIdentity) {
    this.identity = identity
  }

  /** What hooks hear of the call: always the same `call`. Made when it is first asked for. */
  get facts(): CallFacts {
    const { endpoint, method, url, idempotencyKey } = this.identity
    this.#facts ??= {
      call: {},
      operation: endpoint.operation,
      method,
      path: endpoint.path,
      url,
      idempotencyKey,
    }
    return this.#facts
  }

  /** Attempts begun. */
  get attempts(): number {
    return this.#attempts
  }

  /** What the failed attempts together prove. */
  get outcome(): Outcome {
    return this.#outcome
  }

  /** Counts an attempt that is about to carry these headers. */
  begin(headers: Readonly<Record<string, string>>): void {
    this.#attempts += 1
    this.phase = 'request'
    // A copy: the given `fetch` may change what it gets.
    this.#sent.push({ ...headers })
  }

  /** Takes in how an attempt failed. One that may have executed stays so, whatever follows. */
  failed(outcome: Outcome): void {
    this.#outcome = worseOutcome(this.#outcome, outcome)
  }

  /** Removes from errors what this call sent in secret. */
  redactor(): Redactor {
    return createRedactor(this.#sent, this.identity.fields)
  }

  /** A short text of the server's without what this call sent in secret. */
  plain(text: string | undefined): string | undefined {
    return text === undefined ? undefined : this.redactor().text(text)
  }

  /** The facts of an error that ends the call now. `transient`: the failure itself may pass. */
  errorFacts(transient: boolean): ErrorFacts {
    const { endpoint, idempotencyKey, ownKey, fields } = this.identity
    const safe = this.#outcome !== 'unknown' || (endpoint.repeatable !== 'when-not-executed' && !ownKey)
    return {
      operation: endpoint.operation,
      phase: this.phase,
      outcome: this.#outcome,
      attempts: this.#attempts,
      idempotencyKey,
      requestID: referenceIn(endpoint.reference, fields),
      retryable: transient && safe,
    }
  }
}
