import type { Authorization, AuthorizationContext, Authorizer } from '../auth/authorizer.ts'
import { isMandateKitError } from '../errors.ts'
import type { Reading } from './answer.ts'
import { readAnswer } from './answer.ts'
import { requestIdOf } from './answer-headers.ts'
import type { AttemptResult, ReceivedAnswer } from './attempt.ts'
import { attempt } from './attempt.ts'
import { heldBackError, interruptionError } from './call-errors.ts'
import type { Answered } from './call-promise.ts'
import { CallRecord } from './call-record.ts'
import { CallTimeout } from './call-timeout.ts'
import type { ClientSettings } from './client-options.ts'
import { echoReports } from './echoes.ts'
import type { FailedAttempt } from './failed-attempt.ts'
import { withAnswer, withoutAnswer } from './failed-attempt.ts'
import { notify } from './hooks.ts'
import { asLoginFailure } from './login-failure.ts'
import { outcomeOfFailure } from './outcome.ts'
import type { PreparedCall } from './prepared-call.ts'
import type { RateLimitGate } from './rate-limit-gate.ts'
import { readRateLimit } from './rate-limit-headers.ts'
import type { RepeatReason } from './repeat.ts'
import { decideRepeat } from './repeat.ts'
import { reportFailure } from './report-failure.ts'
import { readWaitHint, untilServerTime } from './wait-hint.ts'

/** What all calls of one client have in common. */
export interface CallEnvironment {
  readonly settings: ClientSettings
  /** Absent when calls are not held back. */
  readonly gate: RateLimitGate | undefined
}

/** One logical call: its attempts, the waits between them, and the one answer or error at its end. */
class Call implements AuthorizationContext {
  readonly #settings: ClientSettings
  /** Absent for what is never repeated too: it asks for the state of now, and neither waits nor makes others wait. */
  readonly #gate: RateLimitGate | undefined
  readonly #prepared: PreparedCall
  readonly #record: CallRecord
  readonly #time: CallTimeout
  readonly #startedAt: number
  #repeats = 0
  #renewed = false

  constructor({ settings, gate }: CallEnvironment, prepared: PreparedCall) {
    this.#settings = settings
    this.#gate = prepared.endpoint.repeatable === 'never' ? undefined : gate
    this.#prepared = prepared
    this.#record = new CallRecord(prepared)
    this.#startedAt = settings.clock.now()
    this.#time = new CallTimeout(prepared.limits.totalTimeout, prepared.limits.signal)
  }

  async run(): Promise<Answered<unknown>> {
    try {
      for (;;) {
        const answered = await this.#attempt()
        if (answered !== undefined) return answered
      }
    } catch (error) {
      reportFailure(this.#settings, this.#record, error, this.#startedAt)
      throw error
    } finally {
      this.#time.end()
    }
  }

  /** Makes one attempt: the answer, `undefined` when another attempt is to follow, or the call's error. */
  async #attempt(): Promise<Answered<unknown> | undefined> {
    const authorization = this.#enterNow() ?? (await this.#enter())
    const result = await this.#send(authorization)
    if (result.kind === 'answer') {
      const { answer } = result
      const reading = this.#read(answer)
      if (reading.kind === 'success') return this.#deliver(answer, reading)
      await this.#repeatOrThrow(withAnswer(answer, reading), authorization, this.#hintOf(answer))
    } else {
      this.#record.phase = result.phase
      await this.#repeatOrThrow(withoutAnswer(result), authorization, undefined)
    }
    return undefined
  }

  /** What `#enter` gives, where nothing has to be waited for: most calls come this way. */
  #enterNow(): Authorization | undefined {
    this.#throwIfInterrupted()
    const authorization = this.#prepared.authorizer?.current()
    if (authorization === undefined || this.#gate?.isBusy) return undefined
    this.#gate?.enterNow()
    return authorization
  }

  /** Waits for the authorisation and for the rate limit; takes the place at the gate that `#send` gives back. */
  async #enter(): Promise<Authorization | undefined> {
    const gate = this.#gate
    const { authorizer } = this.#prepared
    for (;;) {
      this.#throwIfInterrupted()
      const authorization = authorizer && (await this.#authorize(authorizer))
      if (gate === undefined) return authorization
      if (!gate.isBusy) {
        gate.enterNow()
        return authorization
      }
      const { hold } = gate
      this.#record.phase = 'limit'
      if (hold >= this.#time.remaining) throw heldBackError(this.#record, hold)
      const entered = await gate.enter(this.#time.signal)
      const isCurrent = authorization === undefined || authorizer?.isCurrent(authorization)
      if (entered && isCurrent && this.#time.interruption === undefined) return authorization
      // The token ended while the call was held back. The login needs a place of its own: without this one it may be free.
      if (entered) gate.leave()
    }
  }

  async #authorize(authorizer: Authorizer): Promise<Authorization> {
    const { phase } = this.#record
    this.#record.phase = 'login'
    const authorization = await this.#duringLogin(authorizer.authorize(this))
    this.#record.phase = phase
    return authorization
  }

  get operation(): string {
    return this.#prepared.endpoint.operation
  }

  get signal(): AbortSignal {
    return this.#time.signal
  }

  get remaining(): number {
    return this.#time.remaining
  }

  async #duringLogin<Value>(work: Promise<Value>): Promise<Value> {
    let value: Value
    try {
      value = await work
    } catch (error) {
      this.#record.phase = 'login'
      this.#throwIfInterrupted()
      throw isMandateKitError(error) ? asLoginFailure(error, this.#record) : error
    }
    this.#throwIfInterrupted()
    return value
  }

  async #send(authorization: Authorization | undefined): Promise<AttemptResult> {
    const { endpoint, method, url, body, limits } = this.#prepared
    const { clock, hooks, fetch = globalThis.fetch } = this.#settings
    const gate = this.#gate
    const record = this.#record
    const headers = this.#headers(authorization)
    const facts =
      hooks.onRequest || hooks.onResponse ? { ...record.facts, attempt: record.attempts + 1 } : undefined
    if (facts !== undefined) notify(hooks, 'onRequest', facts)
    if (this.#time.interruption !== undefined) {
      // A hook ended the call, before anything was sent.
      gate?.leave()
      this.#throwIfInterrupted()
    }
    record.begin(headers)
    const sentAt = clock.now()
    const { timeout } = limits
    const once = endpoint.repeatable !== 'always'
    const result = await attempt({ fetch, url, method, headers, body, timeout, once }, this.#time)
    gate?.leave(result.kind === 'answer' ? this.#limitNews(result.answer) : undefined)
    if (facts !== undefined && hooks.onResponse && result.kind === 'answer') {
      const { status, headers } = result.answer
      const durationMs = clock.now() - sentAt
      const requestId = record.plain(requestIdOf(headers))
      notify(hooks, 'onResponse', {
        ...facts,
        status,
        requestId,
        rateLimit: readRateLimit(headers),
        durationMs,
      })
    }
    return result
  }

  #headers(authorization: Authorization | undefined): Record<string, string> {
    const { limits, body, contentType, idempotencyKey } = this.#prepared
    const headers: Record<string, string> = { accept: 'application/json', ...limits.headers }
    if (authorization !== undefined) headers.authorization = authorization.header
    if (body !== undefined) headers['content-type'] = contentType
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
    return headers
  }

  #limitNews(answer: ReceivedAnswer) {
    const rateLimit = readRateLimit(answer.headers)
    const resetAt = rateLimit?.resetAt?.getTime()
    // The pause that a refused token request asks for is the token lifecycle's: calls with a token need not wait for it.
    const isOwnRefusal = answer.status === 429 && this.#prepared.endpoint.auth !== 'credentials'
    return {
      rateLimit,
      untilReset:
        resetAt === undefined
          ? undefined
          : untilServerTime(resetAt, this.#settings.clock.now(), answer.headers.date),
      refusedFor: isOwnRefusal ? this.#hintOf(answer) : undefined,
    }
  }

  #hintOf({ status, headers }: ReceivedAnswer): number | undefined {
    if (status < 400) return undefined
    return readWaitHint(status, headers, readRateLimit(headers), this.#settings.clock.now())
  }

  #read({ status, text }: ReceivedAnswer): Reading {
    return readAnswer(this.#prepared.endpoint, status, text ?? '')
  }

  #deliver(answer: ReceivedAnswer, reading: Extract<Reading, { kind: 'success' }>): Answered<unknown> {
    for (const report of [...reading.reports, ...echoReports(this.#prepared, reading.data)])
      notify(this.#settings, 'onUnexpected', report)
    const { status, headers } = answer
    return {
      data: reading.data,
      response: {
        status,
        headers,
        requestId: requestIdOf(headers),
        body: reading.body,
        rateLimit: readRateLimit(headers),
        attempts: this.#record.attempts,
        idempotencyKey: this.#prepared.idempotencyKey,
      },
    }
  }

  /** Waits until the attempt may be repeated, or throws what ends the call. */
  async #repeatOrThrow(
    failed: FailedAttempt,
    authorization: Authorization | undefined,
    hint: number | undefined,
  ): Promise<void> {
    const { endpoint, authorizer, limits } = this.#prepared
    const { clock } = this.#settings
    const { failure } = failed
    if (failed.status !== undefined) this.#record.phase = 'response'
    this.#record.failed(outcomeOfFailure(failure))
    const decision = decideRepeat({
      endpoint,
      failure,
      repeats: this.#repeats,
      limit: limits.limit,
      renewed: this.#renewed,
      hint,
      maxWait: limits.maxWait,
      remaining: this.#time.remaining,
      random: Math.random(),
    })
    if (!decision.repeat) throw failed.toError(this.#record, hint, decision.waitMs)
    if (decision.reason === 'credential-refused') {
      const renewed =
        authorizer !== undefined &&
        authorization !== undefined &&
        (await this.#duringLogin(authorizer.refused(authorization, this)))
      if (!renewed) throw failed.toError(this.#record, hint, undefined)
      this.#renewed = true
      this.#reportRetry(decision.reason, 0, failed)
      return
    }
    this.#repeats += 1
    this.#reportRetry(decision.reason, decision.waitMs, failed)
    this.#record.phase = 'wait'
    const waited = await this.#time.wait(decision.waitMs, clock).then(
      () => true,
      () => false,
    )
    this.#throwIfInterrupted()
    // The given clock failed: without a wait there is no repeat.
    if (!waited) throw failed.toError(this.#record, hint, undefined)
  }

  #throwIfInterrupted(): void {
    const { interruption } = this.#time
    if (interruption !== undefined) throw interruptionError(this.#record, interruption)
  }

  #reportRetry(reason: RepeatReason, waitMs: number, { status }: FailedAttempt): void {
    const { hooks } = this.#settings
    const { facts, attempts } = this.#record
    notify(hooks, 'onRetry', { ...facts, attempt: attempts, reason, waitMs, status })
  }
}

/** Makes a call. Rejects with the errors of this package alone, after its last attempt. */
export const runCall = (environment: CallEnvironment, prepared: PreparedCall): Promise<Answered<unknown>> =>
  new Call(environment, prepared).run()
