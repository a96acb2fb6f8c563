import { secretOfEnvironment } from '../../../run.ts'
import { openShop } from '../../../shop.ts'

/** Handles notifications, as a route handler of the Next.js app router (`app/notifications/route.ts`). */
export const { receive: POST } = openShop(secretOfEnvironment())

/** The runtime can be `nodejs` or `edge`, because the handler needs no Node API. */
export const runtime = 'nodejs'
