import type { Clock } from '../clock.ts'
import { randomId } from '../contract/formats.ts'
import type { Credentials } from './credentials.ts'
import { blockAfter, blockedError } from './login-failure.ts'
import type { LoginBlock, TokenRecord } from './token-record.ts'
import { hasLoginSince } from './token-record.ts'

/** Maximum number of login blocks in a record. Two blocks never have the same fingerprint. */
const BLOCKS_KEPT = 8
const ITERATIONS = 100_000
/** Maximum difference between the clocks of two processes, in milliseconds. */
const LONGEST_SKEW = 60_000

/** Returns the credentials as one string for comparison. The string is a secret, so it stays in memory. */
export const secretOf = ({ clientId, clientSecret, username, password }: Credentials): string =>
  JSON.stringify([clientId, clientSecret, username, password])

/**
 * Calculates the fingerprint of credentials: PBKDF2-SHA-256 over all four values and a random salt. PBKDF2 is slow,
 * so a person who reads a shared store cannot try many passwords. Without `crypto.subtle` (a page without TLS) or
 * without PBKDF2, the fingerprint is random, so other clients do not recognize the rejected credentials.
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

/** A login block that this client caused. If `secret` is undefined, the block is for all credentials. */
interface OwnBlock {
  readonly secret: string | undefined
  readonly block: LoginBlock
  /** Id of the token that the store contained when the block began. */
  readonly tokenId: string | undefined
}

/**
 * Blocks logins after a failed login, because repeated failures lock the account (Authentication, area S, rule 4). The
 * token store contains the blocks, so that all processes obey them. This client also keeps its own blocks in memory,
 * because a store may return an old or incomplete record.
 */
export class LoginBreaker {
  readonly #cooldown: number
  readonly #clock: Clock
  #own: readonly OwnBlock[] = []
  #last: { readonly secret: string; readonly salt: string; readonly result: Promise<string> } | undefined

  constructor(cooldown: number, clock: Clock) {
    this.#cooldown = cooldown
    this.#clock = clock
  }

  /** Throws while a block prevents logins with these credentials. */
  async check(record: TokenRecord, secret: string): Promise<void> {
    for (const block of await this.#blocks(record, secret)) {
      const remaining = this.#remaining(block)
      if (remaining > 0) throw blockedError(block, remaining)
    }
  }

  /** Returns the record with a block for a failed token request, or undefined if `error` causes no block. */
  async failed(record: TokenRecord, secret: string, error: unknown, isLogin: boolean) {
    const last = (await this.#blocks(record, secret)).find(({ errorCode }) => errorCode === undefined)
    const block = blockAfter(error, this.#clock.now(), this.#cooldown, last, isLogin)
    if (block === undefined) return undefined
    const of = block.errorCode === undefined ? undefined : secret
    this.#own = [
      ...this.#own.filter((own) => own.secret !== of),
      { secret: of, block, tokenId: record.token?.id },
    ]
    this.#own = this.#own.slice(-BLOCKS_KEPT)
    const salt = record.salt ?? randomId()
    const fingerprint = of && (await this.#fingerprint(of, salt))
    const others = record.blocks.filter((other) => other.fingerprint !== fingerprint)
    return { ...record, salt, blocks: [...others, { ...block, fingerprint }].slice(-BLOCKS_KEPT) }
  }

  /** Removes the blocks that apply to these credentials, and returns the blocks for other credentials. */
  async succeeded(record: TokenRecord, secret: string): Promise<readonly LoginBlock[]> {
    const ended = await this.#blocks(record, secret)
    this.#own = this.#own.filter(({ block }) => !ended.includes(block))
    return record.blocks.filter((block) => !ended.includes(block))
  }

  /** Returns the blocks that apply to these credentials. A later login by another process ends this client's blocks. */
  async #blocks(record: TokenRecord, secret: string): Promise<readonly LoginBlock[]> {
    const { blocks, salt = '' } = record
    const isSalted = blocks.some(({ fingerprint }) => fingerprint !== undefined)
    const mine = isSalted ? await this.#fingerprint(secret, salt) : undefined
    const own = this.#own.filter(
      ({ block, secret: of = secret, tokenId }) => of === secret && !hasLoginSince(record, block.at, tokenId),
    )
    const shared = blocks.filter(({ fingerprint = mine }) => fingerprint === mine)
    return [...own.map(({ block }) => block), ...shared]
  }

  /** Returns the remaining milliseconds of a block. Returns 0 if a wrong clock set the start far in the future. */
  #remaining({ at, wait }: LoginBlock): number {
    const elapsed = this.#clock.now() - at
    return elapsed <= -LONGEST_SKEW ? 0 : Math.min(wait, this.#cooldown) - Math.max(0, elapsed)
  }

  /** Returns the fingerprint of credentials. Caches the last fingerprint, because the calculation is slow. */
  #fingerprint(secret: string, salt: string): Promise<string> {
    if (this.#last?.secret !== secret || this.#last.salt !== salt)
      this.#last = { secret, salt, result: derive(secret, salt) }
    return this.#last.result
  }
}
