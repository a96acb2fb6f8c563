import type { IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGatewayDomain } from '../../mocks/domain/gateway/domain.ts'
import type { GatewayOptions } from '../../mocks/domain/gateway/options.ts'
import { createIds } from '../../mocks/domain/ids.ts'
import type { Result } from '../../mocks/domain/result.ts'
import { createSubscriptionsDomain } from '../../mocks/domain/subscriptions/domain.ts'
import type { SubscriptionsOptions } from '../../mocks/domain/subscriptions/options.ts'
import { defaultMerchant } from '../../mocks/domain/subscriptions/options.ts'
import { createTimeline } from '../../mocks/domain/timeline.ts'
import { createPages } from '../../mocks/pages/handler.ts'

const NOON = Date.UTC(2026, 10, 28, 12)

export const value = <Value>(result: Result<Value>): Value => {
  if (result.ok) return result.value
  throw new Error(`refused: ${JSON.stringify(result.refusal)}`)
}

/** Both areas and their pages, without a transport. */
export const createSite = (
  options: { gateway?: Partial<GatewayOptions>; subscriptions?: Partial<SubscriptionsOptions> } = {},
) => {
  let now = NOON
  let base = 'https://mock.test'
  let keys = 0
  const timeline = createTimeline(() => now)
  const parts = { timeline, ids: createIds('pages'), rules: 'spec' as const, baseUrl: () => base }
  const gateway = createGatewayDomain({ ...parts, options: options.gateway })
  const subscriptions = createSubscriptionsDomain({
    ...parts,
    options: options.subscriptions,
    notify: () => undefined,
  })
  const pages = createPages({ subscriptions, gateway })
  const merchant = options.subscriptions?.merchants?.[0] ?? defaultMerchant
  return {
    gateway,
    subscriptions,
    pages,
    advance(milliseconds: number) {
      now += milliseconds
    },
    setBase(url: string) {
      base = url
    },
    /** A page's answer, or 404. */
    async fetch(request: Request): Promise<Response> {
      const { pathname } = new URL(request.url)
      const answer =
        (await pages(request, pathname, 'subscriptions')) ?? (await pages(request, pathname, 'gateway'))
      return answer ?? new Response('Not a page', { status: 404 })
    },
    /** A new request of the merchant; what a payer's browser would open. */
    subscribe(more: Record<string, unknown> = {}) {
      return value(
        subscriptions.subscribe(
          { clientId: merchant.clientId, username: merchant.users[0]?.username ?? '' },
          {
            clientID: merchant.clientId,
            requestID: `order-${++keys}`,
            start: '2026-11-28',
            end: '2027-11-28',
            cycle: 'FIFTEEN_DAYS',
            amount: '249.00',
            userReturnURL: 'https://shop.example/return?order=1',
            ...more,
          },
        ),
      )
    },
    charge(more: Record<string, unknown> = {}) {
      const fields = {
        msisdn: '+99900000001',
        amount: 2500,
        currency: 'BDT',
        redirect_uri: 'https://shop.example/return?order=1',
        ...more,
      }
      return value(gateway.charge('key-1', `key-${++keys}`, fields)).body
    },
  }
}

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

const toRequest = async (message: IncomingMessage): Promise<Request> => {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk)
  const headers = new Headers()
  for (const [name, text] of Object.entries(message.headers)) headers.set(name, String(text))
  const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}
  return new Request(`http://${message.headers.host}${message.url}`, {
    method: message.method ?? 'GET',
    headers,
    ...body,
  })
}

/** Serves an answer of ours for each request of a browser. */
export const serve = async (
  handler: (request: Request) => Promise<Response>,
): Promise<{ readonly url: string; close(): void }> => {
  const server = createServer((message, reply) => {
    toRequest(message)
      .then(handler)
      .then(async (response) => {
        reply.writeHead(response.status, Object.fromEntries(response.headers))
        reply.end(Buffer.from(await response.arrayBuffer()))
      })
      .catch((error: unknown) => {
        reply.writeHead(500).end(String(error))
      })
  })
  const url = await listen(server)
  return {
    url,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
