import type { DeliveryOptions, Mock } from '../../mocks/core.ts'
import { createMock } from '../../mocks/core.ts'

export const NOON = '2026-12-01T12:00:00Z'
export const MINUTE = 60_000

/** A mock with one authorized daily subscription, and what its receiver gets. */
export const setUp = (options: DeliveryOptions = {}, seed = 'a') => {
  const mock = createMock({
    clock: '2026-12-01T06:00:00Z',
    seed,
    subscriptions: {
      existing: [
        {
          request: { start: '2026-12-01', end: '2027-12-01', cycle: 'DAILY', amount: '5' },
          subscriptionId: 'sub',
          invoiceId: 'invoice',
          authorizedAt: false,
        },
      ],
    },
  })
  const received: { body: Record<string, string>; at: number; request: Request; text: string }[] = []
  const answers: (number | Error)[] = []
  const disconnect = mock.notifications.connect(async (request) => {
    const text = await request.clone().text()
    received.push({ body: JSON.parse(text), at: mock.clock.now(), request, text })
    const answer = answers.shift() ?? 200
    if (answer instanceof Error) throw answer
    return new Response(null, { status: answer })
  }, options)
  return { mock, received, answers, disconnect }
}

export const kinds = (received: { body: Record<string, string> }[]) =>
  received.map(({ body }) => `${body.type}/${body.status}`)

export const cancel = async (mock: Mock): Promise<void> => {
  const { credentials, baseUrl } = mock.clientOptions.subscriptions
  const post = async (path: string, body: unknown, headers = {}) => {
    const answer = await mock.fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return (await answer.json()) as { access_token: string }
  }
  const { access_token } = await post('/oauth/token', {
    grant_type: 'password',
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
    username: credentials.username,
    password: credentials.password,
  })
  await post('/api/v1.0/subscription/sub/cancel', {}, { Authorization: `Bearer ${access_token}` })
}
