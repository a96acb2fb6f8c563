import type { Clock } from '../clock.ts'
import { randomId } from '../contract/formats.ts'
import type { Credentials } from './credentials.ts'
import { checkPause, pauseAfter, rejectedEarlier, rejectionIn } from './login-failure.ts'
import type { LoginPause, RefusedLogin, TokenRecord } from './token-record.ts'
import { hasLoginSince } from './token-record.ts'

/** Maximum number of rejected logins that are kept. Each has different credentials. */
const REFUSALS_KEPT = 8
const ITERATIONS = 100_000

/** Returns the credentials as one string for comparison. The string is a secret, so it stays in memory. */
export const secretOf = ({ clientId, clientSecret, username, password }: Credentials): string =>
  JSON.stringify([clientId, clientSecret, username, password])

/**
 * Calculates the fingerprint of credentials: PBKDF2-SHA-256 over all four values and a random salt. PBKDF2 is slow,
 * so a person who reads a shared store cannot try many passwords. Without `crypto.subtle` (a page without TLS) or
 * without PBKDF2, the fingerprint is random. Then other clients do not notice this client's rejected logins.
 */
const derive = async (secret: string, salt: string): Promise<string> => {
  const { subtle } = crypto
  const encoder = new TextEncoder()
  try {
    const key = await subtle.importKey('raw', encoder.encode(secret), 'PBKDF2', false, ['deriveBits'])
    const algorithm = { name: 'PBKDF2', hash: 'SHA-256', salt: encoder.encode(salt), iterations: ITERATIONS }
    const bytes = new Uint8Array(await subtle.deriveBits(algorithm, key, 256))
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  } catch {
    return `local-${randomId()}`
  }
}

/** A login of this client that the server rejected. `tokenId` is the id of the token stored at that time. */
interface OwnRefusal {
  readonly secret: string
  readonly refusal: RefusedLogin
  readonly tokenId: string | undefined
}

/**
 * Prevents logins with rejected credentials, because repeated failures lock the account (Authentication, area S, rule
 * 4). The stored record contains rejections and pauses, so that all processes obey them. This client also remembers
 * its own rejections, because a store may return an old or incomplete record.
 */
export class LoginBreaker {
  readonly #cooldown: number
  readonly #clock: Clock
  #own: readonly OwnRefusal[] = []
  #ownPause: { readonly pause: LoginPause; readonly tokenId: string | undefined } | undefined
  #last: { readonly secret: string; readonly salt: string; readonly result: Promise<string> } | undefined

  constructor(cooldown: number, clock: Clock) {
    this.#cooldown = cooldown
    this.#clock = clock
  }

  /** Throws during a pause, and for some time after the server rejected these credentials. */
  async check(record: TokenRecord, secret: string): Promise<void> {
    const own = this.#own.find((each) => each.secret === secret)
    const isOwn =
      own !== undefined && this.#stands(own.refusal) && !hasLoginSince(record, own.refusal.at, own.tokenId)
    const refusal = isOwn ? own.refusal : (await this.#split(record, secret)).same
    const now = this.#clock.now()
    if (refusal !== undefined) throw rejectedEarlier(refusal, this.#cooldown - Math.max(0, now - refusal.at))
    checkPause(this.#pause(record), now, this.#cooldown)
  }

  /** Adds the rejection or the pause after `error` to the record. Returns undefined if `error` is about no response. */
  async failed(record: TokenRecord, secret: string, error: unknown, isLogin: boolean) {
    const at = this.#clock.now()
    const rejection = isLogin ? rejectionIn(error) : undefined
    if (rejection === undefined) {
      const pause = pauseAfter(error, at, this.#pause(record))
      // After a failed refresh, the client logs in with the password unless the server asked for a pause.
      if (!isLogin && pause?.status !== undefined) return undefined
      if (pause) this.#ownPause = { pause, tokenId: record.token?.id }
      return pause && { ...record, pause }
    }
    const salt = record.salt ?? randomId()
    const refusal = { ...rejection, fingerprint: '', at }
    this.#forget(secret)
    this.#own = [...this.#own, { secret, refusal, tokenId: record.token?.id }].slice(-REFUSALS_KEPT)
    const fingerprint = await this.#fingerprint(secret, salt)
    const { others } = await this.#split({ ...record, salt }, secret)
    return { ...record, salt, refusals: [...others, { ...refusal, fingerprint }].slice(-REFUSALS_KEPT) }
  }

  /** Forgets the rejections of these credentials, and returns the current rejections of other credentials. */
  async succeeded(record: TokenRecord, secret: string): Promise<readonly RefusedLogin[]> {
    this.#forget(secret)
    this.#ownPause = undefined
    return (await this.#split(record, secret)).others
  }

  /** Returns the later of the record's pause and this client's own pause. A login by another process ends the latter. */
  #pause(record: TokenRecord): LoginPause | undefined {
    const { pause, tokenId } = this.#ownPause ?? {}
    if (pause === undefined || hasLoginSince(record, pause.at, tokenId)) return record.pause
    return record.pause && record.pause.at > pause.at ? record.pause : pause
  }

  #forget(secret: string): void {
    this.#own = this.#own.filter((own) => own.secret !== secret)
  }

  /** Returns the record's current rejections: `same` for these credentials, `others` for all other credentials. */
  async #split({ refusals, salt = '' }: TokenRecord, secret: string) {
    const standing = refusals.filter((refusal) => this.#stands(refusal))
    const fingerprint = standing.length === 0 ? '' : await this.#fingerprint(secret, salt)
    return {
      same: standing.find((refusal) => refusal.fingerprint === fingerprint),
      others: standing.filter((refusal) => refusal.fingerprint !== fingerprint),
    }
  }

  /** Returns whether a rejection blocks logins now. A time in the far future is wrong and does not count. */
  #stands({ at }: RefusedLogin): boolean {
    return Math.abs(this.#clock.now() - at) < this.#cooldown
  }

  /** Returns the fingerprint of credentials. The last result is kept, because the calculation is slow. */
  #fingerprint(secret: string, salt: string): Promise<string> {
    if (this.#last?.secret !== secret || this.#last.salt !== salt)
      this.#last = { secret, salt, result: derive(secret, salt) }
    return this.#last.result
  }
}
