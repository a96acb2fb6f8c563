import { createGatewayModel, type GatewayModel } from './gateway-model.ts'
import type { ModelSubscription } from './subscriptions-model.ts'
import { type MerchantName, type Setting, testNumbers } from './world.ts'

/** A token of a raw login. */
export interface ModelToken {
  readonly owner: MerchantName
  readonly username: string
  readonly access: string
  readonly refresh: string
  readonly expiresAt: number
  accessHolds: boolean
  refreshHolds: boolean
}

type User = Pick<ModelToken, 'owner' | 'username'>

/** The token that a client holds. */
interface HeldToken {
  readonly expiresAt: number
  holds: boolean
  postponedUntil: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const MARGIN = 30_000

/** Stands for a login that a client did not send, because the response to an earlier one was a 429 with a reset. */
export const PAUSED = 0
/** The same after a 429 whose reset is less than a second away. The client treats it as a 429 without a time. */
export const PAUSED_WITHOUT_TIME = 1

/** Everything that the mock should know, as plain data, and nothing of how it knows it. */
interface State {
  now: number
  subscriptions: ModelSubscription[]
  tokens: ModelToken[]
  gateway: GatewayModel
  /** Merchant and username → times of the failed logins, and until when they are locked. */
  locks: Map<string, { failures: number[]; until: number }>
  /** Bucket → the window of area S that began with its first call. */
  windows: Map<string, { from: number; count: number }>
  /** Times of the accepted calls of area G. */
  accepted: number[]
}

const initial = ({ start }: Setting): State => ({
  now: Date.parse(start),
  subscriptions: [],
  tokens: [],
  gateway: createGatewayModel(testNumbers),
  locks: new Map(),
  windows: new Map(),
  accepted: [],
})

export class Model {
  readonly setting: Setting
  #state: State
  /** Restores what was saved last. */
  saved: (() => void) | undefined
  readonly #held = new Map<MerchantName, HeldToken>()
  readonly #pauses = new Map<MerchantName, { from: number; wait: number; isTimed: boolean }>()

  constructor(setting: Setting) {
    this.setting = setting
    this.#state = initial(setting)
  }

  get now(): number {
    return this.#state.now
  }

  get subscriptions(): ModelSubscription[] {
    return this.#state.subscriptions
  }

  get tokens(): ModelToken[] {
    return this.#state.tokens
  }

  get gateway(): GatewayModel {
    return this.#state.gateway
  }

  moveTo(time: number): void {
    this.#state.now = time
  }

  reset(): void {
    this.saved = undefined
    this.#startOver(initial(this.setting))
  }

  save(): void {
    const kept = structuredClone(this.#state)
    this.saved = () => this.#startOver(structuredClone(kept))
  }

  /** Takes a state, with clients that know nothing of the past. */
  #startOver(state: State): void {
    this.#state = state
    this.#held.clear()
    this.#pauses.clear()
  }

  #lock({ owner, username }: User) {
    const name = `${owner} ${username}`
    const lock = this.#state.locks.get(name) ?? { failures: [], until: Number.NEGATIVE_INFINITY }
    this.#state.locks.set(name, lock)
    return lock
  }

  isLocked(user: User): boolean {
    return this.now < this.#lock(user).until
  }

  /** Five failures of a merchant's username within a minute lock it for fifteen minutes (row 35). */
  failLogin(user: User): void {
    const lock = this.#lock(user)
    lock.failures = [...lock.failures.filter((at) => at > this.now - MINUTE), this.now]
    if (lock.failures.length < 5) return
    lock.failures = []
    lock.until = this.now + 15 * MINUTE
  }

  succeedLogin(user: User): void {
    this.#lock(user).failures = []
  }

  /** Ends the access tokens, and the refresh tokens if told so. */
  endTokens(refreshToo: boolean): void {
    for (const held of this.#held.values()) held.holds = false
    for (const token of this.tokens) {
      token.accessHolds = false
      if (refreshToo) token.refreshHolds = false
    }
  }

  /** The owner of a token, while it holds. */
  ownerOf(token: ModelToken | undefined): MerchantName | undefined {
    return token?.accessHolds === true && this.now < token.expiresAt ? token.owner : undefined
  }

  /**
   * Counts a call of area S: `limit` calls of a bucket pass in a minute that begins with its first call, and refused
   * calls do not count (row 42). Returns whether it passes, and the three headers.
   */
  countCall(bucket: string): { readonly passes: boolean; readonly headers: readonly string[] } {
    const { now } = this
    const { subscriptionsLimit: limit } = this.setting
    const known = this.#state.windows.get(bucket)
    const isRunning = known !== undefined && now >= known.from && now < known.from + MINUTE
    const window = isRunning ? known : { from: now, count: 0 }
    this.#state.windows.set(bucket, window)
    const passes = window.count < limit
    if (passes) window.count += 1
    const reset = Math.ceil((window.from + MINUTE) / 1_000)
    return { passes, headers: [limit, limit - window.count, reset].map(String) }
  }

  /** Counts a call of area G: `limit` accepted calls pass in any minute, refused and future calls do not count (row 78). */
  countGatewayCall(): boolean {
    const accepted = this.#state.accepted.filter((at) => at > this.now - MINUTE && at <= this.now)
    const passes = accepted.length < this.setting.gatewayLimit
    this.#state.accepted = passes ? [...accepted, this.now] : accepted
    return passes
  }

  /** Seconds until a call of area G passes again, at least one. */
  gatewayRetryAfter(): number {
    const [first = this.now] = this.#state.accepted
    return Math.max(1, Math.ceil((first + MINUTE - this.now) / 1_000))
  }

  /** The status of a call of area G, which is `status` if it passes the limit. */
  gatewayCall(status: number): number {
    return this.countGatewayCall() ? status : 429
  }

  /** The status of a login. */
  login(merchant: MerchantName): 200 | 429 {
    const { passes, headers } = this.countCall(merchant)
    if (!passes) {
      const named = Number(headers[2]) * 1_000 - this.now
      const { wait: last = 5_000 } = this.#pauses.get(merchant) ?? {}
      const isTimed = named >= 1_000
      this.#pauses.set(merchant, { from: this.now, wait: isTimed ? named : last * 2, isTimed })
      return 429
    }
    this.#pauses.delete(merchant)
    this.#held.set(merchant, { expiresAt: this.now + HOUR, holds: true, postponedUntil: this.now })
    return 200
  }

  /** The status of a login that a client sends by itself. */
  #ownLogin(merchant: MerchantName): 200 | 429 | typeof PAUSED | typeof PAUSED_WITHOUT_TIME {
    const pause = this.#pauses.get(merchant)
    const stands = pause !== undefined && this.now >= pause.from && this.now < pause.from + pause.wait
    if (!stands) return this.login(merchant)
    return pause.isTimed ? PAUSED : PAUSED_WITHOUT_TIME
  }

  /**
   * The statuses of all that a client sends for one call of area S: a login if it has no token or one near its end,
   * the call, and after a 401 a login and the call again (design of the token lifecycle).
   *
   * @param status the status of the call itself when it gets through
   */
  call(merchant: MerchantName, status: number): readonly number[] {
    const statuses: number[] = []
    const held = this.#held.get(merchant)
    const isNearItsEnd = held !== undefined && this.now >= held.expiresAt - MARGIN
    if (held === undefined || (isNearItsEnd && this.now >= held.postponedUntil)) {
      const login = this.#ownLogin(merchant)
      const isAlive = held !== undefined && this.now < held.expiresAt
      if (login >= 200 || !isAlive) statuses.push(login)
      if (login !== 200) {
        if (!isAlive) return statuses
        held.postponedUntil = this.now + 5_000
      }
    }
    const first = this.#attempt(merchant, status)
    statuses.push(first)
    if (first !== 401) return statuses
    // A client never sends a rejected token again, even if the login fails.
    this.#held.delete(merchant)
    const login = this.#ownLogin(merchant)
    statuses.push(login)
    if (login === 200) statuses.push(this.#attempt(merchant, status))
    return statuses
  }

  #attempt(merchant: MerchantName, status: number): number {
    const held = this.#held.get(merchant)
    const holds = held?.holds === true && this.now < held.expiresAt
    if (!this.countCall(holds ? merchant : '').passes) return 429
    return holds ? status : 401
  }
}
