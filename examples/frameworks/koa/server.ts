import Koa from 'koa'
import { toNodeHandler } from 'mandatekit/notifications'
import { isProgram, portOfEnvironment, secretOfEnvironment } from '../run.ts'
import { openShop, type Shop } from '../shop.ts'

/** Creates a Koa app. With a Koa router, call `router.post('/notifications', receive)` instead. */
export const createApp = (shop: Shop): Koa => {
  const app = new Koa()
  const receive = toNodeHandler(shop.receive)
  app.use(async (context, next) => {
    if (context.path === '/notifications') await receive(context)
    else await next()
  })
  app.use((context) => {
    context.body = { payments: shop.payments.size }
  })
  return app
}

if (isProgram(import.meta.url)) {
  const port = portOfEnvironment()
  createApp(openShop(secretOfEnvironment())).listen(port, () =>
    console.log(`http://localhost:${port}/notifications`),
  )
}
