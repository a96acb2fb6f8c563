import 'reflect-metadata'
import type { DynamicModule } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { isProgram, portOfEnvironment, secretOfEnvironment } from '../run.ts'
import { openShop, type Shop } from '../shop.ts'
import { NotificationsController, SHOP } from './notifications-controller.ts'

/** The root module. */
class ShopModule {}

/** Returns a dynamic module, because a static module cannot take the shop as a parameter. */
const moduleOf = (shop: Shop): DynamicModule => ({
  module: ShopModule,
  controllers: [NotificationsController],
  providers: [{ provide: SHOP, useValue: shop }],
})

/**
 * Creates a NestJS app on Express. `rawBody: true` keeps both the raw body and the parsed body, because a signature
 * covers the raw body.
 */
export const createApp = (shop: Shop): Promise<NestExpressApplication> =>
  NestFactory.create<NestExpressApplication>(moduleOf(shop), { rawBody: true, logger: ['error'] })

if (isProgram(import.meta.url)) {
  const app = await createApp(openShop(secretOfEnvironment()))
  await app.listen(portOfEnvironment())
  console.log(`${await app.getUrl()}/notifications`)
}
