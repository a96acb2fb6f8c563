import { secretOfEnvironment } from '../../../run.ts'
import { openShop } from '../../../shop.ts'

/** A route handler of the Next.js app router (`app/notifications/route.ts`): the handler is the route. */
export const { receive: POST } = openShop(secretOfEnvironment())

/** `nodejs` or `edge`: the handler needs no Node API. */
export const runtime = 'nodejs'
