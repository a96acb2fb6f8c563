import type { Shop } from '../shop.ts'
import { openShop } from '../shop.ts'

/** The worker's bindings. */
interface Bindings {
  readonly NOTIFICATION_SECRET: string
}

let shop: Shop | undefined

/**
 * A worker (workerd, Cloudflare Workers). Isolates do not share memory. In production, pass a shared `dedupe`,
 * for example one that uses a Durable Object or Redis.
 */
const worker = {
  async fetch(request: Request, { NOTIFICATION_SECRET }: Bindings): Promise<Response> {
    shop ??= openShop(NOTIFICATION_SECRET)
    const { pathname } = new URL(request.url)
    return pathname === '/notifications' ? shop.receive(request) : new Response(null, { status: 404 })
  },
}

// biome-ignore lint/style/noDefaultExport: the runtime looks for the handlers of a module worker under this name
export default worker
