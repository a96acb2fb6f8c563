import type { ApiError } from '../errors.ts'
import type { Credentials } from './credentials.ts'
import { areSame } from './credentials.ts'
import { createFingerprint, randomMark } from './fingerprint.ts'
import { refusalFrom, refusedEarlier } from './refused-login.ts'
import type { RefusedLogin, TokenRecord } from './token-record.ts'
import { REFUSALS_KEPT } from './token-record.ts'

/** A refusal of this client's own, with what it was refused for. */
interface OwnRefusal {
  readonly credentials: Credentials
  readonly refusal: RefusedLogin
  /** The token that stood in the record then. */
  readonly tokenId: string | undefined
}

/** Whether somebody has logged in since: the record holds a token that is younger than the refusal. */
const isLifted = ({ refusal, tokenId }: OwnRefusal, { token }: TokenRecord): boolean =>
  token !== undefined && token.id !== tokenId && token.obtainedAt > refusal.at

/**
 * Keeps refused credentials from being sent again: repeated failures lock the account for valid credentials too
 * (area S, Authentication 4). Refusals stand in the record, so that every process heeds them, and in this client's
 * memory besides: a store may return an old record, or lose a part of one.
 */
export class LoginBreaker {
  readonly #cooldown: number
  readonly #fingerprint = createFingerprint()
  #own: readonly OwnRefusal[] = []

  /** @param cooldown how long a refusal stands, in milliseconds */
  constructor(cooldown: number) {
    this.#cooldown = cooldown
  }

  /** Throws the earlier refusal's error while these credentials stand refused. */
  async check(record: TokenRecord, credentials: Credentials, now: number): Promise<void> {
    const refusal =
      this.#ownRefusal(record, credentials, now) ?? (await this.#shared(record, credentials, now))
    if (refusal !== undefined) throw refusedEarlier(refusal, this.#cooldown - Math.max(0, now - refusal.at))
  }

  /** The record with a refusal of these credentials added. */
  async opened(
    record: TokenRecord,
    credentials: Credentials,
    error: ApiError & { readonly status: number },
    now: number,
  ): Promise<TokenRecord> {
    const own = { credentials, refusal: refusalFrom(error, '', now), tokenId: record.token?.id }
    this.#own = [...this.#othersThan(credentials), own].slice(-REFUSALS_KEPT)
    const salt = record.salt ?? randomMark()
    const fingerprint = await this.#fingerprint(credentials, salt)
    const others = this.#standing(record, now).filter((refusal) => refusal.fingerprint !== fingerprint)
    const refusals = [...others, refusalFrom(error, fingerprint, now)].slice(-REFUSALS_KEPT)
    return { ...record, salt, refusals }
  }

  /** The refusals that remain once these credentials were accepted. */
  async closed(record: TokenRecord, credentials: Credentials, now: number): Promise<readonly RefusedLogin[]> {
    this.#own = this.#othersThan(credentials)
    const standing = this.#standing(record, now)
    if (standing.length === 0 || record.salt === undefined) return []
    const fingerprint = await this.#fingerprint(credentials, record.salt)
    return standing.filter((refusal) => refusal.fingerprint !== fingerprint)
  }

  #othersThan(credentials: Credentials): OwnRefusal[] {
    return this.#own.filter((own) => !areSame(own.credentials, credentials))
  }

  #ownRefusal(record: TokenRecord, credentials: Credentials, now: number): RefusedLogin | undefined {
    const own = this.#own.find((candidate) => areSame(candidate.credentials, credentials))
    if (own === undefined || isLifted(own, record)) return undefined
    return this.#isStanding(own.refusal, now) ? own.refusal : undefined
  }

  async #shared(
    record: TokenRecord,
    credentials: Credentials,
    now: number,
  ): Promise<RefusedLogin | undefined> {
    const standing = this.#standing(record, now)
    if (standing.length === 0 || record.salt === undefined) return undefined
    const fingerprint = await this.#fingerprint(credentials, record.salt)
    return standing.find((candidate) => candidate.fingerprint === fingerprint)
  }

  #standing({ refusals }: TokenRecord, now: number): readonly RefusedLogin[] {
    return refusals.filter((refusal) => this.#isStanding(refusal, now))
  }

  /** Whether the cool-down lasts. A refusal from beyond the next cool-down was written by a clock gone wrong. */
  #isStanding({ at }: RefusedLogin, now: number): boolean {
    return Math.abs(now - at) < this.#cooldown
  }
}
