import { beforeEach } from 'vitest'
import { ManualClock } from './manual-clock.ts'
import type { MerchantOptions } from './merchant.ts'
import { createMerchant } from './merchant.ts'
import { TokenServer } from './token-server.ts'

/** The API of the test that runs: a new one for every test of a file that imports this. */
export let api: TokenServer
/** The clock of the test that runs. */
export let clock: ManualClock

beforeEach(async () => {
  api = await TokenServer.start()
  clock = new ManualClock()
})

/** A client of the API on that clock. */
export const merchant = (options: MerchantOptions = {}) => createMerchant(api.url, clock, options)
