import { secretOfEnvironment } from '../../../run.ts'
import { openShop } from '../../../shop.ts'

/** Handles notifications. This is a route handler for the Next.js app router (`app/notifications/route.ts`). */
export const { receive: POST } = openShop(secretOfEnvironment())

/** The runtime can be `nodejs` or `edge`, because the handler needs no Node API. */
export const runtime = 'nodejs'
