import { type Clock, steadyClock, waitAtMost } from '../clock.ts'
import { type ResponseHead, untilServerTime } from './response-headers.ts'

/** A call waits at most this long for the rate limit. If a 429 response requires a longer wait, the call fails. */
const MAX_DELAY_MS = 60_000
// Rate limits are per minute. A wait or reset time of more than an hour must be wrong, so the gate ignores it.
const MAX_PLAUSIBLE_DELAY_MS = 3_600_000
/** When a window ends, the first waiting call wakes the others. If its worker stopped, they wake this many ms later. */
const TURN = 1_000

/** A period, by the client's clock, in which only `remaining` requests may start. After a 429, `remaining` is 0. */
interface Window {
  readonly startsAt: number
  readonly endsAt: number
  readonly remaining: number
  /** The server's reset time, if a response contained one. Responses with the same reset time belong to one window. */
  readonly resetAt?: number | undefined
  /** `guess`: no response described this window, so the last window's limit applies. `pause`: a wait after a 429. */
  readonly kind?: 'guess' | 'pause'
}

/**
 * The gate's entry for a call that waits, or whose request is in flight. At `endsAt` (on `steadyClock`), the gate deletes
 * the slot: a worker that was stopped would never call `leave`.
 */
export interface Slot {
  endsAt: number
  /** How long the request may take, in milliseconds. */
  readonly timeout: number
  wake?: () => void
}

/**
 * Creates the gate that delays calls while the server's rate limit is used up. A client's calls share one gate and
 * start in order. Requests in flight count against the limit, so that parallel calls do not exceed it.
 */
export const createRateLimitGate = (clock: Clock) => {
  /** The waiting calls, in order. The end of a window wakes only the first call, which wakes the others. */
  const queue = new Set<Slot>()
  const inFlight = new Set<Slot>()
  let current: Window | undefined
  let limitSeen: number | undefined

  const open = (milliseconds: number, remaining: number): Window => {
    const startsAt = clock.now()
    return { startsAt, endsAt: startsAt + milliseconds, remaining }
  }

  /** Ends the current window. If a response reported the window's limit, opens the next window with the same limit. */
  const endWindow = (): void => {
    const limit = current?.kind === 'guess' ? undefined : limitSeen
    limitSeen = undefined
    current = limit ? { ...open(MAX_DELAY_MS, limit), kind: 'guess' } : undefined
  }

  const isClosed = (): boolean => {
    if (current === undefined) return false
    const now = clock.now()
    // If the clock was set back, the window seems to start in the future. Such a window also ends.
    if (now < current.startsAt || now >= current.endsAt) endWindow()
    const ended = steadyClock.now()
    for (const slot of inFlight) if (slot.endsAt <= ended) inFlight.delete(slot)
    return (current?.remaining ?? Infinity) <= inFlight.size
  }

  /**
   * Wakes the waiting calls that may start. If any of them start, or if the limit changed, also wakes the first call
   * that must still wait, so that it computes its wait again.
   */
  const admit = (isChange = false): void => {
    let wakesNext = isChange
    for (const slot of queue) {
      const now = steadyClock.now()
      const isWaiting = slot.endsAt > now
      if (isWaiting && isClosed()) {
        if (wakesNext) slot.wake?.()
        return
      }
      wakesNext = true
      queue.delete(slot)
      slot.endsAt = Math.min(slot.endsAt, now + slot.timeout)
      if (isWaiting) inFlight.add(slot)
      slot.wake?.()
    }
  }

  const update = ({ status, headers, rateLimit = {}, waitMs }: ResponseHead): void => {
    const { limit, remaining, resetAt } = rateLimit
    limitSeen = limit ?? limitSeen
    const reset = resetAt?.getTime()
    const untilReset = reset && untilServerTime(reset, clock.now(), headers)
    // After the wait that a 429 names, calls continue, even if the window with no remaining requests is longer.
    if (status === 429 && waitMs !== undefined && waitMs <= MAX_PLAUSIBLE_DELAY_MS)
      current = { ...open(waitMs, 0), kind: 'pause' }
    else if (isClosed() && current?.kind === 'pause') return
    else if (remaining !== undefined && untilReset && untilReset <= MAX_PLAUSIBLE_DELAY_MS) {
      // Responses may arrive out of order. The lowest number is the newest, because in a window the number only falls.
      const known = current?.resetAt === reset ? current?.remaining : undefined
      const window = open(Math.min(untilReset, MAX_DELAY_MS), Math.min(remaining, known ?? remaining))
      current = { ...window, resetAt: reset }
    }
  }

  /** If the current window allows no more requests, returns the milliseconds until it ends. Otherwise returns 0. */
  const delay = (): number => Math.max(0, current?.remaining === 0 ? current.endsAt - clock.now() : 0)

  /** Waits until the gate wakes the call, the window ends, or a request in flight reaches its `endsAt`. */
  const nextChange = async (slot: Slot, signal: AbortSignal): Promise<void> => {
    const woken = new Promise<void>((resolve) => {
      slot.wake = resolve
    })
    const [first] = queue
    const asleep = first === slot ? new AbortController() : undefined
    const span = current
    const untilEnd = Math.max(0, (span?.endsAt ?? 0) - clock.now())
    const untilLeft = Math.min(...[...inFlight].map(({ endsAt }) => endsAt)) - steadyClock.now()
    // In a worker, the timers of the first call stop when its request ends. So the other calls have later timers.
    const longest = asleep ? untilLeft : Math.min(untilLeft, untilEnd) + TURN
    const ended = () => {
      if (asleep?.signal.aborted) return
      if (span === current) endWindow()
      admit(true)
    }
    // If the given clock's `sleep` fails, the window ends at once.
    if (asleep) (async () => clock.sleep(untilEnd, asleep.signal))().then(ended, ended)
    try {
      await waitAtMost(woken, longest, signal)
    } catch (error) {
      if (signal.aborted) throw error
      admit(true)
    } finally {
      // Without a reason, `abort` would create an error with a stack trace, which takes time.
      asleep?.abort('awake')
    }
  }

  return {
    /** Returns a slot if a request may start now. `timeout` is how many milliseconds the request may take. */
    tryEnter(timeout: number): Slot | undefined {
      if (queue.size > 0 || isClosed()) return undefined
      const slot = { endsAt: steadyClock.now() + timeout, timeout }
      inFlight.add(slot)
      return slot
    },

    /**
     * Waits until a request may start, then returns a slot. If the wait would exceed a minute or the call's `remaining`
     * time, returns the wait's length in milliseconds instead of waiting.
     */
    async enter(signal: AbortSignal, remaining: number, timeout: number): Promise<Slot | number> {
      const slot: Slot = { endsAt: steadyClock.now() + remaining, timeout }
      queue.add(slot)
      try {
        for (;;) {
          admit()
          signal.throwIfAborted()
          if (inFlight.has(slot)) return slot
          const wait = delay()
          if (wait > MAX_DELAY_MS || wait >= slot.endsAt - steadyClock.now()) return wait
          await nextChange(slot, signal)
        }
      } finally {
        queue.delete(slot)
        if (signal.aborted) inFlight.delete(slot)
        if (!inFlight.has(slot)) admit(true)
      }
    },

    /** Deletes a request's slot, and reads the response's rate limit. With `rateLimit: 'throw'`, no slot exists. */
    leave(slot: Slot | undefined, head: ResponseHead | undefined): void {
      if (slot) inFlight.delete(slot)
      if (head !== undefined) update(head)
      admit(true)
    },
  }
}
export type RateLimitGate = ReturnType<typeof createRateLimitGate>
