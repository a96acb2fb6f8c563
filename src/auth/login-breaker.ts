import type { ApiError } from '../errors.ts'
import type { Credentials } from './credentials.ts'
import { createFingerprint, randomMark } from './fingerprint.ts'
import { refusalFrom, refusedEarlier } from './refused-login.ts'
import type { RefusedLogin, TokenRecord } from './token-record.ts'
import { REFUSALS_KEPT } from './token-record.ts'

/**
 * Keeps refused credentials from being sent again: repeated failures lock the account for valid credentials too
 * (area S, Authentication 4). Refusals stand in the record, so that every process heeds them.
 */
export class LoginBreaker {
  readonly #cooldown: number
  readonly #fingerprint = createFingerprint()

  /** @param cooldown how long a refusal stands, in milliseconds */
  constructor(cooldown: number) {
    this.#cooldown = cooldown
  }

  /** Throws the earlier refusal's error while these credentials stand refused. */
  async check(record: TokenRecord, credentials: Credentials, now: number): Promise<void> {
    const standing = this.#standing(record, now)
    if (standing.length === 0 || record.salt === undefined) return
    const fingerprint = await this.#fingerprint(credentials, record.salt)
    const refusal = standing.find((candidate) => candidate.fingerprint === fingerprint)
    if (refusal !== undefined) throw refusedEarlier(refusal, this.#cooldown - Math.max(0, now - refusal.at))
  }

  /** The record with a refusal of these credentials added. */
  async opened(
    record: TokenRecord,
    credentials: Credentials,
    error: ApiError & { readonly status: number },
    now: number,
  ): Promise<TokenRecord> {
    const salt = record.salt ?? randomMark()
    const fingerprint = await this.#fingerprint(credentials, salt)
    const others = this.#standing(record, now).filter((refusal) => refusal.fingerprint !== fingerprint)
    const refusals = [...others, refusalFrom(error, fingerprint, now)].slice(-REFUSALS_KEPT)
    return { ...record, salt, refusals }
  }

  /** The refusals that remain once these credentials were accepted. */
  async closed(record: TokenRecord, credentials: Credentials, now: number): Promise<readonly RefusedLogin[]> {
    const standing = this.#standing(record, now)
    if (standing.length === 0 || record.salt === undefined) return []
    const fingerprint = await this.#fingerprint(credentials, record.salt)
    return standing.filter((refusal) => refusal.fingerprint !== fingerprint)
  }

  /** Refusals within their cool-down. One from beyond the next cool-down was written by a clock gone wrong. */
  #standing({ refusals }: TokenRecord, now: number): readonly RefusedLogin[] {
    return refusals.filter(({ at }) => Math.abs(now - at) < this.#cooldown)
  }
}
