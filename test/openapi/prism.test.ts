import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'
import { startMockServer } from 'mandatekit/mocks/server'
import { expect, test } from 'vitest'
import { CHARGE, ORDER } from '../../scripts/openapi/tour.ts'
import { sized } from '../support/sizes.ts'
import { joined } from './documents.ts'
import { openPrism, proxyTo } from './prism.ts'
import { runQuickstart } from './quickstart.ts'
import { createTraffic, variations } from './traffic.ts'

test('Prism as a proxy sees no violation in the quickstart', async () => {
  let proxy: Awaited<ReturnType<typeof proxyTo>> | undefined
  await runQuickstart({ http: true }, async (_, baseUrl) => {
    proxy = await proxyTo(baseUrl)
    return proxy.fetch
  })
  expect(proxy?.found).toEqual([])
  expect(proxy?.count()).toBeGreaterThan(20)
})

const proxied = async (requests: number, invalid: number, side: 'both' | 'response') => {
  const all: string[] = []
  for (const [index, options] of variations.entries()) {
    const mock = createMock({ clock: new Date('2026-11-28T12:00:00Z'), ...options })
    const { url, close } = await startMockServer({ mock })
    const { fetch, found, count } = await proxyTo(url, side)
    const send = createTraffic(mock, fetch, { seed: 7 + index, invalid })
    while (count() < requests / variations.length) await send()
    await close()
    all.push(...found)
  }
  return [...new Set(all)]
}

test.each([
  ['generated requests and their responses', 0, 'both'],
  ['the responses to requests with mistakes', 0.5, 'response'],
] as const)('Prism as a proxy sees no violation in %s', async (_, invalid, side) => {
  expect(await proxied(sized(3_000, 120), invalid, side)).toEqual([])
})

test.each([{ dynamic: false }, ...['1', '2', '3'].map((seed) => ({ dynamic: true, seed }))])(
  'the mock of Prism satisfies the clients with %o',
  async (mode) => {
    const violations: string[] = []
    const baseUrl = 'http://127.0.0.1:4010'
    const prism = await openPrism(joined(baseUrl))
    const fetch = prism({ mock: mode } as never, (place, { request }) => {
      violations.push(...request.map((text) => `${place}: ${text}`))
    })
    const credentials = { clientId: 'a', clientSecret: 'b', username: 'c', password: 'd' }
    const options = { baseUrl, fetch, onUnexpected: () => undefined, onOtherRecord: 'report' } as const
    const subscriptions = new SubscriptionsClient({ ...options, credentials, rateLimit: 'throw' })
    const gateway = new GatewayClient({ ...options, apiKey: 'key', onKeyReuse: 'report' })
    const calls = {
      login: () => subscriptions.login(),
      subscribe: () => subscriptions.subscribe(ORDER),
      status: () => subscriptions.status('invoice'),
      details: () => subscriptions.details('subscription'),
      cancel: () => subscriptions.cancel('subscription'),
      cancellation: () => subscriptions.cancellation('subscription'),
      payments: () => subscriptions.payments('subscription', { page: 1, perPage: 5 }),
      payment: () => subscriptions.payment(1),
      health: () => gateway.health(),
      reference: () => gateway.reference(),
      charge: () => gateway.charge(CHARGE),
      confirm: () => gateway.confirm('conf_1', { otp: '123456' }),
      read: () => gateway.status('ch_1'),
      renew: () => gateway.renew('ch_1', { dueDate: '2026-12-01' }),
      reset: () => gateway.reset(),
    }
    const failed: string[] = []
    for (const [name, call] of Object.entries(calls))
      await call().catch((error: unknown) => failed.push(`${name}: ${error}`))
    expect(failed).toEqual([])
    expect(violations).toEqual([])
  },
)
