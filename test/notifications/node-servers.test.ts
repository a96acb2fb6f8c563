import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { request as httpRequest } from 'node:http'
import type { Http2Server } from 'node:http2'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { Readable } from 'node:stream'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { InvalidRequestError } from '../../src/errors.ts'
import { hmacVerifier, toNodeHandler } from '../../src/notifications/index.ts'
import { payment } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'
import { open, serve as serveListener } from '../support/serve.ts'

const SECRET = 'a-secret-of-the-merchant'
const json = JSON.stringify(payment())

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const serve = async (listener: (request: IncomingMessage, response: ServerResponse) => unknown) =>
  `${await serveListener((request, response) => void listener(request, response))}/notifications`

const post = (url: string, body = json) => fetch(url, { method: 'POST', body })

describe('a slow or broken upload to node:http', () => {
  test('that stalls is answered 408 while the connection is open, and the next is served', async () => {
    const { handler, onPayment } = openReceiver({ timeouts: { read: 30 } })
    const url = await serve(toNodeHandler(handler))
    const upload = httpRequest(url, { method: 'POST' })
    upload.write('{"notificationId"')
    const [answer] = (await once(upload, 'response')) as [IncomingMessage]
    expect(answer.statusCode).toBe(408)
    upload.destroy()
    expect((await post(url)).status).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('that is cut off runs no code and harms nobody', async () => {
    const { handler, reports, onPayment } = openReceiver()
    const handled = vi.fn()
    const receive = toNodeHandler(handler)
    const url = await serve((request, response) => receive(request, response).then(handled))
    const upload = httpRequest(url, { method: 'POST', headers: { 'content-length': '5000' } })
    upload.on('error', () => undefined)
    upload.write(json)
    await vi.waitFor(() => expect(upload.socket?.bytesWritten).toBeGreaterThan(json.length))
    upload.destroy()
    await vi.waitFor(() => expect(handled).toHaveBeenCalledOnce(), 10_000)
    expect(reports).toMatchObject([{ kind: 'invalid-message' }])
    expect(onPayment).not.toHaveBeenCalled()
    expect((await post(url)).status).toBe(200)
  })

  test('that was answered by somebody else meanwhile is left as it is, and the process goes on', async () => {
    const { handler } = openReceiver()
    const receive = toNodeHandler(handler)
    const url = await serve(async (request, response) => {
      response.writeHead(504).end()
      await receive(request, response)
    })
    expect((await post(url)).status).toBe(504)
    expect((await post(url)).status).toBe(504)
  })
})

describe('over HTTP/2', () => {
  const send = async (server: Http2Server, body: string, headers: Record<string, string> = {}) => {
    const session = connect(`http://127.0.0.1:${await open(server)}`)
    closing.unshift(() => session.close())
    const stream = session.request({ ':method': 'POST', ':path': '/notifications', ...headers })
    stream.end(body)
    const [answer] = (await once(stream, 'response')) as [Record<string, number>]
    stream.resume()
    return answer[':status']
  }

  test('a signed message is received from node:http2', async () => {
    const { handler, onPayment } = openReceiver({
      verify: hmacVerifier({ header: 'x-signature', secrets: SECRET }),
    })
    const signature = createHmac('sha256', SECRET).update(json).digest('hex')
    const receive = toNodeHandler(handler)
    const server = createHttp2Server((request, response) => void receive(request, response))
    expect(await send(server, json, { 'x-signature': signature })).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('a parsed message is received from Fastify', async () => {
    const { handler, onPayment } = openReceiver()
    const app = fastify({ http2: true })
    app.post('/notifications', toNodeHandler(handler))
    await app.ready()
    expect(await send(app.server, json, { 'content-type': 'application/json' })).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })
})

describe('something that reads the request and keeps nothing', () => {
  const swallow = async (request: Readable) => {
    for await (const _chunk of request);
  }
  const says = /body must be unread, or the result of a body parser.*mount the notification route before it/s

  test('reaches Express, Fastify and Koa as an error that says what to change: the sender comes again', async () => {
    const { handler, onPayment } = openReceiver()
    const errors: unknown[] = []
    const app = express()
    app.use((request, _response, next) => void swallow(request).then(() => next()))
    app.post('/notifications', toNodeHandler(handler))
    const onError: express.ErrorRequestHandler = (error, _request, response, _next) => {
      errors.push(error)
      response.status(500).end()
    }
    app.use(onError)
    expect((await post(await serve(app))).status).toBe(500)

    const koa = new Koa()
    koa.on('error', (error: unknown) => errors.push(error))
    koa.use(async (context, next) => {
      await swallow(context.req)
      await next()
    })
    koa.use(toNodeHandler(handler))
    expect((await post(await serve(koa.callback()))).status).toBe(500)

    const server = fastify()
    closing.push(() => server.close())
    server.removeAllContentTypeParsers()
    server.addContentTypeParser('*', async (_request: unknown, payload: Readable) => swallow(payload))
    server.setErrorHandler((error, _request, reply) => {
      errors.push(error)
      return reply.code(500).send()
    })
    server.post('/notifications', toNodeHandler(handler))
    expect((await post(`${await server.listen({ port: 0, host: '127.0.0.1' })}/notifications`)).status).toBe(
      500,
    )

    expect(errors).toHaveLength(3)
    for (const error of errors) {
      expect(error).toBeInstanceOf(InvalidRequestError)
      expect(String(error)).toMatch(says)
    }
    expect(onPayment).not.toHaveBeenCalled()
  })

  test('is answered 500 by bare node:http, and reported', async () => {
    const { handler, reports } = openReceiver()
    const receive = toNodeHandler(handler)
    const url = await serve(async (request, response) => {
      await swallow(request)
      await receive(request, response)
    })
    expect((await post(url)).status).toBe(500)
    expect(reports).toMatchObject([
      { kind: 'invalid-message', error: { operation: 'notifications.handler' } },
    ])
  })
})

test('an empty body is the sender’s fault, whatever parser stands before it: 400', async () => {
  for (const parser of [
    undefined,
    express.json(),
    express.urlencoded(),
    express.text({ type: () => true }),
    express.raw({ type: () => true }),
  ]) {
    const { handler } = openReceiver()
    const app = express()
    if (parser !== undefined) app.use(parser)
    app.post('/notifications', toNodeHandler(handler))
    const url = await serve(app)
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
      const answer = await fetch(url, { method: 'POST', body: '', headers: { 'content-type': type } })
      expect(answer.status, type).toBe(400)
      const chunked: RequestInit & { duplex: 'half' } = {
        method: 'POST',
        body: new ReadableStream({ start: (controller) => controller.close() }),
        headers: { 'content-type': type },
        duplex: 'half',
      }
      expect((await fetch(url, chunked)).status, `${type}, chunked`).toBe(400)
    }
  }
})
