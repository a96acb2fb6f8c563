/** Prolongs KEYS[1] to ARGV[2] milliseconds if ARGV[1] holds it. Replies 1, or 0 when it does not. */
export const EXTEND_OWNED =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"

/** Deletes KEYS[1] if ARGV[1] holds it. Replies 1, or 0 when it does not. */
export const RELEASE_OWNED =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

/**
 * Gives the lock KEYS[1] to ARGV[1] for ARGV[2] milliseconds. Replies 1, or 0 when someone else has it. A client sends
 * it again when its reply was lost: who has the lock gets it. A lock always has an end: what stands under the key
 * without one is none, and would otherwise stop everybody for ever.
 */
export const ACQUIRE = `if redis.call('PTTL', KEYS[1]) >= 0 and redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`
