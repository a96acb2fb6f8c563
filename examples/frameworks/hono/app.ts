import { Hono } from 'hono'
import type { Shop } from '../shop.ts'

/** Creates a Hono app for any runtime. The shop's handler accepts `context.req.raw`, a standard `Request`. */
export const createApp = (shop: Shop): Hono => {
  const app = new Hono()
  app.post('/notifications', (context) => shop.receive(context.req.raw))
  app.get('/', (context) => context.json({ payments: shop.payments.size }))
  return app
}
