import { createMock } from 'mandatekit/mocks'
import { createMock as createCoreMock } from 'mandatekit/mocks/core'
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { HttpResponse as HttpResponse2, http as http2 } from 'msw2'
import { setupServer as setupServer2 } from 'msw2/node'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { internalsOf } from '../../mocks/assemble.ts'
import { createMswHandlers } from '../../mocks/msw.ts'
import { liveThrough } from './client-life.ts'

const CLOCK = '2030-01-01T06:00:00Z'
const LIFE = { hasSubscription: true, createdAt: '2030-01-01T06:00:00.000Z', renewal: 'succeeded' }

const mock = createMock({ clock: CLOCK })
const { handler, ownBases } = internalsOf(mock)
const server3 = setupServer(...mock.handlers)
const server2 = setupServer2(...createMswHandlers(http2, handler, ownBases))

const health = `${mock.clientOptions.gateway.baseUrl}/health`

const versions = [
  {
    name: 'MSW 3',
    listen: () => server3.listen({ onUnhandledFrame: 'error' }),
    close: () => server3.close(),
    answerHealth: () => {
      server3.use(http.get(health, () => HttpResponse.text('mine')))
      return () => server3.resetHandlers()
    },
  },
  {
    name: 'MSW 2',
    listen: () => server2.listen({ onUnhandledRequest: 'error' }),
    close: () => server2.close(),
    answerHealth: () => {
      server2.use(http2.get(health, () => HttpResponse2.text('mine')))
      return () => server2.resetHandlers()
    },
  },
]

/** What must hold in a test environment that imitates a page: `fetch` is the environment's own. */
export const describePage = (environment: string): void => {
  test(`${environment} is a page, of another origin than the mock`, () => {
    expect(document.defaultView).toBe(window)
    expect(location.origin).not.toBe(new URL(health).origin)
  })

  test(`in ${environment}, a subscription and a charge live through mock.fetch`, async () => {
    const core = createCoreMock({ clock: CLOCK })
    expect(await liveThrough(core, core.fetch)).toEqual(LIFE)
  })

  describe.each(versions)(`in ${environment}, through $name`, ({ listen, close, answerHealth }) => {
    beforeAll(listen)
    beforeEach(() => mock.reset())
    afterAll(close)

    test('a subscription and a charge live', async () => {
      expect(await liveThrough(mock)).toEqual(LIFE)
    })

    test('the headers of the rate limit can be read, and preflights are not counted', async () => {
      const url = `${mock.clientOptions.subscriptions.baseUrl}/api/v1.0/subscription/none`
      const init = { method: 'POST', headers: { Authorization: 'Bearer none' } }
      await fetch(url, init)
      const answer = await fetch(url, init)
      expect([answer.status, answer.headers.get('x-ratelimit-remaining')]).toEqual([401, '598'])
      expect(mock.requests.all()).toHaveLength(2)
    })

    test('a handler of the user wins', async () => {
      const stop = answerHealth()
      expect(await (await fetch(health)).text()).toBe('mine')
      stop()
      expect(await (await fetch(health)).json()).toEqual({ status: 'ok' })
    })
  })
}
