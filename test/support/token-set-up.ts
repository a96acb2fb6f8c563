import { beforeEach } from 'vitest'
import { ManualClock } from './manual-clock.ts'
import { createMerchant, type MerchantOptions } from './merchant.ts'
import { TokenServer } from './token-server.ts'

/** The API of the running test, in a file that calls `useTokenServer`. */
export let api: TokenServer
/** The clock of the running test. */
export let clock: ManualClock

/** Gives each test of a file its own API and clock. */
export const useTokenServer = () => {
  beforeEach(async () => {
    api = await TokenServer.start()
    clock = new ManualClock()
  })
}

/** A client of the API on that clock. */
export const merchant = (options: MerchantOptions = {}) => createMerchant(api.url, clock, options)
