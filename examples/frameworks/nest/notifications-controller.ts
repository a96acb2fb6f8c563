import { Controller, Inject, Post, Req, Res } from '@nestjs/common'
import { type NodeHandler, toNodeHandler } from 'mandatekit/notifications'
import type { Shop } from '../shop.ts'

/** The injection token with which Nest finds the shop. */
export const SHOP = Symbol('shop')

/**
 * The controller that receives notifications. In a project that compiles decorators, write:
 *
 * ```
 * @Controller('notifications')
 * export class NotificationsController {
 *   constructor(@Inject(SHOP) shop: Shop) { … }
 *   @Post() receive(@Req() request: Request, @Res() response: Response) { … }
 * }
 * ```
 *
 * Node runs TypeScript but does not support decorators, so this example calls the decorators as functions.
 */
export class NotificationsController {
  readonly #receive: NodeHandler

  constructor(shop: Shop) {
    this.#receive = toNodeHandler(shop.receive)
  }

  receive(request: object, response: object): Promise<unknown> {
    return this.#receive(request, response)
  }
}

Controller('notifications')(NotificationsController)
Inject(SHOP)(NotificationsController, undefined, 0)
Req()(NotificationsController.prototype, 'receive', 0)
Res()(NotificationsController.prototype, 'receive', 1)
const { receive } = Object.getOwnPropertyDescriptors(NotificationsController.prototype)
Post()(NotificationsController.prototype, 'receive', receive)
