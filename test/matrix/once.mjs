// A server that acts on a confirmation and closes the connection instead of answering, where the connection has served
// others before: the platform may send the request again by itself, and must not.
import { createServer } from 'node:http'
import { GatewayClient } from 'mandatekit'

const received = []
const served = new WeakSet()
const server = createServer((request, response) => {
  received.push(request.url)
  const isKnown = served.has(request.socket)
  served.add(request.socket)
  request.resume()
  request.on('end', () => {
    if (isKnown && request.method === 'POST') request.socket.destroy()
    else response.setHeader('content-type', 'application/json').end('{}')
  })
})
await new Promise((resolve) => {
  server.listen(0, '127.0.0.1', resolve)
})
const baseUrl = `http://127.0.0.1:${server.address().port}`
const gateway = new GatewayClient({ baseUrl, apiKey: 'key-of-the-matrix' })
for (const id of ['conf_1', 'conf_2', 'conf_3']) {
  await gateway.reference()
  await gateway.confirm(id, { otp: '123456' }).catch(({ outcome }) => {
    if (outcome !== 'unknown') throw new Error(`The outcome is ${outcome}`)
  })
}
await gateway.reset().catch(() => undefined)
server.close()
server.closeAllConnections()

const posts = received.filter((url) => !url.endsWith('/reference'))
if (posts.length !== new Set(posts).size) throw new Error(`Sent twice: ${posts}`)
console.log('each request was sent once')
