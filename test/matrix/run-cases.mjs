import { createServer } from 'node:net'
import * as client from 'mandatekit'
import { playCases, throughFetch } from './cases.mjs'

/** A server on a socket, so that the runtime's own fetch reads the responses. */
const throughSocket = async (respond) => {
  let count = 0
  const server = createServer((socket) => {
    let text = ''
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      text += data
      const [head, length = '0'] = /^[\s\S]*?(?:content-length: (\d+)[\s\S]*?)?\r\n\r\n/i.exec(text) ?? ['']
      if (head === '' || text.length < head.length + Number(length)) return
      text = ''
      const next = respond(count)
      count += 1
      if (next === 'cut') return socket.destroy()
      const size = new TextEncoder().encode(next.body).length
      const headers = Object.entries({ ...next.headers, 'content-length': size, connection: 'close' })
      const lines = [`HTTP/1.1 ${next.status} X`, ...headers.map((each) => each.join(': ')), '', next.body]
      socket.end(lines.join('\r\n'))
    })
  })
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const options = { baseUrl: `http://127.0.0.1:${server.address().port}` }
  return { options, received: () => count, close: async () => void server.close() }
}

await playCases(client, throughFetch)
console.log(await playCases(client, throughSocket))
