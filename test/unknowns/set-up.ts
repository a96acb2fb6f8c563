import { expect, test as testOnce } from 'vitest'
import type { MockOptions } from '../../mocks/core.ts'
import { type OpenMock, openThrough } from '../mock/open.ts'
import { throughFetch, transports } from '../mock/transports.ts'

export { CHARGES, G, ORDER, S, statusesOf } from '../mock/open.ts'

/** Creates a mock behind the transport of the test. */
export type Open = (options?: MockOptions) => Promise<OpenMock>

/** Strict rules, and the options that do the same. */
export const strictOr = (options: MockOptions): readonly MockOptions[] => [{ rules: 'strict' }, options]

/** The rows that speak of HTTP itself: paths, methods, headers, bodies, addresses and parallel calls. */
const ROWS_OF_HTTP = '1 2 3 5 6 22 31 32 43 66 71 73 73a 83'.split(' ')

/** Tests a row, through every transport if it speaks of HTTP. */
export const test = (name: string, check: (open: Open) => Promise<void>) => {
  const isOfHttp = ROWS_OF_HTTP.includes(/^row (\w+):/.exec(name)?.[1] ?? '')
  testOnce.each(isOfHttp ? transports : [throughFetch])(`${name} (through $name)`, (transport) =>
    check((options) => openThrough(transport, options)),
  )
}

/** What is done with a mock of these options, or of each of them, and the result. */
type Case = readonly [
  options: MockOptions | readonly MockOptions[],
  act: (opened: OpenMock) => unknown,
  result: unknown,
]

/** Tests a row as a table, with a new mock for each case. */
export const testCases = (name: string, cases: readonly Case[]) =>
  test(name, async (open) => {
    for (const [number, [options, act, result]] of cases.entries())
      for (const each of [options].flat())
        expect(await act(await open(each)), `case ${number}: ${JSON.stringify(each)}`).toEqual(result)
  })

/** Makes so many calls, at most 50 at a time. */
export const burst = async <Result>(
  count: number,
  call: (index: number) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = []
  while (results.length < count) {
    const size = Math.min(50, count - results.length)
    const calls = Array.from({ length: size }, (_, index) => call(results.length + index))
    results.push(...(await Promise.all(calls)))
  }
  return results
}
