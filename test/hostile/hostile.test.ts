import { expect, onTestFinished, test } from 'vitest'
import { sized } from '../support/sizes.ts'
import { startOracle } from './oracle.ts'
import { playAll } from './play.ts'

// At full size, every operation meets every status. A slow machine plays fewer: it stops after `LIMIT` ms.
// To play one case again: CASE=123 npx vitest run test/hostile
const { CASE, SEED = String(Date.now() % 1_000_000_000) } = process.env
const COUNT = CASE === undefined ? sized(20_000, 300) : 1
const LIMIT = sized(150_000, 30_000)

test(`${COUNT} hostile responses, from SEED=${CASE ?? SEED}, break no promise of the clients, and nextStep agrees with each error`, {
  timeout: 180_000,
}, async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const oracle = await startOracle()
  onTestFinished(() => {
    process.off('unhandledRejection', note)
    oracle.close()
  })
  const numbers = Array.from({ length: COUNT }, (_, index) => Number(CASE ?? SEED) + index)
  const endings = await playAll(numbers, oracle, LIMIT)
  expect(endings.flatMap(oracle.judge)).toEqual([])
  expect({ strayed: oracle.strayed(), unhandled }).toEqual({ strayed: 0, unhandled: [] })
})
