import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { HttpResponse as HttpResponse2, http as http2 } from 'msw2'
import { setupServer as setupServer2 } from 'msw2/node'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { internalsOf } from '../../mocks/assemble.ts'
import { createMock } from '../../mocks/index.ts'
import { createMswHandlers } from '../../mocks/msw.ts'

const mock = createMock({
  subscriptions: { baseUrl: 'https://api.example:8443/v(1)/s' },
  gateway: { baseUrl: 'https://api.example:8443/v(1)' },
})
const { handler, ownBases } = internalsOf(mock)

const base = mock.clientOptions.gateway.baseUrl

// Behind the mock's handlers stands one that answers whatever they leave alone.
const server3 = setupServer(
  ...mock.handlers,
  http.all(/.*/, () => HttpResponse.text('left alone')),
)
const server2 = setupServer2(
  ...createMswHandlers(http2, handler, ownBases),
  http2.all(/.*/, () => HttpResponse2.text('left alone')),
)

const worlds = [
  {
    name: 'MSW 3',
    server: server3,
    use: (path: RegExp, text: string) => server3.use(http.all(path, () => HttpResponse.text(text))),
  },
  {
    name: 'MSW 2',
    server: server2,
    use: (path: RegExp, text: string) => server2.use(http2.all(path, () => HttpResponse2.text(text))),
  },
]

describe.each(worlds)('the handlers in $name', ({ server, use }) => {
  beforeEach(() => server.listen())
  afterEach(() => {
    server.resetHandlers()
    server.close()
  })

  test('are one for both base URLs, and give way to a handler of the user', async () => {
    expect(server.listHandlers()).toHaveLength(2)
    use(/\/health$/, 'mine')
    expect(await (await fetch(`${base}/health`)).text()).toBe('mine')
    server.resetHandlers()
    expect(await (await fetch(`${base}/health`)).json()).toEqual({ status: 'ok' })
  })

  test('do not respond for other hosts and other paths of the host', async () => {
    for (const url of [
      'https://elsewhere.example/health',
      'https://api.example/v(1)/health',
      'https://api.example:8443/v(1)more/health',
      'https://api.example:8443/health',
    ]) {
      expect(await (await fetch(url)).text()).toBe('left alone')
    }
  })

  test('respond with 404 in the shape of the area for an unknown path, with and without a query', async () => {
    for (const url of [`${base}/nothing?a=1`, base, `${base}/`]) {
      const answer = await fetch(url)
      expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'not_found' } }])
    }
    const ofS = await fetch(`${mock.clientOptions.subscriptions.baseUrl}/nothing`, { method: 'POST' })
    expect([ofS.status, await ofS.json()]).toMatchObject([404, { errorCode: '02' }])
  })
})
