import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http'
import { connect, createServer as createHttp2Server, type Http2Server } from 'node:http2'
import type { Readable } from 'node:stream'
import type { RequestHandler } from 'express'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { InvalidRequestError } from '../../src/errors.ts'
import { hmacVerifier, type NotificationHandler, toNodeHandler } from '../../src/notifications/index.ts'
import { parsedPayment, payment } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'
import { open, serve as serveListener } from '../support/serve.ts'

const SECRET = 'a-secret-of-the-merchant'
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const signing = { verify: hmacVerifier({ header: 'x-signature', secrets: SECRET }) }
const json = JSON.stringify(payment())
const all = { type: () => true }

/** Serves a listener of node:http and returns the address of its notifications. */
const serve = async (listener: RequestListener) => `${await serveListener(listener)}/notifications`

const sign = (body: string): string => createHmac('sha256', SECRET).update(body).digest('hex')

const post = async (url: string, body = json, type = JSON_TYPE): Promise<number> => {
  const headers = { 'content-type': type, 'x-signature': sign(body) }
  return (await fetch(url, { method: 'POST', body, headers })).status
}

const withParsers = (handler: NotificationHandler, ...parsers: RequestHandler[]) => {
  const app = express()
  for (const parser of parsers) app.use(parser)
  app.post('/notifications', toNodeHandler(handler))
  return app
}

describe('in Express, a message arrives as the same notification after', () => {
  const form = new URLSearchParams(payment() as Record<string, string>).toString()
  test.each<[string, RequestHandler[], string, string]>([
    ['nothing', [], json, JSON_TYPE],
    ['express.json()', [express.json()], json, JSON_TYPE],
    ['express.json(), as a form', [express.json()], form, FORM_TYPE],
    ['express.urlencoded()', [express.urlencoded({ extended: true })], form, FORM_TYPE],
    ['express.text()', [express.text(all)], json, 'text/plain; charset=utf-8'],
  ])('%s', async (_, parsers, body, type) => {
    const { handler, onPayment } = openReceiver()
    expect(await post(await serve(withParsers(handler, ...parsers)), body, type)).toBe(200)
    expect(onPayment.mock.calls[0]?.[0]).toMatchObject(parsedPayment)
  })

  const spaced = `{ "note":"é – টাকা",   ${json.slice(1)}`
  const keepBytes = express.json({
    verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }),
  })
  test.each<[string, RequestHandler]>([
    ['express.raw()', express.raw(all)],
    ['express.text()', express.text(all)],
    ['express.json() that keeps the bytes', keepBytes],
  ])('%s, with its signature', async (_, parser) => {
    const { handler } = openReceiver(signing)
    expect(await post(await serve(withParsers(handler, parser)), spaced)).toBe(200)
  })
})

/** What reads the request before the handler; may leave a body behind. */
type Before = (request: Readable, target: object) => Promise<void>

const parse: Before = async (request, target) => {
  let text = ''
  for await (const chunk of request) text += chunk
  Object.assign(target, { body: JSON.parse(text) })
}
const swallow: Before = async (request) => {
  for await (const _chunk of request);
}

/** Mounts a handler behind something; returns its address and the errors that the framework receives. */
type Mount = (handler: NotificationHandler, before: Before) => Promise<{ url: string; errors: unknown[] }>

const mountInExpress: Mount = async (handler, before) => {
  const errors: unknown[] = []
  const app = withParsers(
    handler,
    (request, _response, next) => void before(request, request).then(() => next()),
  )
  const onError: express.ErrorRequestHandler = (error, _request, response, _next) => {
    errors.push(error)
    response.status(500).end()
  }
  return { url: await serve(app.use(onError)), errors }
}

const mountInKoa: Mount = async (handler, before) => {
  const errors: unknown[] = []
  const koa = new Koa().on('error', (error: unknown) => errors.push(error))
  koa.use(async ({ req, request }, next) => {
    await before(req, request)
    await next()
  })
  return { url: await serve(koa.use(toNodeHandler(handler)).callback()), errors }
}

const mountInFastify: Mount = async (handler, before) => {
  const errors: unknown[] = []
  const app = fastify()
  onTestFinished(() => app.close())
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (_request: unknown, payload: Readable) => {
    const target: { body?: unknown } = {}
    await before(payload, target)
    return target.body
  })
  app.setErrorHandler((error, _request, reply) => {
    errors.push(error)
    return reply.code(500).send()
  })
  app.post('/notifications', toNodeHandler(handler))
  return { url: `${await app.listen({ port: 0, host: '127.0.0.1' })}/notifications`, errors }
}

const mountInNode: Mount = async (handler, before) => {
  const receive = toNodeHandler(handler)
  const url = await serve(async (request, response) => {
    await before(request, request)
    await receive(request, response)
  })
  return { url, errors: [] }
}

describe.each([
  ['Express', mountInExpress],
  ['Koa', mountInKoa],
  ['Fastify', mountInFastify],
  ['node:http', mountInNode],
] as const)('in %s', (name, mount) => {
  test('a parsed body is processed', async () => {
    const { handler, onPayment } = openReceiver()
    const { url, errors } = await mount(handler, parse)
    expect(await post(url)).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
    expect(errors).toEqual([])
  })

  test.each([
    [
      'case 39: parsed, without the bytes to verify',
      parse,
      'verification-failed',
      /raw bytes.*express\.raw/s,
    ],
    ['read and not kept', swallow, 'invalid-message', /unread.*mount the notification route first/s],
  ] as const)('a body that is %s is an error that says what to change', async (_, before, kind, words) => {
    const { handler, onPayment, kinds } = openReceiver(before === parse ? signing : {})
    const { url, errors } = await mount(handler, before)
    expect(await post(url)).toBe(500)
    expect(errors).toHaveLength(name === 'node:http' ? 0 : 1)
    for (const error of errors) {
      expect(error).toBeInstanceOf(InvalidRequestError)
      expect(String(error)).toMatch(words)
    }
    expect(kinds()).toEqual([kind])
    expect(onPayment).not.toHaveBeenCalled()
  })
})

describe('an upload over node:http', () => {
  test.each([
    ['that stalls', 408, '{"notificationId"'],
    ['above the limit', 413, 'x'.repeat(100_000)],
  ])('%s receives %i while it is open, and the next delivery is processed', async (_, status, part) => {
    const { handler, onPayment } = openReceiver({ timeouts: { read: status === 408 ? 30 : 30_000 } })
    const url = await serve(toNodeHandler(handler))
    const upload = httpRequest(url, { method: 'POST' })
    upload.write(part)
    const [response] = (await once(upload, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(status)
    upload.destroy()
    // The next delivery may be slow, too, on a busy machine.
    await vi.waitFor(async () => expect(await post(url)).toBe(200), 30_000)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('that is cut off is reported, and the next delivery is processed', async () => {
    const { handler, reports, onPayment } = openReceiver()
    const handled = vi.fn()
    const receive = toNodeHandler(handler)
    const url = await serve((request, response) => void receive(request, response).then(handled))
    const upload = httpRequest(url, { method: 'POST', headers: { 'content-length': '5000' } })
    upload.on('error', () => undefined)
    upload.write(json)
    await vi.waitFor(() => expect(upload.socket?.bytesWritten).toBeGreaterThan(json.length), 30_000)
    upload.destroy()
    await vi.waitFor(() => expect(handled).toHaveBeenCalledOnce(), 30_000)
    expect(reports).toMatchObject([{ kind: 'invalid-message' }])
    expect(onPayment).not.toHaveBeenCalled()
    expect(await post(url)).toBe(200)
  })

  test('whose response another listener has sent is left alone', async () => {
    const { handler } = openReceiver()
    const receive = toNodeHandler(handler)
    const url = await serve(async (request, response) => {
      response.writeHead(504).end()
      await receive(request, response)
    })
    expect([await post(url), await post(url)]).toEqual([504, 504])
  })
})

describe('over HTTP/2', () => {
  const send = async (server: Http2Server, headers: Record<string, string>) => {
    const session = connect(`http://127.0.0.1:${await open(server)}`)
    onTestFinished(() => session.close())
    const stream = session.request({ ':method': 'POST', ':path': '/notifications', ...headers })
    stream.end(json)
    const [response] = (await once(stream, 'response')) as [Record<string, number>]
    stream.resume()
    return response[':status']
  }

  test('a signed message is processed in node:http2', async () => {
    const { handler, onPayment } = openReceiver(signing)
    const receive = toNodeHandler(handler)
    const server = createHttp2Server((request, response) => void receive(request, response))
    expect(await send(server, { 'x-signature': sign(json) })).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('a parsed message is processed in Fastify', async () => {
    const { handler, onPayment } = openReceiver()
    const app = fastify({ http2: true })
    app.post('/notifications', toNodeHandler(handler))
    await app.ready()
    expect(await send(app.server, { 'content-type': JSON_TYPE })).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })
})
