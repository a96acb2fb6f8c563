import { createHmac } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { SubscriptionsClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'
import { serve as serveFetch } from 'srvx'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createApp as createExpress } from '../../examples/frameworks/express/server.ts'
import { createApp as createFastify } from '../../examples/frameworks/fastify/server.ts'
import { createApp as createHono } from '../../examples/frameworks/hono/app.ts'
import { createApp as createKoa } from '../../examples/frameworks/koa/server.ts'
import { createApp as createNest } from '../../examples/frameworks/nest/main.ts'
import type { Shop } from '../../examples/frameworks/shop.ts'
import { openShop } from '../../examples/frameworks/shop.ts'
import { toNodeHandler } from '../../src/notifications/index.ts'
import { payment, subscription, subscriptionRequest } from '../support/messages.ts'
import { serve as serveListener } from '../support/serve.ts'

const SECRET = 'a-secret-for-trying-out'

interface Running {
  readonly url: string
  readonly close: () => Promise<unknown>
}

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const closed = async (): Promise<void> => undefined

/** A listener of node:http, which closes with the test. */
const serve = async (listener: RequestListener): Promise<Running> => ({
  url: await serveListener(listener),
  close: closed,
})

const frameworks: [string, (shop: Shop) => Promise<Running>][] = [
  ['node:http', (shop) => serve(toNodeHandler(shop.receive))],
  ['Express', (shop) => serve(createExpress(shop))],
  ['Koa', (shop) => serve(createKoa(shop).callback())],
  [
    'Fastify',
    async (shop) => {
      const app = createFastify(shop)
      return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
    },
  ],
  [
    'NestJS',
    async (shop) => {
      const app = await createNest(shop)
      await app.listen(0, '127.0.0.1')
      return { url: await app.getUrl(), close: () => app.close() }
    },
  ],
]

const signed = (body: string, type = 'application/json'): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'content-type': type, 'x-signature': createHmac('sha256', SECRET).update(body).digest('hex') },
})

describe.each(frameworks)('%s', (_name, start) => {
  test('receives JSON and forms, once each, and answers what went wrong', async () => {
    vi.spyOn(console, 'log').mockReturnValue()
    vi.spyOn(console, 'error').mockReturnValue()
    const shop = openShop(SECRET)
    const { url, close } = await start(shop)
    closing.push(close)
    const send = async (init: RequestInit) => (await fetch(`${url}/notifications`, init)).status

    const json = signed(`  ${JSON.stringify(payment({ note: 'টাকা' }))}`)
    expect(await Promise.all([send(json), send(json)])).toEqual([200, 200])
    expect(await send(json)).toBe(200)
    expect(shop.payments).toEqual(new Map([['42', 'SUCCEEDED_PAYMENT']]))

    const form = new URLSearchParams(
      subscription({ status: 'CANCELED' }) as Record<string, string>,
    ).toString()
    expect(await send(signed(form, 'application/x-www-form-urlencoded'))).toBe(200)
    expect(shop.subscriptions.get('sub-1')?.status).toBe('CANCELLED')

    expect(await send({ ...json, headers: { ...json.headers, 'x-signature': 'ab' } })).toBe(401)
    expect(await send(signed('{"notificationId":'))).toBe(400)
    expect(await send(signed(JSON.stringify(payment({ padding: 'x'.repeat(70_000) }))))).toBe(413)
    expect(shop.payments.size).toBe(1)
  })
})

/** A shop in each framework, on an address where it has a server, and as a fetch handler where it is one. */
const receivers: [string, (shop: Shop) => Promise<string | ((request: Request) => Promise<Response>)>][] = [
  ...frameworks.map(([name, start]): (typeof receivers)[number] => [
    name,
    async (shop) => {
      const { url, close } = await start(shop)
      closing.push(close)
      return `${url}/notifications`
    },
  ]),
  [
    'Hono on a server',
    async (shop) => {
      const server = serveFetch({
        fetch: createHono(shop).fetch,
        port: 0,
        hostname: '127.0.0.1',
        silent: true,
      })
      await server.ready()
      closing.push(() => server.close(true))
      return new URL('/notifications', server.url).href
    },
  ],
  ['the Next.js app router', async ({ receive }) => receive],
]

describe.each(receivers)('the mock delivers to %s', (_name, start) => {
  test('signed, as JSON and as a form, doubled and shuffled: a subscription is booked once and ends cancelled', async () => {
    vi.spyOn(console, 'log').mockReturnValue()
    vi.spyOn(console, 'error').mockReturnValue()
    const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
    const client = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })
    const shop = openShop(SECRET)
    const booked = vi.spyOn(shop.payments as Map<string, string>, 'set')
    const target = await start(shop)
    const signing = { secret: SECRET }
    mock.notifications.connect(target, { signing, duplicate: true, shuffle: true, spelling: 'both' })
    mock.notifications.connect(target, { signing, format: 'form' })
    const { invoiceID } = await client.subscribe(subscriptionRequest)
    mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail', 'succeed'] })
    const subscriptionId = (await client.status(invoiceID)).subscriptionId ?? ''
    await mock.clock.advance({ days: 3 })
    await client.cancel(subscriptionId)
    await mock.notifications.flush()

    expect(mock.notifications.deliveries()).toHaveLength(15)
    expect(new Set(mock.notifications.deliveries().map(({ status }) => status))).toEqual(new Set([200]))
    const paid = mock.state.payments(subscriptionId)
    expect(shop.payments).toEqual(new Map(paid.map(({ paymentId, status }) => [String(paymentId), status])))
    expect(booked).toHaveBeenCalledTimes(3)
    expect(shop.subscriptions.get(subscriptionId)?.status).toBe('CANCELLED')
  })
})

test('Hono receives the same messages on a web-standard request', async () => {
  vi.spyOn(console, 'log').mockReturnValue()
  vi.spyOn(console, 'error').mockReturnValue()
  const shop = openShop(SECRET)
  const app = createHono(shop)
  expect((await app.request('/notifications', signed(JSON.stringify(payment())))).status).toBe(200)
  expect((await app.request('/notifications', { method: 'POST', body: '{}' })).status).toBe(400)
  expect(shop.payments.get('42')).toBe('SUCCEEDED_PAYMENT')
})

test('a route of the Next.js app router is the handler itself', async () => {
  const log = vi.spyOn(console, 'log').mockReturnValue()
  const { POST } = await import('../../examples/frameworks/next/app/notifications/route.ts')
  const request = new Request('http://localhost/notifications', signed(JSON.stringify(payment())))
  expect((await POST(request)).status).toBe(200)
  expect(log).toHaveBeenCalledExactlyOnceWith('payment 42: SUCCEEDED_PAYMENT')
})
