/** Those who sleep on a clock, and what wakes them. */
export interface Sleepers {
  /** Resolves when `wake` is called with a time from `wakeAt` on; rejects with the signal's reason when aborted. */
  add(wakeAt: number, signal: AbortSignal | undefined, attend: Attend): Promise<void>
  /** When the next one wakes. */
  nextAt(): number | undefined
  /** Wakes all whose time has come; whether there were any. */
  wake(now: number): boolean
}

/** What is done for a sleeper while it sleeps; the function given back is called when it no longer does. */
export type Attend = (sleeper: Sleeper) => (() => void) | undefined

/** One who sleeps. `wake` and `fail` have no effect once it no longer sleeps. */
export interface Sleeper {
  readonly wakeAt: number
  asleep(): boolean
  wake(): void
  fail(reason: unknown): void
}

/** Keeps who sleeps on a clock. Nothing is left behind by one who woke or was aborted. */
export const createSleepers = (): Sleepers => {
  const asleep = new Set<Sleeper>()

  const add = (wakeAt: number, signal: AbortSignal | undefined, attend: Attend): Promise<void> =>
    new Promise((resolve, reject) => {
      let leave: (() => void) | undefined
      const end = (settle: () => void): void => {
        if (!asleep.delete(sleeper)) return
        signal?.removeEventListener('abort', onAbort)
        leave?.()
        settle()
      }
      const sleeper: Sleeper = {
        wakeAt,
        asleep: () => asleep.has(sleeper),
        wake: () => end(resolve),
        fail: (reason) => end(() => reject(reason)),
      }
      const onAbort = (): void => sleeper.fail(signal?.reason)
      asleep.add(sleeper)
      if (signal?.aborted === true) {
        onAbort()
        return
      }
      signal?.addEventListener('abort', onAbort)
      leave = attend(sleeper)
    })

  return {
    add,
    nextAt() {
      let earliest: number | undefined
      for (const { wakeAt } of asleep) if (earliest === undefined || wakeAt < earliest) earliest = wakeAt
      return earliest
    },
    wake(now) {
      const due = [...asleep].filter(({ wakeAt }) => wakeAt <= now)
      for (const sleeper of due.sort((left, right) => left.wakeAt - right.wakeAt)) sleeper.wake()
      return due.length > 0
    },
  }
}

// A longer timer fires at once.
const LONGEST_TIMER = 2_147_483_647

/** Wakes the sleeper after `milliseconds` of the machine's time, or of fake timers' time. */
export const attendByTimer =
  (milliseconds: number): Attend =>
  (sleeper) => {
    let timer: ReturnType<typeof setTimeout>
    const start = (rest: number): void => {
      const part = Math.min(rest, LONGEST_TIMER)
      timer = setTimeout(() => (rest > part ? start(rest - part) : sleeper.wake()), part)
    }
    start(milliseconds)
    return () => clearTimeout(timer)
  }

// Taken when the module loads: fake timers installed later leave it alone.
const realSetTimeout = globalThis.setTimeout

/** Lets everything that is ready run first. Fake timers do not stop it: they leave message channels alone. */
export const macrotask = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof MessageChannel !== 'function') {
      realSetTimeout(resolve, 0)
      return
    }
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
