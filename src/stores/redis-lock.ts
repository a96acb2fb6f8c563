import { randomMark } from '../auth/fingerprint.ts'
import { systemClock } from '../system-clock.ts'
import type { SendCommand } from './redis-commands.ts'
import { EXTEND_OWNED, RELEASE_OWNED } from './redis-scripts.ts'

const SHORTEST_POLL = 10
const LONGEST_POLL = 200

const acquire = async (send: SendCommand, key: string, owner: string, lockTime: number): Promise<void> => {
  for (let pause = SHORTEST_POLL; ; pause = Math.min(pause * 1.5, LONGEST_POLL)) {
    if ((await send('SET', key, owner, 'NX', 'PX', String(lockTime))) === 'OK') return
    await systemClock.sleep(pause * (0.5 + Math.random() / 2))
  }
}

/** Prolongs a lock until told to stop, or until it was lost; it then ends at another's lock time at the latest. */
const keepAlive = async (
  send: SendCommand,
  key: string,
  owner: string,
  lockTime: number,
  signal: AbortSignal,
): Promise<void> => {
  for (;;) {
    await systemClock.sleep(lockTime / 3, signal)
    if ((await send('EVAL', EXTEND_OWNED, '1', key, owner, String(lockTime))) === 0) return
  }
}

/**
 * Runs a task under a lock that has an end and an owner: `SET key owner NX PX`, prolonged while the task runs, and
 * taken away by its owner alone. Rejects when the lock cannot be asked for; once the task runs, settles as it does.
 */
export const withRedisLock = async <Result>(
  send: SendCommand,
  key: string,
  lockTime: number,
  task: () => Promise<Result>,
): Promise<Result> => {
  const owner = randomMark()
  // When the release is lost, the lock ends by itself.
  const release = () => send('EVAL', RELEASE_OWNED, '1', key, owner).catch(() => undefined)
  try {
    await acquire(send, key, owner, lockTime)
  } catch (error) {
    // The reply may have been lost and the lock be ours.
    void release()
    throw error
  }
  const stop = new AbortController()
  keepAlive(send, key, owner, lockTime, stop.signal).catch(() => undefined)
  try {
    return await task()
  } finally {
    stop.abort()
    await release()
  }
}
