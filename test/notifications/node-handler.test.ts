import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http'
import { connect, createServer as createHttp2Server, type Http2Server } from 'node:http2'
import type { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { InvalidRequestError } from '../../src/errors.ts'
import { type NotificationHandler, toNodeHandler } from '../../src/notifications/index.ts'
import { delivery, parsedPayment, payment, sign, signing } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'
import { refusedBy } from '../support/refused.ts'
import { open, serve } from '../support/serve.ts'

const JSON_TYPE = 'application/json'
const json = JSON.stringify(payment())
const all = { type: () => true }

/** Posts a body, signed by its text, and returns the status. */
const post = async (url: string, body: BodyInit = json, headers: Record<string, string> = {}) => {
  const signature = sign(typeof body === 'string' ? body : json)
  const sent = { 'content-type': JSON_TYPE, 'x-signature': signature, ...headers }
  return (await fetch(url, { method: 'POST', body, headers: sent })).status
}

/** Mounts a handler in Express behind body parsers; returns its address and the errors that Express receives. */
const serveExpress = async (handler: NotificationHandler, ...parsers: RequestHandler[]) => {
  const errors: unknown[] = []
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    errors.push(error)
    response.status(500).end()
  }
  const app = express()
    .use(...parsers, toNodeHandler(handler) as RequestHandler)
    .use(onError)
  return { url: await serve(app), errors }
}

describe('case 39: in Express, a message arrives as the same notification behind', () => {
  const form = new URLSearchParams(payment() as Record<string, string>).toString()
  const isForm = 'application/x-www-form-urlencoded'
  test.each<[string, RequestHandler, string, string]>([
    ['no parser', (_request, _response, next) => next(), json, JSON_TYPE],
    ['express.json()', express.json(), json, JSON_TYPE],
    ['express.json(), as a form', express.json(), form, isForm],
    ['express.urlencoded()', express.urlencoded({ extended: true }), form, isForm],
    ['express.text()', express.text(all), json, 'text/plain; charset=utf-8'],
  ])('%s', async (_, parser, body, type) => {
    const { handler, onPayment } = openReceiver()
    const { url } = await serveExpress(handler, parser)
    expect(await post(url, body, { 'content-type': type })).toBe(200)
    expect(onPayment.mock.calls[0]?.[0]).toMatchObject(parsedPayment)
  })
})

test.each<[string, RequestHandler]>([
  ['express.raw()', express.raw(all)],
  ['express.text()', express.text(all)],
  [
    'express.json() that keeps the bytes',
    express.json({ verify: (request, _response, rawBody) => Object.assign(request, { rawBody }) }),
  ],
])(
  'case 68: behind %s a signature verifies over the bytes as sent, and gzip is decoded once',
  async (_, parser) => {
    const spaced = `{ "note":"é – টাকা",   ${json.slice(1)}`
    const { url } = await serveExpress(openReceiver(signing).handler, parser)
    expect(await post(url, spaced)).toBe(200)
    expect(await post(url, gzipSync(json), { 'content-encoding': 'gzip' })).toBe(200)
  },
)

test('case 68: a gzip body is decoded if a body parser of Fastify kept the encoded bytes', async () => {
  const { handler } = openReceiver(signing)
  const app = fastify()
  onTestFinished(() => app.close())
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: unknown) => body)
  app.post('/', toNodeHandler(handler))
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  expect(await post(url, gzipSync(json), { 'content-encoding': 'gzip' })).toBe(200)
})

test('case 67: an id that a JSON parser has rounded is a mistake in the setup', async () => {
  const large = json.replace('"n-1"', '12345678901234567891')
  const { handler, kinds, onPayment } = openReceiver()
  expect(await post((await serveExpress(handler, express.json())).url, large)).toBe(500)
  expect(kinds()).toEqual(['invalid-message'])
  expect(await post((await serveExpress(handler, express.raw(all))).url, large)).toBe(200)
  expect(onPayment.mock.calls[0]?.[0]).toMatchObject({ notificationId: '12345678901234567891' })
})

test('case 67: toNodeHandler passes the error about a body that was read to its framework', async () => {
  const { handler, reports } = openReceiver()
  const read = delivery(json)
  await read.text()
  const { message } = await refusedBy(() => handler(read))
  const next = vi.fn()
  const request = { method: 'POST', headers: {}, readableDidRead: true }
  await toNodeHandler(handler)(request, { setHeader: vi.fn(), end: vi.fn() }, next)
  expect(next.mock.calls).toMatchObject([[{ message }]])
  expect(reports).toHaveLength(2)
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

const mounts: Record<string, Mount> = {
  Express: (handler, before) =>
    serveExpress(handler, (request, _response, next) => void before(request, request).then(() => next())),
  Koa: async (handler, before) => {
    const errors: unknown[] = []
    const koa = new Koa().on('error', (error: unknown) => errors.push(error))
    koa.use(async ({ req, request }, next) => {
      await before(req, request)
      await next()
    })
    return { url: await serve(koa.use(toNodeHandler(handler)).callback()), errors }
  },
  Fastify: async (handler, before) => {
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
    app.post('/', toNodeHandler(handler))
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), errors }
  },
  'node:http': async (handler, before) => {
    const receive = toNodeHandler(handler)
    const url = await serve(async (request, response) => {
      await before(request, request)
      await receive(request, response)
    })
    return { url, errors: [] }
  },
}

describe.each(Object.entries(mounts))('in %s', (name, mount) => {
  test('a parsed body is processed', async () => {
    const { handler, onPayment } = openReceiver()
    const { url, errors } = await mount(handler, parse)
    expect(await post(url)).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
    expect(errors).toEqual([])
  })

  test.each([
    ['parsed, without the bytes to verify', parse, 'verification-failed', /raw bytes.*express\.raw/s],
    ['read and not kept', swallow, 'invalid-message', /unread.*mount the notification route first/s],
  ] as const)(
    'case 39: a body that is %s is an error that says what to change',
    async (_, before, kind, words) => {
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
    },
  )
})

describe('an upload over node:http', () => {
  /** Serves a handler, and starts an upload to it that the test ends. */
  const startUpload = async (listener: RequestListener, part: string, headers = {}) => {
    const url = await serve(listener)
    const upload = httpRequest(url, { method: 'POST', headers }).on('error', () => undefined)
    upload.write(part)
    return { url, upload }
  }

  test.each([
    ['that stalls', 408, '{"notificationId"'],
    ['above the limit', 413, 'x'.repeat(100_000)],
  ])('%s receives %i while it is open, and the next delivery is processed', async (_, status, part) => {
    const { handler, onPayment } = openReceiver({ timeouts: { read: status === 408 ? 30 : 30_000 } })
    const { url, upload } = await startUpload(toNodeHandler(handler), part)
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
    const listener: RequestListener = (request, response) => void receive(request, response).then(handled)
    const { url, upload } = await startUpload(listener, json, { 'content-length': '5000' })
    await vi.waitFor(() => expect(upload.socket?.bytesWritten).toBeGreaterThan(json.length), 30_000)
    upload.destroy()
    await vi.waitFor(() => expect(handled).toHaveBeenCalledOnce(), 30_000)
    expect(reports).toMatchObject([{ kind: 'invalid-message' }])
    expect(onPayment).not.toHaveBeenCalled()
    expect(await post(url)).toBe(200)
  })
})

test('a response that another listener has sent is left alone, and is no error', async () => {
  const receive = toNodeHandler(openReceiver().handler)
  const [handled, next] = [vi.fn(), vi.fn()]
  const url = await serve((request, response) => {
    response.writeHead(504).end()
    void receive(request, response, next).then(handled)
  })
  expect([await post(url), await post(url)]).toEqual([504, 504])
  await vi.waitFor(() => expect(handled).toHaveBeenCalledTimes(2), 30_000)
  expect(next).not.toHaveBeenCalled()
})

test.each<[string, (handler: NotificationHandler) => Promise<Http2Server>]>([
  [
    'node:http2',
    async (handler) => {
      const receive = toNodeHandler(handler)
      return createHttp2Server((request, response) => void receive(request, response))
    },
  ],
  [
    'Fastify with http2',
    async (handler) => {
      const app = fastify({ http2: true })
      app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, async (_: unknown, body: unknown) => body)
      app.post('/', toNodeHandler(handler))
      await app.ready()
      return app.server
    },
  ],
])('a signed message is processed over HTTP/2 in %s', async (_, create) => {
  const { handler, onPayment } = openReceiver(signing)
  const session = connect(`http://127.0.0.1:${await open(await create(handler))}`)
  onTestFinished(() => session.close())
  const headers = { ':method': 'POST', ':path': '/', 'content-type': JSON_TYPE, 'x-signature': sign(json) }
  const stream = session.request(headers).end(json)
  const [response] = (await once(stream, 'response')) as [Record<string, number>]
  stream.resume()
  expect(response[':status']).toBe(200)
  expect(onPayment).toHaveBeenCalledOnce()
})
