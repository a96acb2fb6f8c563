import { expect, test } from 'vitest'
import * as mocks from '../../mocks/core.ts'
import * as client from '../../src/index.ts'
import { smoke } from '../matrix/smoke.mjs'

// The smoke suite is the one that every runtime of the matrix runs.

test('the smoke suite passes on Node', async () => {
  expect(await smoke({ ...client, ...mocks })).toBe('a subscription and a charge')
})

test('fetch is called without a this, and with plain members that every runtime knows', async () => {
  const mock = mocks.createMock({ clock: new Date('2027-01-01T06:00:00Z') })
  const members = new Set<string>()
  const receivers = new Set<unknown>()
  const odd: unknown[] = []

  /** Refuses, as the fetches of browsers and workers do, to be a method of anything. */
  function strictFetch(this: unknown, url: unknown, init: RequestInit = {}): Promise<Response> {
    receivers.add(this)
    for (const name of Object.keys(init)) members.add(name)
    if (typeof url !== 'string' || Object.getPrototypeOf(init.headers) !== Object.prototype) odd.push(url)
    if (init.body !== undefined && typeof init.body !== 'string') odd.push(init.body)
    return mock.fetch(String(url), init)
  }

  const strictMock = Object.assign(Object.create(mock), { fetch: strictFetch })
  await smoke({ ...client, ...mocks }, { mock: strictMock })
  expect([...receivers]).toEqual([undefined])
  expect([...members].sort()).toEqual(['body', 'headers', 'method', 'redirect', 'signal'])
  expect(odd).toEqual([])
})
