import type { Express } from 'express'
import express from 'express'
import { toNodeHandler } from 'mandatekit/notifications'
import { isProgram, portOfEnvironment, secretOfEnvironment } from '../run.ts'
import { openShop, type Shop } from '../shop.ts'

/** Creates an Express 5 app. The notification route needs the raw body, so it is added before `express.json()`. */
export const createApp = (shop: Shop): Express => {
  const app = express()
  app.post('/notifications', toNodeHandler(shop.receive))
  app.use(express.json())
  app.get('/', (_request, response) => {
    response.json({ payments: shop.payments.size })
  })
  return app
}

if (isProgram(import.meta.url)) {
  const port = portOfEnvironment()
  createApp(openShop(secretOfEnvironment())).listen(port, () =>
    console.log(`http://localhost:${port}/notifications`),
  )
}
