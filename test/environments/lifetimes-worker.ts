import { createMemoryTokenStore, GatewayClient, isMandateKitError, SubscriptionsClient } from 'mandatekit'
import { createNotificationHandler } from 'mandatekit/notifications'
import { API_KEY, CREDENTIALS } from '../support/clients.ts'

// What a worker keeps outside its handler, and all its requests share: clients, a token store, a receiver.

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

const createReceiver = () => {
  let runs = 0
  /** Takes so long for the first delivery that its request may end before. */
  const work = async () => {
    runs += 1
    if (runs === 1) await sleep(60_000)
  }
  const lease = { duration: 1_500, limit: 60_000 }
  return createNotificationHandler({
    verify: 'none',
    onPayment: work,
    onSubscription: work,
    lease,
    responseTimeout: 200,
  })
}

/** The clients of one API, which two of them share. */
const createAll = (baseUrl: string) => {
  const settings = { baseUrl, timeout: 3_000, totalTimeout: 12_000, credentials: CREDENTIALS }
  const tokenStore = createMemoryTokenStore()
  const alone = new SubscriptionsClient(settings)
  const one = new SubscriptionsClient({ ...settings, tokenStore })
  const other = new SubscriptionsClient({ ...settings, tokenStore })
  const gateway = new GatewayClient({ baseUrl, apiKey: API_KEY, timeout: 1_000, totalTimeout: 12_000 })
  // A timeout that is longer than any of its calls.
  const patient = gateway.withOptions({ timeout: 30_000 })
  return { alone, one, other, gateway, patient, receive: createReceiver() }
}

const all = new Map<string, ReturnType<typeof createAll>>()

const respond = async (request: Request, { pathname, searchParams }: URL): Promise<Response> => {
  const baseUrl = searchParams.get('api') ?? ''
  const { gateway, patient, receive, ...clients } = all.get(baseUrl) ?? createAll(baseUrl)
  all.set(baseUrl, { gateway, patient, receive, ...clients })
  const [, call, name = 'alone'] = pathname.split('/')
  const client = clients[name as keyof typeof clients]
  const totalTimeout = Number(searchParams.get('total') ?? 12_000)
  try {
    if (call === 'notifications') return await receive(request)
    if (call === 'login') await client.login({ totalTimeout })
    if (call === 'details') await client.details('sub-1', { totalTimeout })
    if (call === 'charge') await (name === 'patient' ? patient : gateway).status('ch_1', { totalTimeout })
    return new Response('done')
  } catch (error) {
    // An error that is not the client's may come from a request that has ended.
    return new Response(isMandateKitError(error) ? `${error.code} ${error.outcome}` : String(error))
  }
}

const worker = {
  async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const end = url.searchParams.get('end')
    const response = respond(request, url)
    // With `end`, the request ends after as many milliseconds, and with it all that it has started.
    return end === null
      ? response
      : Promise.race([response, sleep(Number(end)).then(() => new Response('ended'))])
  },
}

// biome-ignore lint/style/noDefaultExport: the runtime looks for the handlers of a module worker under this name
export default worker
