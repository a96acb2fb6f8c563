import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { toNodeHandler } from 'mandatekit/notifications'
import { isProgram, portOfEnvironment, secretOfEnvironment } from '../run.ts'
import type { Shop } from '../shop.ts'
import { openShop } from '../shop.ts'

/** The name under which the shop is injected. */
const SHOP = Symbol('shop')

/** The root module; what it provides is decided at its start, so it is a dynamic module without decorators. */
class ShopModule {}

/**
 * NestJS on Express. `rawBody: true` keeps the bytes beside what Nest's own body parser makes of them, so that a
 * signature can be verified; the handler itself is mounted as middleware with an injected service.
 *
 * In a controller the same is `receive(@Req() request, @Res() response) { return this.handle(request, response) }`,
 * with `handle = toNodeHandler(handler)`.
 */
export const createApp = async (shop: Shop): Promise<NestExpressApplication> => {
  const dynamicModule = { module: ShopModule, providers: [{ provide: SHOP, useValue: shop }] }
  const app = await NestFactory.create<NestExpressApplication>(dynamicModule, {
    rawBody: true,
    logger: ['error'],
  })
  app.use('/notifications', toNodeHandler(app.get<Shop>(SHOP).receive))
  return app
}

if (isProgram(import.meta.url)) {
  const app = await createApp(openShop(secretOfEnvironment()))
  await app.listen(portOfEnvironment())
  console.log(`${await app.getUrl()}/notifications`)
}
