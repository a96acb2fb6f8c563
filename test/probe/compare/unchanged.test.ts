import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareWithMock } from '../../../mocks/core.ts'
import { sized } from '../../support/sizes.ts'
import { options } from './server-options.ts'
import { NUMBERS, recordShop, SECRETS } from './shop.ts'

const SEEDS = sized([7, 11, 23], [7])

test.each(SEEDS)(
  'seed %i: an unchanged server has no difference, and its recordings contain no secret and no number of a payer',
  async (start) => {
    let compared = 0
    let skipped = 0
    await fc.assert(
      fc.asyncProperty(options, fc.integer(), async (given, seed) => {
        const { recordings, mock } = await recordShop(given, { seed, steps: 40 })
        const text = recordings.map((recording) => JSON.stringify(recording)).join('\n')
        const tokens = mock.requests.all().length
        expect(tokens).toBeGreaterThan(0)
        for (const secret of [
          ...Object.values(SECRETS),
          ...NUMBERS.map((number) => number.replace('+', '')),
        ]) {
          for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
            expect(text).not.toContain(form)
        }
        const comparison = await compareWithMock(recordings, given)
        compared += comparison.compared
        skipped += comparison.skipped.length
        expect(comparison.differences).toEqual([])
      }),
      { numRuns: sized(100, 20), seed: start, endOnFailure: true },
    )
    expect(skipped / compared).toBeLessThan(0.01)
  },
)
