import { describe, expect, it } from 'vitest'
import type { Mock } from '../../mocks/core.ts'
import { createMock } from '../../mocks/core.ts'
import { startMockServer } from '../../mocks/server.ts'
import { SubscriptionsClient } from '../../src/index.ts'
import { errorOf } from '../support/clients.ts'
import { clientsOf } from '../support/mock-clients.ts'

// Limits of requests are off: what holds logins back is the client alone.
const createUnlimitedMock = () => createMock({ subscriptions: { rateLimit: false } })

const times = <Value>(count: number, make: (index: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

/** A subscription, by a client of its own, so that the client under test starts cold. */
const subscribed = async (mock: Mock): Promise<string> => {
  const client = clientsOf(mock).subscriptions
  const { invoiceID } = await client.subscribe({
    requestID: 'order-1',
    start: '2027-01-02',
    end: '2027-12-31',
    cycle: 'DAILY',
    amount: '5.00',
    userReturnURL: 'https://shop.example/return',
  })
  mock.requests.clear()
  return (await client.status(invoiceID)).subscriptionId ?? ''
}

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
    const mock = createUnlimitedMock()
    const id = await subscribed(mock)
    const { options, close } = await connect(mock)
    const client = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, ...options })
    mock.requests.clear()
    return { mock, id, client, options, close }
  }

  it('1 000 parallel calls of a cold client make one token request', { timeout: 60_000 }, async () => {
    const { mock, id, client, close } = await open()
    const answers = await times(1_000, () => client.details(id))
    expect(answers.every((answer) => answer.id === id)).toBe(true)
    expect(tokenRequests(mock)).toBe(1)
    await close()
  })

  it('1 000 parallel calls after a revocation make one token request', { timeout: 60_000 }, async () => {
    const { mock, id, client, close } = await open()
    await client.login()
    mock.requests.clear()
    mock.tokens.revoke()
    const answers = await times(1_000, () => client.details(id).withResponse())
    expect(answers.every(({ data }) => data.id === id)).toBe(true)
    expect(answers.some(({ response }) => response.attempts === 2)).toBe(true)
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
