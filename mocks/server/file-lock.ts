import { readFile, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pid } from 'node:process'

/** The lock files that this process created. Process ids do not prove this, because a new container may reuse one. */
const ownLocks = new Set<string>()

/** Returns whether a lock's owner may be running. True for an invalid id, because the owner may be writing it. */
const mayRun = (owner: number): boolean => {
  if (!(owner > 0)) return true
  try {
    process.kill(owner, 0)
    return true
  } catch (error) {
    return Object(error).code !== 'ESRCH'
  }
}

const exists = (error: unknown): boolean => Object(error).code === 'EEXIST'

/**
 * Creates a lock file with the id of this process, so that two servers of one machine never write the same file.
 * Replaces the lock of a process that has ended.
 *
 * @param onStale called with the id of an ended process, before its lock is replaced
 * @returns a function that removes the lock
 * @throws an Error with the reason if another process, or another server of this process, has the lock
 */
export const lockFile = async (
  path: string,
  onStale: (owner: number) => Promise<void>,
): Promise<() => Promise<void>> => {
  const lock = resolve(path)
  const create = () => writeFile(lock, String(pid), { flag: 'wx', mode: 0o600 })
  const takeOver = async (error: unknown): Promise<void> => {
    if (!exists(error)) throw error
    const owner = Number(await readFile(lock, 'utf8'))
    if (ownLocks.has(lock) || (owner !== pid && mayRun(owner))) {
      throw new Error(
        `Process ${owner} uses it. If that process is a mock server, stop it; otherwise delete ${path}.`,
      )
    }
    await onStale(owner)
    await rm(lock, { force: true })
    await create()
  }
  await create().catch(takeOver)
  ownLocks.add(lock)
  return async () => {
    ownLocks.delete(lock)
    await rm(lock, { force: true })
  }
}
