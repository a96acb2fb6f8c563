import { expect, test } from 'vitest'
import { type OpenMock, open, openThrough, statusesOf } from './open.ts'
import { transports } from './transports.ts'

const statuses = async ({ s, g, subscribe, login, health }: OpenMock) => ({
  subscriptions: statusesOf([await login(), await subscribe(), await s('/api/v1.0/subscriptions')]),
  gateway: [await health(), (await g('/api/v1/mfs/charge')).status],
})
const UP = { subscriptions: [200, 200, 404], gateway: [200, 404] }
const DOWN = { subscriptions: [503, 503, 503], gateway: [503, 503] }

test.each(transports)(
  'an outage concerns one area, the gateway by default, and ends for every area by default (through $name)',
  async (transport) => {
    const opened = await openThrough(transport)
    const { outage } = opened.mock
    outage.start({ area: 'subscriptions' })
    expect(await statuses(opened)).toEqual({ ...UP, subscriptions: DOWN.subscriptions })
    outage.start()
    expect(await statuses(opened)).toEqual(DOWN)
    outage.end({ area: 'subscriptions' })
    expect(await statuses(opened)).toEqual({ ...UP, gateway: DOWN.gateway })
    outage.start({ area: 'subscriptions' })
    outage.end()
    expect(await statuses(opened)).toEqual(UP)
  },
)

test('in an outage, area S executes nothing, counts no call, and sends its error body with the rate-limit headers', async () => {
  const { mock, s, subscribe, subscriptions } = await open()
  await subscribe()
  mock.outage.start({ area: 'subscriptions' })
  const responses = [await subscribe(), await s('/api/v1.0/subscriptions'), await subscribe()]
  for (const { status, json, headers } of responses) {
    expect(status).toBe(503)
    expect(json).toEqual({ errorCode: '99', errorMessage: 'The service is unavailable.' })
    expect(headers.get('x-ratelimit-limit')).toBe('600')
  }
  expect([0, 2].map((at) => responses[at]?.headers.get('x-ratelimit-remaining'))).toEqual(['599', '599'])
  expect(mock.requests.all().at(-1)).toMatchObject({ executed: false, decision: 'outage' })
  await expect(subscriptions.login()).rejects.toMatchObject({ status: 503, retryable: true })
  mock.outage.end()
  expect((await subscribe()).headers.get('x-ratelimit-remaining')).toBe('598')
  expect(mock.state.subscriptions()).toHaveLength(2)
})

test('a snapshot contains the outages, reset ends them, and an unknown area is refused', async () => {
  const opened = await open()
  const { mock } = opened
  mock.outage.start({ area: 'subscriptions' })
  const down = mock.snapshot()
  mock.reset()
  expect(await statuses(opened)).toEqual(UP)
  mock.outage.start()
  mock.restore(down)
  expect(await statuses(opened)).toEqual({ ...UP, subscriptions: DOWN.subscriptions })
  for (const change of [mock.outage.start, mock.outage.end]) {
    expect(() => change({ area: 'pages' as never })).toThrow(/area must be "subscriptions" or "gateway"/)
    expect(() => change({ aera: 'gateway' } as object)).toThrow(/Unknown option aera/)
  }
})
