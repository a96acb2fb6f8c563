import { expect, test } from 'vitest'
import { createMock } from '../../mocks/core.ts'

const START = '2026-12-01T06:00:00Z'
const request = { start: '2026-12-01', end: '2027-12-01', cycle: 'DAILY', amount: '5' } as const
const subscribed = {
  existing: [{ request, subscriptionId: 'sub' }],
  tokens: [{ accessToken: 'known-token', expiresAt: '2099-01-01T00:00:00Z' }],
}

/** A receiver that responds with the given statuses, then with 200, and what it gets at which time. */
const createReceiver = (...statuses: number[]) => {
  const received: string[] = []
  const to = async (call: Request) => {
    const { status } = (await call.json()) as { status: string }
    received.push(`${new Date().toISOString().slice(11, 16)} ${status}`)
    return new Response(null, { status: statuses.shift() ?? 200 })
  }
  return { received, to }
}

test('case 90: reset disconnects the receivers that were connected since, and keeps those of the options', async () => {
  const [configured, connected] = [createReceiver(), createReceiver()]
  const notify = [{ to: configured.to }]
  const mock = createMock({ clock: START, subscriptions: { ...subscribed, notify } })
  for (let round = 1; round <= 3; round += 1) {
    mock.notifications.connect(connected.to)
    await mock.clock.advance({ days: 1 })
    expect([configured.received.length, connected.received.length]).toEqual([round, round])
    mock.reset()
  }
})
