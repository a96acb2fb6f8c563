import { afterEach, beforeEach } from 'vitest'
import { ManualClock } from './manual-clock.ts'
import type { MerchantOptions } from './merchant.ts'
import { createMerchant } from './merchant.ts'
import { TokenServer } from './token-server.ts'

/** The platform of the test that runs, on a real socket: a new one for every test of a file that imports this. */
export let api: TokenServer
/** The clock of the test that runs. */
export let clock: ManualClock

beforeEach(async () => {
  api = await TokenServer.start()
  clock = new ManualClock()
})

afterEach(() => api.close())

/** A merchant of the platform, who goes by the clock. */
export const merchant = (options: MerchantOptions = {}) => createMerchant(api.url, clock, options)
