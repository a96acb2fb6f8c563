import { GatewayModel } from './gateway-model.ts'
import { FixedLimit, LoginLock, RollingLimit } from './limits-model.ts'
import type { ModelSubscription } from './subscriptions-model.ts'
import type { MerchantName, Setting } from './world.ts'
import { testNumbers } from './world.ts'

/** A token that a raw login yielded. */
export interface ModelToken {
  readonly owner: MerchantName
  readonly username: string
  readonly access: string
  readonly refresh: string
  readonly expiresAt: number
  accessHolds: boolean
  refreshHolds: boolean
}

/** The token that a client holds. */
interface HeldToken {
  readonly expiresAt: number
  holds: boolean
  postponedUntil: number
}

const HOUR = 3_600_000
const MARGIN = 30_000

/** Stands for a login that a client did not send, since an earlier one was answered 429 and told when to come back. */
export const PAUSED = 0

/** Everything that the mock should know, and nothing of how it knows it. */
export class Model {
  readonly setting: Setting
  now: number
  subscriptions: ModelSubscription[] = []
  tokens: ModelToken[] = []
  locks = new Map<string, LoginLock>()
  gateway = new GatewayModel(testNumbers)
  gatewayLimit: RollingLimit
  subscriptionsLimit: FixedLimit
  /** Brings back what was saved last. */
  saved: (() => void) | undefined
  readonly #held = new Map<MerchantName, HeldToken>()
  readonly #pauses = new Map<MerchantName, { readonly from: number; readonly until: number }>()

  constructor(setting: Setting) {
    this.setting = setting
    this.now = Date.parse(setting.start)
    this.gatewayLimit = new RollingLimit(setting.gatewayLimit)
    this.subscriptionsLimit = new FixedLimit(setting.subscriptionsLimit)
  }

  /** As new. */
  reset(): void {
    this.now = Date.parse(this.setting.start)
    this.subscriptions = []
    this.tokens = []
    this.locks.clear()
    this.#held.clear()
    this.#pauses.clear()
    this.saved = undefined
    this.gateway = new GatewayModel(testNumbers)
    this.gatewayLimit = new RollingLimit(this.setting.gatewayLimit)
    this.subscriptionsLimit = new FixedLimit(this.setting.subscriptionsLimit)
  }

  /** Remembers what a snapshot holds; the function given back brings it back, as often as one likes. */
  save(): () => void {
    const kept = this.#copy()
    return () => {
      const { saved } = this
      Object.assign(this, kept.#copy(), { saved })
      // Clients are new after it.
      this.#held.clear()
      this.#pauses.clear()
    }
  }

  #copy(): Model {
    const copy = new Model(this.setting)
    copy.now = this.now
    copy.subscriptions = structuredClone(this.subscriptions)
    copy.tokens = structuredClone(this.tokens)
    copy.locks = new Map([...this.locks].map(([username, lock]) => [username, lock.copy()]))
    copy.gateway = this.gateway.copy()
    copy.gatewayLimit = this.gatewayLimit.copy()
    copy.subscriptionsLimit = this.subscriptionsLimit.copy()
    return copy
  }

  lock(username: string): LoginLock {
    const lock = this.locks.get(username) ?? new LoginLock()
    this.locks.set(username, lock)
    return lock
  }

  /** No access token holds any more; without `refreshToo`, refresh tokens do. */
  endTokens(refreshToo: boolean): void {
    for (const held of this.#held.values()) held.holds = false
    for (const token of this.tokens) {
      token.accessHolds = false
      if (refreshToo) token.refreshHolds = false
    }
  }

  /** Whose token this is, while it holds. */
  ownerOf(token: ModelToken | undefined): MerchantName | undefined {
    return token?.accessHolds === true && this.now < token.expiresAt ? token.owner : undefined
  }

  /** Status of a login that is asked for. */
  login(merchant: MerchantName): 200 | 429 {
    const { passes, headers } = this.subscriptionsLimit.take(merchant, this.now)
    if (!passes) {
      this.#pauses.set(merchant, { from: this.now, until: Number(headers[2]) * 1_000 })
      return 429
    }
    this.#pauses.delete(merchant)
    this.#held.set(merchant, { expiresAt: this.now + HOUR, holds: true, postponedUntil: this.now })
    return 200
  }

  /** Status of a login that a client makes by itself. */
  #ownLogin(merchant: MerchantName): 200 | 429 | typeof PAUSED {
    const pause = this.#pauses.get(merchant)
    const stands = pause !== undefined && this.now >= pause.from && this.now < pause.until
    return stands ? PAUSED : this.login(merchant)
  }

  /**
   * Statuses of what a client sends for one call of area S: a login when it has no token, or one near its end; the
   * call; after a 401, a login and the call again (design of the token lifecycle).
   *
   * @param status what the call itself is answered when it gets through
   */
  call(merchant: MerchantName, status: number): readonly number[] {
    const statuses: number[] = []
    const held = this.#held.get(merchant)
    const isNearItsEnd = held !== undefined && this.now >= held.expiresAt - MARGIN
    if (held === undefined || (isNearItsEnd && this.now >= held.postponedUntil)) {
      const login = this.#ownLogin(merchant)
      const isAlive = held !== undefined && this.now < held.expiresAt
      if (login !== PAUSED || !isAlive) statuses.push(login)
      if (login !== 200) {
        if (!isAlive) return statuses
        held.postponedUntil = this.now + 5_000
      }
    }
    const first = this.#attempt(merchant, status)
    statuses.push(first)
    if (first !== 401) return statuses
    // A token that was refused is not tried again, whatever becomes of the login.
    this.#held.delete(merchant)
    const login = this.#ownLogin(merchant)
    statuses.push(login)
    if (login === 200) statuses.push(this.#attempt(merchant, status))
    return statuses
  }

  #attempt(merchant: MerchantName, status: number): number {
    const held = this.#held.get(merchant)
    const holds = held?.holds === true && this.now < held.expiresAt
    if (!this.subscriptionsLimit.take(holds ? merchant : '', this.now).passes) return 429
    return holds ? status : 401
  }

  /** Status of a call of area G. */
  gatewayCall(status: number): number {
    return this.gatewayLimit.take(this.now) ? status : 429
  }

  /** Other merchants' subscriptions do not exist for a merchant. */
  owned(merchant: MerchantName, index: number): ModelSubscription | undefined {
    const one = this.subscriptions[index]
    return one?.owner === merchant ? one : undefined
  }
}
