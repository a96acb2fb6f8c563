import type { RequestListener } from 'node:http'
import { serve as serveFetch } from 'srvx'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createApp as createExpress } from '../../examples/frameworks/express/server.ts'
import { createApp as createFastify } from '../../examples/frameworks/fastify/server.ts'
import { createApp as createHono } from '../../examples/frameworks/hono/app.ts'
import { createApp as createKoa } from '../../examples/frameworks/koa/server.ts'
import { createApp as createNest } from '../../examples/frameworks/nest/main.ts'
import { openShop, type Shop } from '../../examples/frameworks/shop.ts'
import { toNodeHandler } from '../../src/notifications/index.ts'
import { payment, SIGNING_SECRET as SECRET, sign, subscriptionRequest } from '../support/messages.ts'
import { openMock } from '../support/mock-clients.ts'
import { serve as serveListener } from '../support/serve.ts'

type Receiver = string | ((request: Request) => Promise<Response>)

const serve = async (listener: RequestListener) => `${await serveListener(listener)}/notifications`

/** A shop in each framework: the address of its notifications, or a fetch handler. */
const receivers: Record<string, (shop: Shop) => Promise<Receiver>> = {
  'node:http': (shop) => serve(toNodeHandler(shop.receive)),
  Express: (shop) => serve(createExpress(shop)),
  Koa: (shop) => serve(createKoa(shop).callback()),
  Fastify: async (shop) => {
    const app = createFastify(shop)
    onTestFinished(() => app.close())
    return `${await app.listen({ port: 0, host: '127.0.0.1' })}/notifications`
  },
  NestJS: async (shop) => {
    const app = await createNest(shop)
    onTestFinished(() => app.close())
    await app.listen(0, '127.0.0.1')
    return `${await app.getUrl()}/notifications`
  },
  'Hono on a server': async (shop) => {
    const { fetch } = createHono(shop)
    const server = serveFetch({ fetch, port: 0, hostname: '127.0.0.1', silent: true })
    onTestFinished(() => server.close(true))
    await server.ready()
    return new URL('/notifications', server.url).href
  },
  'the Next.js app router': async ({ receive }) => receive,
}

const signed = (body: string): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/json', 'x-signature': sign(body) },
})

describe.each(Object.entries(receivers))('%s', (_name, start) => {
  test('case 37: processes each signed delivery of the mock once, and responds with the right error', async () => {
    vi.spyOn(console, 'log').mockReturnValue()
    vi.spyOn(console, 'error').mockReturnValue()
    const { mock, subscriptions } = openMock({ clock: '2027-01-01T06:00:00Z' })
    const shop = openShop(SECRET)
    const booked = vi.spyOn(shop.payments as Map<string, string>, 'set')
    const target = await start(shop)
    const signing = { secret: SECRET }
    mock.notifications.connect(target, { signing, duplicate: true, shuffle: true, spelling: 'both' })
    mock.notifications.connect(target, { signing, format: 'form' })
    const { invoiceID } = await subscriptions.subscribe(subscriptionRequest)
    mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail', 'succeed'] })
    const subscriptionId = (await subscriptions.status(invoiceID)).subscriptionId ?? ''
    await mock.clock.advance({ days: 3 })
    await subscriptions.cancel(subscriptionId)
    await mock.notifications.flush()

    expect(mock.notifications.deliveries()).toHaveLength(15)
    expect(new Set(mock.notifications.deliveries().map(({ status }) => status))).toEqual(new Set([200]))
    const paid = mock.state.payments(subscriptionId)
    expect(shop.payments).toEqual(new Map(paid.map(({ paymentId, status }) => [String(paymentId), status])))
    expect(booked).toHaveBeenCalledTimes(3)
    expect(shop.subscriptions.get(subscriptionId)?.status).toBe('CANCELLED')

    const send = async (init: RequestInit) => {
      if (typeof target === 'string') return (await fetch(target, init)).status
      return (await target(new Request('http://localhost/notifications', init))).status
    }
    const json = signed(`  ${JSON.stringify(payment({ note: 'টাকা' }))}`)
    expect(await Promise.all([send(json), send(json)])).toEqual([200, 200])
    expect(booked).toHaveBeenCalledTimes(4)
    const forged = signed(JSON.stringify(payment({ notificationId: 'n-forged' })))
    expect(await send({ ...forged, headers: { ...forged.headers, 'x-signature': 'ab' } })).toBe(401)
    expect(await send(signed('{"notificationId":'))).toBe(400)
    expect(await send(signed(JSON.stringify(payment({ padding: 'x'.repeat(70_000) }))))).toBe(413)
    expect(booked).toHaveBeenCalledTimes(4)
  })
})

test('a route of the Next.js app router is the handler itself', async () => {
  const log = vi.spyOn(console, 'log').mockReturnValue()
  const { POST } = await import('../../examples/frameworks/next/app/notifications/route.ts')
  const request = new Request('http://localhost/notifications', signed(JSON.stringify(payment())))
  expect((await POST(request)).status).toBe(200)
  expect(log).toHaveBeenCalledExactlyOnceWith('payment 42: SUCCEEDED_PAYMENT')
})
