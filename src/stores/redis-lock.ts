import { randomMark } from '../auth/fingerprint.ts'
import { steadyClock } from '../notifications/steady-clock.ts'
import type { SendCommand } from './redis-commands.ts'
import { ACQUIRE, EXTEND_OWNED, RELEASE_OWNED } from './redis-scripts.ts'

const SHORTEST_POLL = 10
const LONGEST_POLL = 200
/** As long as a client waits for a lock: who has given up waiting must not go on asking. */
const LONGEST_WAIT = 150_000

const acquire = async (send: SendCommand, key: string, owner: string, lockTime: number): Promise<void> => {
  const giveUpAt = steadyClock.now() + LONGEST_WAIT
  for (let pause = SHORTEST_POLL; ; pause = Math.min(pause * 1.5, LONGEST_POLL)) {
    if (Number(await send('EVAL', ACQUIRE, '1', key, owner, String(lockTime))) === 1) return
    if (steadyClock.now() >= giveUpAt) throw new Error(`No lock could be had within ${LONGEST_WAIT} ms`)
    await steadyClock.sleep(pause * (0.5 + Math.random() / 2))
  }
}

/** Prolongs a lock until told to stop, or until it was lost. What fails is tried again: Redis may be back in time. */
const keepAlive = async (
  send: SendCommand,
  key: string,
  owner: string,
  lockTime: number,
  signal: AbortSignal,
): Promise<void> => {
  for (;;) {
    await steadyClock.sleep(lockTime / 3, signal)
    const extended = await send('EVAL', EXTEND_OWNED, '1', key, owner, String(lockTime)).catch(
      () => undefined,
    )
    if (extended !== undefined && Number(extended) === 0) return
  }
}

/**
 * Runs a task under a lock that has an end and an owner, prolonged while the task runs, and
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
