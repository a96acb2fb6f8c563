import type { Mock } from '../../mocks/core.ts'
import * as mocks from '../../mocks/core.ts'
import type { FetchFunction } from '../../src/index.ts'
import * as client from '../../src/index.ts'
import { smoke } from '../matrix/smoke.mjs'

/** The time at which the mock must be. */
export const LIFE_BEGINS = '2027-01-01T06:00:00Z'

/** Runs the smoke suite, which every runtime of the matrix runs, through the given `fetch` or that of the runtime. */
export const liveThrough = (mock: Mock, fetch?: FetchFunction): Promise<string> =>
  smoke(
    { ...client, ...mocks },
    fetch === undefined
      ? { mock, throughGlobalFetch: true }
      : { mock: Object.assign(Object.create(mock), { fetch }) },
  )
