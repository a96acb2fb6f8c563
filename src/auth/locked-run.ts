import { withTimeout } from './timeout.ts'

/** What a run under foreign locking needs; limits in milliseconds of real time. */
export interface LockedRun<Result> {
  /** The store's lock: runs what it is given while no other process does. */
  readonly lock: (task: () => Promise<Result>) => Promise<unknown>
  readonly task: () => Promise<Result>
  /** Runs the task when no lock could be had. */
  readonly withoutLock: () => Promise<Result>
  readonly lockLimit: number
  readonly releaseLimit: number
  /** Hears why the lock failed. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Runs a task exactly once under a lock that may fail in any way: it is never given, runs nothing, runs the task
 * twice or late, or fails to be released. Settles as the task does.
 */
export const runLocked = async <Result>(run: LockedRun<Result>): Promise<Result> => {
  const state: { running: Promise<Result> | undefined } = { running: undefined }
  let begun: () => void = () => undefined
  const beginning = new Promise<void>((resolve) => {
    begun = resolve
  })
  const once = (): Promise<Result> => {
    state.running ??= run.task()
    begun()
    return state.running
  }
  const locked = (async () => run.lock(once))()
  try {
    // Either the task begins, or the lock settles without having run it.
    await withTimeout(Promise.race([beginning, locked]), run.lockLimit, 'Waiting for the lock')
  } catch (error) {
    if (state.running === undefined) run.onFailure(error)
  }
  if (state.running === undefined) {
    state.running = run.withoutLock()
    return state.running
  }
  const [result] = await Promise.allSettled([state.running])
  try {
    // A process that ends right after its call must not leave its lock behind.
    await withTimeout(locked, run.releaseLimit, 'Releasing the lock')
  } catch (error) {
    if (result.status === 'fulfilled') run.onFailure(error)
  }
  return state.running
}
