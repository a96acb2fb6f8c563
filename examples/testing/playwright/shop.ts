import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type GatewayClient, invoiceIdFrom, isMandateKitError, type SubscriptionsClient } from 'mandatekit'
import { createNotificationHandler, lookupVerifier, toNodeHandler } from 'mandatekit/notifications'

interface Page {
  readonly status?: number
  readonly location?: string
  readonly title?: string
  readonly body?: string
}

const FRONT = `<form method="post" action="/plan"><button>Subscribe</button></form>
<form method="post" action="/order">
<label>Mobile number <input name="msisdn"></label><button>Pay 250</button>
</form>`

const sorry = (error: unknown): Page => {
  if (!isMandateKitError(error)) throw error
  return error.outcome === 'unknown'
    ? { status: 502, title: 'We are looking into it', body: 'Please do not pay again.' }
    : { status: 503, title: 'Please try again later', body: 'Nothing was paid.' }
}

const fields = async (request: IncomingMessage): Promise<URLSearchParams> => {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return new URLSearchParams(text)
}

const write = (
  response: ServerResponse,
  { status = 200, location, title = 'Shop', body = '' }: Page,
): void => {
  if (location !== undefined) {
    response.writeHead(303, { location }).end()
    return
  }
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
  response.end(`<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${body}</html>`)
}

/** The application under test: a shop with its own port. The shop sells a daily plan and single orders. */
export const startShop = async (subscriptions: SubscriptionsClient, gateway: GatewayClient) => {
  const charges = new Map<string, string>()
  const payments: string[] = []
  let url = ''
  let last = 0
  const nextNumber = (): string => {
    last += 1
    return String(last)
  }

  const receive = toNodeHandler(
    createNotificationHandler({
      verify: lookupVerifier(subscriptions),
      onPayment: ({ status }) => {
        payments.push(status)
      },
      onSubscription: () => undefined,
    }),
  )

  const pages: Record<string, (request: IncomingMessage) => Promise<Page>> = {
    'GET /': async () => ({ body: FRONT }),
    'POST /plan': async () => {
      const { url: location } = await subscriptions.subscribe({
        requestID: `plan-${nextNumber()}`,
        start: '2027-01-01',
        end: '2027-12-31',
        cycle: 'DAILY',
        amount: '5.00',
        userReturnURL: `${url}/welcome`,
      })
      return { location }
    },
    'GET /welcome': async (request) => {
      const invoiceId = invoiceIdFrom(request.url ?? '') ?? ''
      const { status } = await subscriptions.waitForStatus(invoiceId, { timeout: 10_000 })
      return { title: status === 'SUCCEEDED' ? 'Your plan is active' : 'You have no plan' }
    },
    'GET /account': async () => ({
      title: 'Your payments',
      body: `<ul>${payments.map((status) => `<li>${status}</li>`).join('')}</ul>`,
    }),
    'POST /order': async (request) => {
      const order = nextNumber()
      const charge = await gateway.charge(
        {
          msisdn: (await fields(request)).get('msisdn') ?? '',
          amount: 250,
          currency: 'BDT',
          redirect_uri: `${url}/paid?order=${order}`,
        },
        { idempotencyKey: `order-${order}` },
      )
      charges.set(order, charge.id)
      return { location: charge.confirmation_url }
    },
    'GET /paid': async (request) => {
      const order = new URL(request.url ?? '', url).searchParams.get('order') ?? ''
      const { status } = await gateway.waitForCharge(charges.get(order) ?? '', { timeout: 10_000 })
      return { title: status === 'succeeded' ? 'Thank you' : 'Your payment failed' }
    },
  }

  const server = createServer((request, response) => {
    const name = `${request.method} ${new URL(request.url ?? '/', 'http://shop').pathname}`
    if (name === 'POST /notifications') return void receive(request, response)
    const page = pages[name]?.(request) ?? Promise.resolve<Page>({ status: 404, title: 'Not found' })
    page.catch(sorry).then(
      (shown) => write(response, shown),
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
