import type { Authorization } from './authorizer.ts'
import { LONGEST_LIFETIME, marginOf } from './token-lifetime.ts'
import type { StoredToken } from './token-record.ts'

/** A token in use, with times of this process's own clock. */
export interface HeldToken {
  readonly id: string
  readonly renewAt: number
  readonly expiresAt: number
  readonly authorization: Authorization
}

/**
 * Takes a token into use. Only its age counts, never an absolute time of another clock: a token that comes from the
 * future (its writer's clock is ahead) is as old as its first sight here.
 */
export const hold = (token: StoredToken, now: number): HeldToken => {
  const age = Math.max(0, now - token.obtainedAt)
  const lifetime = Math.min(token.lifetime, LONGEST_LIFETIME)
  const expiresAt = now + lifetime - age
  return {
    id: token.id,
    renewAt: expiresAt - marginOf(lifetime),
    expiresAt,
    authorization: { header: `Bearer ${token.accessToken}`, credential: {} },
  }
}
