import { startFleet } from '../../examples/fleet/fleet.ts'
import { WORKERS, watch } from './chaos.ts'
import type { Finding } from './ledger.ts'
import { msisdnOf, openMock } from './mock.ts'

const CHARGES = 800
const MINUTE = 3_000

/** Four workers make 800 charges at 120 a minute, which lasts 3 s here. At most 5 % of the responses may be 429. */
export const rateLimitRun = async (rules: 'spec' | 'strict'): Promise<Finding[]> => {
  const mock = openMock({ rules, mandates: CHARGES, minute: MINUTE })
  const fleet = await startFleet({ mock, workers: WORKERS, otp: false, settings: { minute: MINUTE } })
  const progress = watch(fleet)
  try {
    for (let number = 0; number < CHARGES; number += 1) {
      const order = {
        id: `mandate_${number}`,
        amount: 9,
        msisdn: msisdnOf(number),
        start: '2027-01-31',
        end: null,
      }
      await fleet.order({ ...order, kind: 'mandate' })
    }
    await progress.until('all charges are made', () => mock.state.charges().length === CHARGES)
    const requests = mock.requests.of('gateway.charge')
    const refused = requests.filter(({ status }) => status === 429).length
    const share = (100 * refused) / requests.length
    return [
      {
        what: 'requests',
        expected: `at least ${CHARGES}`,
        found: requests.length,
        ok: requests.length >= CHARGES,
      },
      { what: 'responses with 429', expected: 'at most 5 %', found: refused, ok: share <= 5 },
      { what: 'charges', expected: CHARGES, found: mock.state.charges().length, ok: true },
    ]
  } finally {
    progress.stop()
    await fleet.close()
  }
}
