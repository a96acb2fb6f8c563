import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { Agent, buildConnector, fetch as undiciFetch } from 'undici'
import { describe, expect, it } from 'vitest'
import { createMock } from '../../mocks/index.ts'
import type { MockServerOptions } from '../../mocks/server.ts'
import { startMockServer } from '../../mocks/server.ts'
import type { ClientOptions, FetchFunction } from '../../src/index.ts'
import { GatewayClient, SubscriptionsClient } from '../../src/index.ts'
import { CHARGE_REQUEST, SUBSCRIPTION } from '../support/bodies.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { errorOf } from '../support/clients.ts'

const NOW = new Date('2026-11-28T12:00:00Z')

type Open = () => Promise<{
  readonly mock: ReturnType<typeof createMock>
  readonly options: Partial<ClientOptions>
  close(): Promise<void>
}>

const served = async (options: MockServerOptions, fetchFunction?: FetchFunction) => {
  const mock = createMock({ clock: NOW })
  const server = await startMockServer({ ...options, mock })
  return { mock, options: { fetch: fetchFunction }, close: () => server.close() }
}

const ways: Record<string, Open> = {
  'the mock’s fetch': async () => {
    const mock = createMock({ clock: NOW })
    return { mock, options: { fetch: mock.fetch }, close: async () => undefined }
  },
  'the platform’s fetch through MSW': async () => {
    const mock = createMock({ clock: NOW })
    const server = setupServer(...mock.handlers)
    server.listen()
    return { mock, options: {}, close: async () => server.close() }
  },
  'the platform’s fetch over HTTP': () => served({}),
  'undici’s own fetch over HTTP': () => served({}, undiciFetch),
  'undici over HTTP/2 with TLS': async () => {
    const protocols = new Set<unknown>()
    const connect = buildConnector({ allowH2: true, ca: localhostCertificate.cert })
    const dispatcher = new Agent({
      allowH2: true,
      connect: (target, done) =>
        connect(target, (...result) => {
          protocols.add(result[1] !== null && 'alpnProtocol' in result[1] && result[1].alpnProtocol)
          done(...result)
        }),
    })
    const opened = await served({ tls: localhostCertificate }, (url, request) =>
      undiciFetch(url, { ...request, dispatcher }),
    )
    const close = async () => {
      await dispatcher.close()
      await opened.close()
      expect([...protocols]).toEqual(['h2'])
    }
    return { ...opened, close }
  },
}

describe('both clients run their whole lifecycle', () => {
  it.each(Object.entries(ways))('through %s', async (_, open) => {
    const { mock, options, close } = await open()
    try {
      const subscriptions = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, ...options })
      const { invoiceID } = await subscriptions.subscribe(SUBSCRIPTION)
      mock.payer.authorize(invoiceID)
      const { subscriptionId } = await subscriptions.status(invoiceID)
      const id = subscriptionId ?? ''
      await mock.clock.advance({ days: 21 })
      const payments: unknown[] = []
      for await (const payment of subscriptions.allPayments(id, { perPage: 2 })) payments.push(payment)
      expect(payments).toHaveLength(3)
      expect((await subscriptions.cancel(id)).status).toBe('PROCESSED')
      expect((await subscriptions.cancellation(id)).subscriptionID).toBe(id)
      expect((await subscriptions.details(id)).enabled).toBe(0)

      const gateway = new GatewayClient({ ...mock.clientOptions.gateway, ...options })
      expect(await gateway.health()).toEqual({ ok: true, status: 200 })
      const charge = await gateway.charge(CHARGE_REQUEST)
      expect(await errorOf(gateway.confirm(charge.confirmation_id, { otp: '000000' }))).toMatchObject({
        status: 400,
      })
      const confirmed = await gateway.confirm(charge.confirmation_id, { otp: '123456' })
      expect(confirmed.status).toBe('succeeded')
      const renewals = [1, 2].map(() => gateway.renew(charge.id, { dueDate: '2026-12-01' }))
      expect(new Set((await Promise.all(renewals)).map((renewal) => renewal.id)).size).toBe(1)
      expect(mock.state.charges()).toHaveLength(2)
      expect(await errorOf(gateway.status('ch_none'))).toMatchObject({ status: 404, outcome: 'rejected' })
    } finally {
      await close()
    }
  })
})

it('an error that MSW makes up has no code: its outcome is unknown', async () => {
  const server = setupServer(http.post('https://gateway.example/*', () => HttpResponse.error()))
  server.listen()
  try {
    const gateway = new GatewayClient({ baseUrl: 'https://gateway.example', apiKey: 'api-key', retry: false })
    expect(await errorOf(gateway.charge(CHARGE_REQUEST))).toMatchObject({
      code: 'connection_failed',
      outcome: 'unknown',
    })
  } finally {
    server.close()
  }
})
