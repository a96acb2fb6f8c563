import { describe, expect, it } from 'vitest'
import type { Mock } from '../../mocks/core.ts'
import { startMockServer } from '../../mocks/server.ts'
import { SubscriptionsClient } from '../../src/index.ts'
import { errorOf } from '../support/clients.ts'
import { ORDER, openMock } from '../support/mock-clients.ts'
import { sized } from '../support/sizes.ts'

const CALLS = sized(1_000, 300)

const times = <Value>(count: number, make: (index: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

const tokenRequests = (mock: Mock): number => mock.requests.of('subscriptions.login').length

const ways = {
  'the mock’s fetch': async (mock: Mock) => ({
    options: { fetch: mock.fetch },
    close: async () => undefined,
  }),
  'real sockets': async (mock: Mock) => {
    const server = await startMockServer({ mock })
    return { options: {}, close: () => server.close() }
  },
}

describe.each(Object.entries(ways))('through %s', (_, connect) => {
  const open = async () => {
    // Without a rate limit, only the client limits the logins.
    const { mock, subscriptions } = openMock({ subscriptions: { rateLimit: false } })
    const { invoiceID } = await subscriptions.subscribe(ORDER)
    const id = (await subscriptions.status(invoiceID)).subscriptionId ?? ''
    const { options, close } = await connect(mock)
    // Another client has subscribed, so that the tested one has no token.
    const client = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, ...options })
    mock.requests.clear()
    return { mock, id, client, options, close }
  }

  it(`${CALLS} parallel calls of a new client make one token request`, async () => {
    const { mock, id, client, close } = await open()
    const answers = await times(CALLS, () => client.details(id))
    expect(answers.every((answer) => answer.id === id)).toBe(true)
    expect(tokenRequests(mock)).toBe(1)
    await close()
  })

  it(`${CALLS} parallel calls after a revocation make one token request`, async () => {
    const { mock, id, client, close } = await open()
    await client.login()
    mock.requests.clear()
    mock.tokens.revoke()
    const answers = await times(CALLS, () => client.details(id).withResponse())
    expect(answers.every(({ data }) => data.id === id)).toBe(true)
    expect(answers.some(({ response }) => response.attempts > 1)).toBe(true)
    expect(tokenRequests(mock)).toBe(1)
    await close()
  })

  it('100 parallel calls with wrong credentials, and 100 more, make one token request', async () => {
    const { mock, id, options, close } = await open()
    const { credentials, ...rest } = mock.clientOptions.subscriptions
    const wrong = { ...credentials, password: 'not-the-password' }
    const client = new SubscriptionsClient({ ...rest, ...options, credentials: wrong })
    for (const round of ['at once', 'later']) {
      const errors = await times(100, () => errorOf(client.details(id)))
      const found = new Set(errors.map(({ code, phase, outcome }) => `${code} ${phase} ${outcome}`))
      expect([round, ...found]).toEqual([round, 'authentication_failed login not-sent'])
    }
    expect(tokenRequests(mock)).toBe(1)
    expect(mock.requests.of('subscriptions.details')).toEqual([])
    await close()
  })
})
