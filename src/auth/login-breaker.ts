import type { Clock } from '../clock.ts'
import { randomId } from '../contract/formats.ts'
import type { Credentials } from './credentials.ts'
import { checkPause, pauseIn, rejectedEarlier, rejectionIn } from './login-failure.ts'
import type { RefusedLogin, TokenRecord } from './token-record.ts'
import { hasLoginSince } from './token-record.ts'

/** How many rejected logins are kept, each of other credentials. */
const REFUSALS_KEPT = 8
const ITERATIONS = 100_000

/** The credentials as one text, for comparison. It is a secret, and stays in memory. */
export const secretOf = ({ clientId, clientSecret, username, password }: Credentials): string =>
  JSON.stringify([clientId, clientSecret, username, password])

/**
 * Derives what tells whether credentials changed, without keeping them: PBKDF2-SHA-256 over all four values and a random
 * salt. It is slow on purpose, so that a reader of a shared store cannot try passwords against it in bulk. Pages without
 * TLS have no `crypto.subtle`, and some runtimes lack PBKDF2: there a random text takes its place, and rejections are
 * remembered within this client only.
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

/** A rejection that this client received itself, and the record's token at that time. */
interface OwnRefusal {
  readonly secret: string
  readonly refusal: RefusedLogin
  readonly tokenId: string | undefined
}

/**
 * Keeps rejected credentials from being sent again, because repeated failures lock the account for valid credentials
 * too (Authentication, area S, rule 4). Rejections are kept in the record, so that every process honors them, and in this
 * client's memory, because a store may return an old record or lose a part of one. Pauses are kept in the record.
 */
export class LoginBreaker {
  readonly #cooldown: number
  readonly #clock: Clock
  #own: readonly OwnRefusal[] = []
  #last: { readonly secret: string; readonly salt: string; readonly result: Promise<string> } | undefined

  constructor(cooldown: number, clock: Clock) {
    this.#cooldown = cooldown
    this.#clock = clock
  }

  /** Throws while an earlier rejection of these credentials stands, or a pause lasts. */
  async check(record: TokenRecord, secret: string): Promise<void> {
    const own = this.#own.find((each) => each.secret === secret)
    const isOwn =
      own !== undefined && this.#stands(own.refusal) && !hasLoginSince(record, own.refusal.at, own.tokenId)
    const refusal = isOwn ? own.refusal : (await this.#split(record, secret)).same
    const now = this.#clock.now()
    if (refusal !== undefined) throw rejectedEarlier(refusal, this.#cooldown - Math.max(0, now - refusal.at))
    checkPause(record.pause, now, this.#cooldown)
  }

  /** The record after a failed token request: with a rejection of these credentials, or a pause. */
  async failed(record: TokenRecord, secret: string, error: unknown, isLogin: boolean) {
    const at = this.#clock.now()
    const pause = pauseIn(error, at)
    const rejection = isLogin ? rejectionIn(error) : undefined
    if (rejection === undefined) return pause && { ...record, pause }
    const salt = record.salt ?? randomId()
    const refusal = { ...rejection, fingerprint: '', at }
    this.#forget(secret)
    this.#own = [...this.#own, { secret, refusal, tokenId: record.token?.id }].slice(-REFUSALS_KEPT)
    const fingerprint = await this.#fingerprint(secret, salt)
    const { others } = await this.#split({ ...record, salt }, secret)
    return { ...record, salt, refusals: [...others, { ...refusal, fingerprint }].slice(-REFUSALS_KEPT) }
  }

  /** The rejections that remain after the server accepted these credentials. */
  async succeeded(record: TokenRecord, secret: string): Promise<readonly RefusedLogin[]> {
    this.#forget(secret)
    return (await this.#split(record, secret)).others
  }

  #forget(secret: string): void {
    this.#own = this.#own.filter((own) => own.secret !== secret)
  }

  /** The record's rejections that stand: that of the same credentials, and those of others. */
  async #split({ refusals, salt = '' }: TokenRecord, secret: string) {
    const standing = refusals.filter((refusal) => this.#stands(refusal))
    const fingerprint = standing.length === 0 ? '' : await this.#fingerprint(secret, salt)
    return {
      same: standing.find((refusal) => refusal.fingerprint === fingerprint),
      others: standing.filter((refusal) => refusal.fingerprint !== fingerprint),
    }
  }

  /** Whether the cool-down lasts. A rejection from far in the future was written by a wrong clock. */
  #stands({ at }: RefusedLogin): boolean {
    return Math.abs(this.#clock.now() - at) < this.#cooldown
  }

  /** The last result is kept, because deriving it is slow. */
  #fingerprint(secret: string, salt: string): Promise<string> {
    if (this.#last?.secret !== secret || this.#last.salt !== salt)
      this.#last = { secret, salt, result: derive(secret, salt) }
    return this.#last.result
  }
}
