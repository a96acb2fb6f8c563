// A server that acts on a request and closes the connection instead of answering, where the connection has served others
// before: the platform may send the request again by itself, and must not.
import { createServer } from 'node:http'
import { GatewayClient, SubscriptionsClient } from 'mandatekit'

const received = []
const served = new WeakSet()
const server = createServer((request, response) => {
  received.push(request.url)
  const isKnown = served.has(request.socket)
  served.add(request.socket)
  request.resume()
  request.on('end', () => {
    if (isKnown && /confirm|subscribe$/.test(request.url)) request.socket.destroy()
    else
      response
        .setHeader('content-type', 'application/json')
        .end('{"access_token":"token-of-the-matrix","expires_in":60,"errorCode":"00","id":"sub-1"}')
  })
})
await new Promise((resolve) => {
  server.listen(0, '127.0.0.1', resolve)
})
const baseUrl = `http://127.0.0.1:${server.address().port}`
const gateway = new GatewayClient({ baseUrl, apiKey: 'key-of-the-matrix' })
const credentials = { clientId: 'client', clientSecret: 'secret', username: 'user', password: 'word' }
const subscriptions = new SubscriptionsClient({ baseUrl, credentials })

const mayHaveActed = ({ outcome }) => {
  if (outcome !== 'unknown') throw new Error(`The outcome is ${outcome}`)
}
for (const number of [1, 2, 3]) {
  await gateway.reference()
  await gateway.confirm(`conf_${number}`, { otp: '123456' }).catch(mayHaveActed)
  await subscriptions.details('sub-1')
  const times = { start: '2026-12-01', end: '2026-12-31', cycle: 'DAILY', amount: '25.00' }
  const request = { requestID: `order-${number}`, userReturnURL: 'https://shop.example/back', ...times }
  await subscriptions.subscribe(request).catch(mayHaveActed)
}
await gateway.reset().catch(() => undefined)
server.close()
server.closeAllConnections()

const confirmed = received.filter((url) => url.includes('confirm'))
const subscribed = received.filter((url) => url.endsWith('/subscribe'))
if (confirmed.length !== 3 || subscribed.length !== 3) throw new Error(`Sent twice: ${received}`)
console.log('each request was sent once')
