/** Where a client takes the time from. Give the mock's clock to run a client on the mock's time. */
export interface Clock {
  /** The time now, in milliseconds since 1970-01-01T00:00:00Z. */
  now(): number
  /** Resolves after `milliseconds`; rejects with the signal's reason when it is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

/** The longest delay of a timer, in milliseconds: a longer one overflows it, and it would fire at once. */
export const LONGEST_DELAY = 2_147_483_647
