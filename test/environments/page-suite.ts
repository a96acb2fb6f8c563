import { expect, onTestFinished, test } from 'vitest'
import { throughFetch, throughMsw2, throughMsw3 } from '../mock/transports.ts'
import { LIFE_BEGINS, liveThrough } from './client-life.ts'

/** Tests of an environment that imitates a page, with a `fetch` of its own. */
export const describePage = (environment: string): void => {
  test.each([throughFetch, throughMsw3, throughMsw2])(
    `in ${environment}, a page of another origin, both clients work through $name`,
    async ({ open }) => {
      const { mock, fetch, close } = await open({ clock: LIFE_BEGINS })
      onTestFinished(close)
      expect(document.defaultView).toBe(window)
      expect(location.origin).not.toBe(new URL(mock.clientOptions.gateway.baseUrl).origin)
      await liveThrough(mock, fetch === mock.fetch ? mock.fetch : undefined)
    },
  )

  test.each([throughMsw3, throughMsw2])(
    `in ${environment}, the page can read the headers of the rate limit through $name, and preflights do not count`,
    async ({ open }) => {
      const { mock, fetch, close } = await open()
      onTestFinished(close)
      const url = `${mock.clientOptions.subscriptions.baseUrl}/api/v1.0/subscription/none`
      const init = { method: 'POST', headers: { Authorization: 'Bearer none' } }
      await fetch(url, init)
      const answer = await fetch(url, init)
      expect([answer.status, answer.headers.get('x-ratelimit-remaining')]).toEqual([401, '598'])
      expect(mock.requests.all()).toHaveLength(2)
    },
  )
}
