/** Prolongs KEYS[1] to ARGV[2] milliseconds if ARGV[1] holds it. Replies 1, or 0 when it does not. */
export const EXTEND_OWNED =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"

/** Deletes KEYS[1] if ARGV[1] holds it. Replies 1, or 0 when it does not. */
export const RELEASE_OWNED =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
