import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as core from '../../mocks/core.ts'
import * as msw from '../../mocks/index.ts'
import * as server from '../../mocks/server.ts'
import { oddValues } from './odd-values.ts'

const open = () => core.createMock({ clock: '2026-12-01T06:00:00Z' })

/** Words of the platform for a mistake inside, which say nothing to whoever made the one outside. */
const INSIDE =
  /^Cannot |is not a function|is not iterable|is not a constructor|is not an object|reading '|Method .* called on|undefined|in operator|'in'|private member|could not be cloned|circular|Symbol value|revoked|BigInt/

/** What a test calls, of a mock; the type names every one. */
const calls: Readonly<Record<string, (mock: core.Mock) => (...given: never[]) => unknown>> = {
  explain: (mock) => mock.explain,
  add: (mock) => mock.add,
  restore: (mock) => mock.restore,
  'clock.set': (mock) => mock.clock.set,
  'clock.advance': (mock) => mock.clock.advance,
  'payer.authorize': (mock) => mock.payer.authorize,
  'payer.decline': (mock) => mock.payer.decline,
  'payer.confirm': (mock) => mock.payer.confirm,
  'payer.setBehavior': (mock) => mock.payer.setBehavior,
  'payer.reverse': (mock) => mock.payer.reverse,
  'state.payments': (mock) => mock.state.payments,
  'notifications.connect': (mock) => mock.notifications.connect,
  'faults.add': (mock) => mock.faults.add,
  'requests.of': (mock) => mock.requests.of,
}

const failureOf = async (work: () => unknown): Promise<unknown> => {
  try {
    await work()
    return undefined
  } catch (error) {
    return error
  }
}

/** A value of the caller's may throw by itself: what it threw is the caller's own. */
const isOwn = (error: unknown): boolean => error instanceof Error && error.message === 'sk-do-not-print'

const explains = (error: unknown): boolean =>
  error === undefined ||
  isOwn(error) ||
  error instanceof core.MockRefusedError ||
  ((error instanceof TypeError || error instanceof RangeError) && !INSIDE.test(error.message))

// An object that throws when it is looked at is left out here: what a test gives its mock comes from nowhere else.
const values = oddValues.filter(([name]) => !/throws|revoked|proxy/.test(name))
const odd = fc.constantFrom(...values)

describe('whatever is given to what is exported', () => {
  test.each<[string, (given: never) => unknown]>([
    ['createMock', core.createMock],
    ['createMock with handlers', msw.createMock],
    ['startMockServer', async (given) => (await server.startMockServer(given)).close()],
  ])('%s works, or says what to give', async (_, call) => {
    for (const [, make] of values) expect(await failureOf(() => call(make() as never))).toSatisfy(explains)
  })

  test.each(Object.entries(calls))('%s works, or says what to give', async (_, callOf) => {
    await fc.assert(
      fc.asyncProperty(fc.array(odd, { maxLength: 3 }), async (given) => {
        const call = callOf(open())
        expect(await failureOf(() => call(...(given.map(([, make]) => make()) as never[])))).toSatisfy(
          explains,
        )
      }),
      { numRuns: 200, examples: values.map((value) => [[value]]) },
    )
  })
})

describe('a misspelled name is answered with the one that was meant', () => {
  test.each<[string, () => unknown]>([
    ['There is no option sede; did you mean seed?', () => core.createMock({ sede: 1 } as object)],
    [
      'There is no option subscriptions.timezone; did you mean subscriptions.timeZone?',
      () => core.createMock({ subscriptions: { timezone: 'UTC' } as object }),
    ],
    [
      'There is no operation "charge"; did you mean "gateway.charge"?',
      () => open().requests.of('charge' as never),
    ],
    [
      'There is no operation "gateway.chrage"; did you mean "gateway.charge"?',
      () => open().explain('gateway.chrage' as never),
    ],
    [
      'faults.add: there is no kind "rate_limit"; did you mean rate-limit?',
      () => open().faults.add({ operation: '*', kind: 'rate_limit' as never }),
    ],
    [
      'faults.add: there is no field probabilty; did you mean probability?',
      () => open().faults.add({ operation: '*', kind: 'reset', probabilty: 1 } as never),
    ],
  ])('%s', (words, work) => {
    expect(work).toThrow(new TypeError(words))
  })

  test('one that is like no other is answered with all there are', () => {
    expect(() => core.createMock({ database: 1 } as object)).toThrow(
      /the options are rules, seed, .*gateway\.$/,
    )
    expect(() => open().requests.of('everything' as never)).toThrow(/; there are subscriptions\.login, .*\.$/)
  })
})
