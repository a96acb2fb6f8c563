import { type Clock, exportedWait } from '../clock.ts'
import { randomId } from '../contract/formats.ts'
import type { Credentials } from './credentials.ts'
import { blockAfter, blockedError, isRejection } from './login-failure.ts'
import { hasLoginSince, type LoginBlock, type TokenRecord } from './token-record.ts'

/** Maximum number of login blocks in a record. Two blocks never have the same fingerprint. */
const BLOCKS_KEPT = 8

/** Returns the credentials as one string for comparison. The string is a secret, so it stays in memory. */
export const secretOf = ({ clientId, clientSecret, username, password }: Credentials): string =>
  JSON.stringify([clientId, clientSecret, username, password])

/**
 * Calculates the fingerprint of credentials: SHA-256 over all four values and a random salt. A reader of the store
 * cannot guess the values, because the client secret is one of them. Without `crypto.subtle` (a page without TLS), the
 * fingerprint is random, so other clients do not recognize the rejected credentials.
 */
const fingerprintOf = async (secret: string, salt: string): Promise<string> => {
  const { subtle }: Partial<Crypto> = crypto
  if (subtle === undefined) return `local-${randomId()}`
  const bytes = new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(salt + secret)))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
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
  /** When a check first saw the present blocks, by the time `at` of each block. */
  #seen: ReadonlyMap<number, number> = new Map()

  constructor(cooldown: number, clock: Clock) {
    // JSON has no `Infinity`.
    this.#cooldown = Math.min(cooldown, Number.MAX_SAFE_INTEGER)
    this.#clock = clock
  }

  /** Throws while a block prevents logins with these credentials. */
  async check(record: TokenRecord, secret: string): Promise<void> {
    const now = this.#clock.now()
    const blocks = await this.#blocks(record, secret)
    // The clock of another process may be ahead. A block in the future counts as begun when this client first sees it.
    const begunAt = (at: number) => Math.min(at, now, this.#seen.get(at) ?? now)
    this.#seen = new Map(blocks.map(({ at }) => [at, begunAt(at)]))
    for (const block of blocks) {
      const remaining = Math.min(block.wait, this.#cooldown) - (now - begunAt(block.at))
      if (remaining > 0) throw blockedError(block, remaining)
    }
  }

  /**
   * Returns the record with a block for a failed token request, and when the call may be made again. Returns undefined
   * if `error` causes no block.
   */
  async failed(record: TokenRecord, secret: string, error: unknown, isLogin: boolean) {
    const last = (await this.#blocks(record, secret)).find((block) => !isRejection(block))
    const block = blockAfter(error, this.#clock.now(), this.#cooldown, last, isLogin)
    if (block === undefined) return undefined
    const of = isRejection(block) ? secret : undefined
    this.#own = [
      ...this.#own.filter((own) => own.secret !== of),
      { secret: of, block, tokenId: record.token?.id },
    ]
    this.#own = this.#own.slice(-BLOCKS_KEPT)
    const salt = record.salt ?? randomId()
    const fingerprint = of && (await fingerprintOf(of, salt))
    const others = record.blocks.filter((other) => other.fingerprint !== fingerprint)
    const blocks = [...others, { ...block, fingerprint }].slice(-BLOCKS_KEPT)
    const retryAfterMs = exportedWait(Math.min(block.wait, this.#cooldown))
    return { record: { ...record, salt, blocks }, advice: { retryAfterMs, retryable: of === undefined } }
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
    const mine = isSalted ? await fingerprintOf(secret, salt) : undefined
    const own = this.#own.filter(
      ({ block, secret: of = secret, tokenId }) => of === secret && !hasLoginSince(record, block.at, tokenId),
    )
    const shared = blocks.filter(({ fingerprint = mine }) => fingerprint === mine)
    return [...own.map(({ block }) => block), ...shared]
  }
}
