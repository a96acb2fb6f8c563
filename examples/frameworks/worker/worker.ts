import { openShop, type Shop } from '../shop.ts'

/** The worker's bindings. */
interface Bindings {
  readonly NOTIFICATION_SECRET: string
}

let shop: Shop | undefined

/**
 * A worker (workerd, Cloudflare Workers). In production, pass a shared `dedupe` that uses, for example, a Durable
 * Object or Redis, because isolates do not share memory.
 */
const worker = {
  async fetch(request: Request, { NOTIFICATION_SECRET }: Bindings): Promise<Response> {
    shop ??= openShop(NOTIFICATION_SECRET)
    const { pathname } = new URL(request.url)
    return pathname === '/notifications' ? shop.receive(request) : new Response(null, { status: 404 })
  },
}

// biome-ignore lint/style/noDefaultExport: the runtime reads a module worker's handlers from the default export
export default worker
