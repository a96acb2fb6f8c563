import { createMock, type DeliveryOptions, type MockOptions, type NotifyOptions } from '../../mocks/core.ts'
import { START } from './open.ts'

export const MINUTE = 60_000

const request = { start: '2026-12-01', end: '2027-12-01', cycle: 'DAILY', amount: '5' } as const

/** A mock with a subscription that is authorized. */
export const daily = (options: MockOptions = {}, notify: readonly NotifyOptions[] = []) =>
  createMock({ clock: START, subscriptions: { existing: [{ request }], notify }, ...options })

/** A mock with one daily subscription that waits for its payer, and what its receiver gets. */
export const setUp = (options: DeliveryOptions = {}, seed = 'a') => {
  const existing = [{ request, subscriptionId: 'sub', invoiceId: 'invoice', authorizedAt: false as const }]
  const tokens = [{ accessToken: 'known-token', expiresAt: '2099-01-01T00:00:00Z' }]
  const mock = createMock({ clock: START, seed, subscriptions: { existing, tokens } })
  const received: { body: Record<string, string>; at: number; request: Request; text: string }[] = []
  const answers: (number | Error)[] = []
  const disconnect = mock.notifications.connect(async (request) => {
    const text = await request.clone().text()
    received.push({ body: JSON.parse(text), at: mock.clock.now(), request, text })
    const answer = answers.shift() ?? 200
    if (answer instanceof Error) throw answer
    return new Response(null, { status: answer })
  }, options)
  return {
    mock,
    received,
    answers,
    disconnect,
    kinds: () => received.map(({ body }) => `${body.type}/${body.status}`),
    minutes: () => received.map(({ at }) => (at - Date.parse(START)) / MINUTE),
    /** Authorizes the subscription and delivers what is due. */
    async authorize() {
      mock.payer.authorize('invoice')
      await mock.notifications.flush()
    },
    async cancel() {
      const url = `${mock.clientOptions.subscriptions.baseUrl}/api/v1.0/subscription/sub/cancel`
      await mock.fetch(url, { method: 'POST', headers: { Authorization: 'Bearer known-token' } })
      await mock.notifications.flush()
    },
  }
}
