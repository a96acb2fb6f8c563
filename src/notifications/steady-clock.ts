import type { Clock } from '../clock.ts'
import { systemClock } from '../system-clock.ts'

/**
 * Real time that only goes forward, at an even pace: what leases and waits are measured by. The machine's own time may
 * be set, and a lease would then end while its holder works, or not end at all.
 */
export const steadyClock: Clock = { now: () => performance.now(), sleep: systemClock.sleep }
