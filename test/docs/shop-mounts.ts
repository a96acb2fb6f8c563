import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { env, exit } from 'node:process'
import { startMockServer } from 'mandatekit/mocks/server'

// Runs in the folder of the shop guide: mounts the shop's notifications in each framework, delivers to all of them, and
// writes to `mounts.json` which statuses each responded with, first to the mock and then to a forged notification.

const { mock, url } = await startMockServer()
Object.assign(env, { SUBSCRIPTIONS_URL: url, GATEWAY_URL: url, SHOP_DATABASE: ':memory:' })
const load = (file: string) => import(resolve(file))

const { shop } = await load('live.ts')
const express = (await load('app.ts')).createApp(shop).listen(0)
const fastify = (await load('fastify.ts')).app
await fastify.listen({ port: 0 })
const hono = (await load('hono.ts')).app
const next = await load('app/notifications/route.ts')
const lambda = await load('lambda.ts')

const toPort = (port: number) => async (request: Request) =>
  fetch(`http://127.0.0.1:${port}/notifications`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: await request.text(),
  })
const mounts: Record<string, (request: Request) => Promise<Response>> = {
  express: toPort(express.address().port),
  fastify: toPort(fastify.server.address().port),
  hono: async (request) => hono.fetch(request),
  next: (request) => next.POST(request),
  lambda: async (request) => {
    const { statusCode, ...response } = await lambda.handler({
      rawPath: '/notifications',
      headers: Object.fromEntries(request.headers),
      body: Buffer.from(await request.arrayBuffer()).toString('base64'),
      isBase64Encoded: true,
      requestContext: { http: { method: request.method } },
    })
    return new Response(response.body, { status: statusCode, headers: response.headers })
  },
}

const statuses: Record<string, number[]> = {}
for (const [name, receive] of Object.entries(mounts)) {
  statuses[name] = []
  mock.notifications.connect(async (request) => {
    const response = await receive(request)
    statuses[name]?.push(response.status)
    return response
  })
}

await (await load('checkout.ts')).checkout(shop, 'weekly')
const { invoiceId = '', subscriptionId = '' } = mock.state.subscriptions()[0] ?? {}
mock.payer.authorize(invoiceId)
await mock.clock.advance({ days: 3 })
const forged = { notificationId: 'forged', type: 'SUBSCRIPTION', status: 'CANCELLED', paymentId: '' }
const body = JSON.stringify({ ...forged, subscriptionId, timestamp: '1798783200' })
for (const [name, receive] of Object.entries(mounts)) {
  const request = new Request('https://shop.example/notifications', { method: 'POST', body })
  statuses[name]?.push((await receive(request)).status)
}
writeFileSync('mounts.json', JSON.stringify(statuses))
exit()
