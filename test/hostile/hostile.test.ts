import { expect, onTestFinished, test, vi } from 'vitest'
import { sized } from '../support/sizes.ts'
import { startOracle } from './oracle.ts'
import { watchOwnTimers } from './own-timers.ts'
import { playAll } from './play.ts'

// At full size, every operation meets every status. A slow machine plays fewer: it stops after `LIMIT` ms.
// To play one case again: CASE=123 npx vitest run test/hostile
const { CASE, SEED = String(Date.now() % 1_000_000_000) } = process.env
const COUNT = CASE === undefined ? sized(20_000, 600) : 1
const LIMIT = sized(150_000, 30_000)

/** Cases that end with codes which a random run may not meet: a rate limit, a rejected login (401), a refused account (403). */
const RARE = [1_023, 1_041, 1_105, 1_519, 3_421, 20_931]

test(`${COUNT} hostile responses, aborts and time limits, from SEED=${CASE ?? SEED}: no call acts twice, no error claims too little or shows a secret, no timer stays, and nextStep agrees with each error`, {
  timeout: 200_000,
}, async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const oracle = await startOracle()
  onTestFinished(() => {
    process.off('unhandledRejection', note)
    oracle.close()
  })
  const timers = watchOwnTimers()
  const random = Array.from({ length: COUNT }, (_, index) => Number(CASE ?? SEED) + index)
  const numbers = CASE === undefined ? new Set([...RARE, ...random]) : random
  const endings = await playAll([...numbers], oracle, LIMIT)
  expect(endings.flatMap(oracle.judge)).toEqual([])
  expect({ strayed: oracle.strayed(), unhandled }).toEqual({ strayed: 0, unhandled: [] })
  await vi.waitFor(() => expect(timers.size, 'no timer stays').toBe(0), { timeout: 20_000 })
  if (CASE !== undefined || endings.length < COUNT) return
  // A run without one of these proves nothing about it.
  const seen = new Set(endings.flatMap(({ code = 'success', outcome = 'success' }) => [code, outcome]))
  const codes = [
    'api_error',
    'rate_limited',
    'unexpected_response',
    'connection_failed',
    'timeout',
    'aborted',
    'authentication_failed',
    'locked_out',
  ]
  const wanted = ['success', 'not-sent', 'rejected', 'unknown', ...codes]
  expect(wanted.filter((one) => !seen.has(one))).toEqual([])
})
