import { randomInt, randomUUID } from 'node:crypto'
import { access, constants, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { emitWarning } from 'node:process'
import { deserialize, serialize } from 'node:v8'
import { crc32 } from 'node:zlib'
import { internalsOf } from '../assemble.ts'
import { snapshotOf } from '../state.ts'
import { delayResponse, machineNow, startTimer } from '../time/machine.ts'
import type { Mock } from '../types.ts'

// Not proper-lockfile: when it removes a stale lock, another server may already have replaced this lock. Of six
// processes that started after a crash, two or more got the lock in 6 of 20 rounds. It also replaces `fs.close` and
// `process.emit`.

const RENEWED_AFTER_MS = 500
/** If a lock was not renewed for this time, its server has crashed. */
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
 * process ids. If the server that held the lock crashed, waits until the lock is stale.
 *
 * Each server creates a lock file with a new name. The server has the lock if there is no other lock file. So two
 * servers never have the lock at once, and a server that removes a stale lock file cannot remove a new one.
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

const PAUSE_MS = 1_000
// After a save, the server pauses for 19 times the duration of the save, so saving takes at most 5 % of the time.
const PAUSE_FACTOR = 19

/** Thrown if a state file cannot be used. The message names the file and the reason. */
class StateFileError extends Error {
  override readonly name = 'StateFileError'
  readonly code = 'ERR_STATE_FILE'
}

const fail = (path: string, problem: string, cause: unknown): never => {
  const reason = cause instanceof Error ? cause.message : String(cause)
  throw new StateFileError(`The state file ${path} ${problem}: ${reason}`, { cause })
}

const CHECKSUM_BYTES = 4

/** Returns a snapshot's bytes with their checksum at the end. */
const withChecksum = (content: Buffer): Buffer => {
  const checksum = Buffer.alloc(CHECKSUM_BYTES)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([content, checksum])
}

const contentOf = (file: Buffer): Buffer => {
  const content = file.subarray(0, -CHECKSUM_BYTES)
  if (withChecksum(content).equals(file)) return content
  throw new Error('its checksum is wrong. The file was changed, or an older version of mandatekit wrote it')
}

const isMissing = (error: unknown): boolean => Object(error).code === 'ENOENT'

/** The state file of a server. */
export interface StateFile {
  /** Starts to write changes to the file. Returns a function that writes the last changes and unlocks the file. */
  keep(): () => Promise<void>
  /** Unlocks the file for other servers. */
  free(): Promise<void>
}

/**
 * Locks a file, and restores the state of a mock from the file, if it exists.
 *
 * @throws StateFileError if the file or its folder cannot be used, or if another server uses the file
 */
export const loadState = async (path: string, mock: Mock): Promise<StateFile> => {
  await access(dirname(path), constants.W_OK).catch((error) => fail(path, 'cannot be written', error))
  const lock = await lockFile(path).catch((error) => fail(path, 'cannot be locked', error))
  try {
    return { keep: await restoreState(path, mock, lock), free: lock.release }
  } catch (error) {
    await lock.release()
    throw error
  }
}

const restoreState = async (path: string, mock: Mock, lock: FileLock): Promise<StateFile['keep']> => {
  let written: Buffer | undefined = await readFile(path).catch((error) =>
    isMissing(error) ? undefined : fail(path, 'cannot be read', error),
  )
  try {
    if (written !== undefined) mock.restore(deserialize(contentOf(written)))
  } catch (error) {
    fail(path, 'does not fit this mock or is broken. Delete it, or name another file', error)
  }

  const save = async (): Promise<void> => {
    const state = withChecksum(serialize(snapshotOf(internalsOf(mock).currentState())))
    if (written?.equals(state)) return
    try {
      // The state contains tokens, so other users of the machine must not read it.
      await writeFile(lock.draft, state, { mode: 0o600, flush: true })
      await lock.renew()
      await rename(lock.draft, path)
    } catch (error) {
      fail(path, 'was not written', error)
    }
    written = state
  }

  return () => {
    let hasEnded = false
    let stopTimer = (): void => undefined
    const watch = async (): Promise<void> => {
      const startedAt = machineNow()
      await save().catch(emitWarning)
      const pause = Math.max(PAUSE_MS, PAUSE_FACTOR * (machineNow() - startedAt))
      if (hasEnded) return
      stopTimer = startTimer(pause, () => {
        saving = watch()
      })
    }
    let saving = watch()
    return async () => {
      hasEnded = true
      stopTimer()
      await saving
      try {
        await save()
      } finally {
        await lock.release()
      }
    }
  }
}
