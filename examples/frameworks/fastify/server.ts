import type { FastifyInstance } from 'fastify'
import fastify from 'fastify'
import { toNodeHandler } from 'mandatekit/notifications'
import { isProgram, portOfEnvironment, secretOfEnvironment } from '../run.ts'
import { openShop, type Shop } from '../shop.ts'

/** Creates a Fastify 5 app. The notification route receives raw bodies. All other routes parse JSON. */
export const createApp = (shop: Shop): FastifyInstance => {
  const app = fastify()
  app.register((scope, _options, ready) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    scope.post('/notifications', toNodeHandler(shop.receive))
    ready()
  })
  app.get('/', async () => ({ payments: shop.payments.size }))
  return app
}

if (isProgram(import.meta.url)) {
  const address = await createApp(openShop(secretOfEnvironment())).listen({ port: portOfEnvironment() })
  console.log(`${address}/notifications`)
}
