import { randomInt, randomUUID } from 'node:crypto'
import { readdir, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { delayResponse, startTimer } from '../time/machine.ts'

// proper-lockfile removes a stale lock, which may be another server's new one by then: of six processes that started
// after a crash, two or more got the lock in 6 of 20 rounds. It also replaces `fs.close` and `process.emit`.

const RENEWED_AFTER_MS = 500
/** A lock that was not renewed for this time is left over from a server that crashed. */
const STALE_AFTER_MS = 5_000
/** Servers that start at the same time try again after different waits. */
const RETRY_MS = [100, 400] as const

/** The lock of one server on its state file. */
export interface FileLock {
  /** Path of a file for this server's incomplete writes. It is removed together with the lock. */
  readonly draft: string
  /** Renews the lock. Rejects if another server took over the file while this process was suspended. */
  renew(): Promise<void>
  release(): Promise<void>
}

const renewedAt = async (lock: string): Promise<number | undefined> =>
  (await stat(lock).catch(() => undefined))?.mtimeMs

const draftOf = (lock: string): string => lock.replace(/lock$/, 'draft')

const remove = async (lock: string): Promise<void> => {
  await rm(lock, { force: true })
  await rm(draftOf(lock), { force: true })
}

// The name of another state file may start with the name of this one.
const isLockOf = (file: string, name: string): boolean =>
  name.startsWith(`${file}.`) && /^[\da-f-]{36}\.lock$/.test(name.slice(file.length + 1))

const inUse = (): Error => new Error('another server uses it. Stop that server, or name another file')

const write = (lock: string, flag: 'r+' | 'wx'): Promise<void> =>
  writeFile(lock, 'in use', { flag, mode: 0o600 })

const hold = (lock: string): FileLock => {
  let hasEnded = false
  let stopTimer = (): void => undefined
  const renew = (): Promise<void> =>
    write(lock, 'r+').catch((error) => {
      throw Object(error).code === 'ENOENT' ? inUse() : error
    })
  const renewLater = (): void => {
    stopTimer = startTimer(RENEWED_AFTER_MS, () => {
      const ended = renew().catch(() => undefined)
      void ended.then(() => {
        if (!hasEnded) renewLater()
      })
    })
  }
  renewLater()
  return {
    draft: draftOf(lock),
    renew,
    async release() {
      hasEnded = true
      stopTimer()
      await remove(lock)
    },
  }
}

/**
 * Locks a file for one server. Servers may run in several containers of one machine: the lock does not depend on
 * process ids. If the server that had the lock crashed, this waits until its lock is stale.
 *
 * Each server that wants the lock creates a lock file with a new name, and then looks for others: it has the lock if
 * there is no other. So no two servers have it, and a stale lock can be removed without removing a new one.
 *
 * @throws an Error if another server has the lock
 */
export const lockFile = async (path: string): Promise<FileLock> => {
  const seen = new Map<string, number>()

  const look = async (own: string): Promise<'free' | 'unclear' | 'used'> => {
    // Both times are those of the file system. The machine's clock may differ, for example under fake timers.
    const now = (await renewedAt(own)) ?? Number.NaN
    const names = await readdir(dirname(path))
    const others = names
      .filter((name) => isLockOf(basename(path), name))
      .map((name) => join(dirname(path), name))
    let result: 'free' | 'unclear' = 'free'
    for (const lock of others) {
      if (lock === own) continue
      const at = await renewedAt(lock)
      if (at === undefined) continue
      if (Math.abs(now - at) > STALE_AFTER_MS) {
        await remove(lock)
        continue
      }
      if ((seen.get(lock) ?? at) !== at) return 'used'
      seen.set(lock, at)
      result = 'unclear'
    }
    return result
  }

  for (;;) {
    const own = join(dirname(path), `${basename(path)}.${randomUUID()}.lock`)
    await write(own, 'wx')
    const found = await look(own).catch(async (error) => {
      await remove(own)
      throw error
    })
    if (found === 'free') return hold(own)
    await remove(own)
    if (found === 'used') throw inUse()
    await delayResponse(randomInt(...RETRY_MS), null)
  }
}
