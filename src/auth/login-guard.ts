import { type Clock, exportedWait, formatDuration } from '../clock.ts'
import { randomId } from '../contract/formats.ts'
import * as errors from '../errors.ts'
import { type Credentials, LOGIN } from './credentials.ts'
import type { LoginBlock, TokenRecord } from './token-record.ts'

/** Length of the first block, in ms, after a login fails for a reason other than rejected credentials. */
const FIRST_BLOCK = 10_000
/** The longest block, in ms, after failures other than rejected credentials. Each such failure doubles the block. */
export const MAX_BLOCK_MS = 900_000
const BLOCKS_KEPT = 8

/** Returns whether the same token request would fail again. After 408, 429, 503 or no response, it may succeed. */
export const isDecided = (error: unknown): boolean =>
  ![undefined, 408, 429, 503].includes(errors.knownError(error).status)

const isRejection = ({ verdict }: Pick<LoginBlock, 'verdict'>): boolean =>
  verdict === 'rejected-credentials' || verdict === 'locked'

/**
 * Calculates the fingerprint of credentials: SHA-256 over a random salt and all four values. A person who reads the
 * store cannot guess the password from the fingerprint, because the fingerprint also depends on the client secret.
 * On a page without TLS, `crypto.subtle` is missing, so all credentials have the same fingerprint.
 */
const fingerprintOf = async (credentials: Credentials, salt = ''): Promise<string> => {
  const { subtle }: Partial<Crypto> = crypto
  if (subtle === undefined) return 'unknown'
  const { clientId, clientSecret, username, password } = credentials
  const text = salt + JSON.stringify([clientId, clientSecret, username, password])
  const bytes = new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const blockedError = ({ status, errorCode, verdict }: LoginBlock, remaining: number) => {
  const isRejected = isRejection({ verdict })
  const retryAfterMs = exportedWait(remaining) ?? 0
  const facts = [verdict, status && `HTTP ${status}`, errorCode && `code "${errorCode}"`].filter(Boolean)
  const what = `an earlier login failed${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`
  const change = isRejected ? ' (option loginCooldown), when the credentials change,' : ''
  const message = `${LOGIN} failed: ${what}. The client logs in again in ${formatDuration(retryAfterMs)}${change} or when you call login().`
  const call = { operation: LOGIN, phase: 'login', outcome: 'not-sent', attempts: 0 } as const
  const details = { ...call, status, errorCode, verdict, retryAfterMs, retryable: !isRejected }
  if (status === 401) return new errors.AuthenticationError(message, details)
  if (verdict === 'locked') return new errors.LockedOutError(message, details)
  if (!status || verdict === 'rate-limited') return new errors.RateLimitError(message, details)
  return status < 400 && !errorCode
    ? new errors.UnexpectedResponseError(message, { ...details, status })
    : new errors.ApiError(message, details)
}

const blocksFor = async ({ blocks, salt }: TokenRecord, credentials: Credentials) => {
  if (blocks.length === 0) return blocks
  const mine = await fingerprintOf(credentials, salt)
  return blocks.filter(({ fingerprint = mine }) => fingerprint === mine)
}

export const blocksAfterLogin = async (record: TokenRecord, credentials: Credentials) => {
  const ended = await blocksFor(record, credentials)
  return record.blocks.filter((block) => !ended.includes(block))
}

/**
 * Decides whether a client may log in. Blocks logins after a failed login, because repeated failures lock the account
 * (Authentication, area S, rule 4). The blocks are in the token record, so they apply to all processes that share it.
 */
export const createLoginGuard = (loginCooldown: number, clock: Clock) => {
  // A store may save the block as JSON, which has no `Infinity`.
  const cooldown = Math.min(loginCooldown, Number.MAX_SAFE_INTEGER)
  /** The time at which `check` first saw each block. The map's key is the block's `at`. */
  let seen: ReadonlyMap<number, number> = new Map()
  return {
    /** Throws an error if a block prevents a login with these credentials. */
    async check(record: TokenRecord, credentials: Credentials): Promise<void> {
      const now = clock.now()
      const blocks = await blocksFor(record, credentials)
      // The clock of another process may be ahead. A block in the future begins when `check` first sees it.
      const begunAt = (at: number) => Math.min(at, now, seen.get(at) ?? now)
      seen = new Map(blocks.map(({ at }) => [at, begunAt(at)]))
      const remaining = ({ at, wait }: LoginBlock) => Math.min(wait, cooldown) - (now - begunAt(at))
      // If the error named the end of a shorter block, the caller would retry while the longer block still applies.
      const [longest] = [...blocks].sort((one, other) => remaining(other) - remaining(one))
      if (longest && remaining(longest) > 0) throw blockedError(longest, remaining(longest))
    },

    /**
     * Adds a block to the record after a failed token request, and sets the error's `retryAfterMs` and `retryable`.
     * Returns the new record, or undefined if the error causes no block. The block contains neither the message nor the
     * body of the error, because they could quote a secret.
     */
    async failed(record: TokenRecord, credentials: Credentials, error: unknown, isLogin: boolean) {
      const { status = 0, verdict, errorCode, retryAfterMs = 0, outcome } = errors.knownError(error)
      if (outcome === undefined || outcome === 'not-sent') return undefined
      const isNamed = status >= 400 && retryAfterMs >= 1_000
      // After a failed refresh, the client logs in with the password. The failed refresh must not block this login.
      if (!isLogin && (isDecided(error) || !isNamed)) return undefined
      const salt = record.salt ?? randomId()
      const facts = { at: clock.now(), status: status || undefined, errorCode, verdict }
      const last = record.blocks.find((block) => !isRejection(block))
      let block: LoginBlock = { ...facts, wait: last ? Math.min(last.wait * 2, MAX_BLOCK_MS) : FIRST_BLOCK }
      // Each further login with rejected credentials could lock the account. So a `Retry-After` does not shorten the
      // wait: a proxy may have added this header.
      if (isRejection(facts))
        block = { ...facts, wait: cooldown, fingerprint: await fingerprintOf(credentials, salt) }
      else if (isNamed) block = { at: facts.at, wait: retryAfterMs }
      const advice = {
        retryAfterMs: exportedWait(Math.min(block.wait, cooldown)),
        retryable: !isRejection(block),
      }
      Object.assign(Object(error), advice)
      const others = record.blocks.filter(({ fingerprint }) => fingerprint !== block.fingerprint)
      return { ...record, salt, blocks: [...others, block].slice(-BLOCKS_KEPT) }
    },
  }
}
