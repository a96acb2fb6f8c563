import { access, constants, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { emitWarning } from 'node:process'
import { deserialize, serialize } from 'node:v8'
import { crc32 } from 'node:zlib'
import { internalsOf } from '../assemble.ts'
import { snapshotOf } from '../state.ts'
import { machineNow, startTimer } from '../time/machine.ts'
import type { Mock } from '../types.ts'
import { type FileLock, lockFile } from './file-lock.ts'

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
