import { createHmac } from 'node:crypto'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import express from 'express'
import fastify from 'fastify'
import { expect, onTestFinished, test, vi } from 'vitest'
import { hmacVerifier, type NotificationHandler, toNodeHandler } from '../../src/notifications/index.ts'
import { delivery, parsedPayment, payment } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'
import { refusedBy } from '../support/refused.ts'
import { serve } from '../support/serve.ts'

const json = JSON.stringify(payment())

const readers: [string, (request: Request) => unknown][] = [
  ['was read as JSON', (request) => request.json()],
  ['was read as bytes', (request) => request.arrayBuffer()],
  ['was canceled', (request) => void request.body?.cancel()],
  ['is being read, so that its stream is locked', (request) => request.body?.getReader()],
  [
    'was read in part',
    async (request) => {
      const reader = request.body?.getReader()
      await reader?.read()
      reader?.releaseLock()
    },
  ],
]
test.each(readers)('case 67: the handler rejects and says what to change if the body %s', async (_, read) => {
  const { handler, kinds, onPayment } = openReceiver()
  const request = delivery(json)
  const copy = request.clone()
  await read(request)
  expect((await refusedBy(() => handler(request))).message).toMatch(
    /unread.*mount the notification route first, or pass request\.clone\(\) to the other code/,
  )
  expect(kinds()).toEqual(['invalid-message'])
  expect((await handler(copy)).status).toBe(200)
  expect(onPayment).toHaveBeenCalledOnce()
})

test('case 67: toNodeHandler passes the same error to its framework', async () => {
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

test('case 67: an id that a JSON parser has rounded is a mistake in the setup', async () => {
  const large = json.replace('"n-1"', '12345678901234567891')
  const { handler, kinds, onPayment } = openReceiver()
  const statusBehind = (...parsers: express.RequestHandler[]) => post(withParsers(handler, ...parsers), large)
  expect(await statusBehind(express.json())).toBe(500)
  expect(kinds()).toEqual(['invalid-message'])
  expect(await statusBehind(express.raw({ type: () => true }))).toBe(200)
  expect(onPayment.mock.calls[0]?.[0]).toMatchObject({ notificationId: '12345678901234567891' })
})

test.each([undefined, null, 1, 'yes'])(
  'case 67: a verifier that returns %j does not blame the sender: the response is 503',
  async (verdict) => {
    const { deliver, reports } = openReceiver({ verify: () => verdict as never })
    expect(await deliver(payment())).toBe(503)
    expect(reports).toMatchObject([
      { kind: 'verification-failed', error: { message: 'verify must return true or false' } },
    ])
  },
)

const SECRET = 'a-secret-of-the-merchant'
const sign = (body: string | Uint8Array) => createHmac('sha256', SECRET).update(body).digest('hex')
const verify = hmacVerifier({ header: 'x-signature', secrets: SECRET })
const typed = { 'content-type': 'application/json', 'x-signature': sign(json) }

const withParsers = (handler: NotificationHandler, ...parsers: express.RequestHandler[]) => {
  const onError: express.ErrorRequestHandler = (_error, _request, response, _next) => {
    response.status(500).end()
  }
  return express()
    .use(...parsers, toNodeHandler(handler) as express.RequestHandler)
    .use(onError)
}

/** Posts a body to a listener of node:http and returns the status. */
const post = async (
  listener: express.RequestHandler | express.Express,
  body: BodyInit,
  headers: Record<string, string> = {},
) => {
  const url = await serve(listener as express.Express)
  return (await fetch(url, { method: 'POST', body, headers: { ...typed, ...headers } })).status
}

const encodings: [string, Uint8Array<ArrayBuffer>][] = [
  ['gzip', gzipSync(json)],
  ['x-gzip', gzipSync(json)],
  [' GZIP ', gzipSync(json)],
  ['deflate', deflateSync(json)],
  ['br', brotliCompressSync(json)],
]
test.each(encodings)(
  'case 68: a body with the encoding %j is decoded, then verified',
  async (encoding, body) => {
    const headers = { ...typed, 'content-encoding': encoding }
    const web = openReceiver({ verify })
    expect(await web.deliver(body, headers)).toBe(200)
    const node = openReceiver({ verify })
    expect(await post(toNodeHandler(node.handler) as express.RequestHandler, body, headers)).toBe(200)
    for (const { onPayment } of [web, node]) expect(onPayment.mock.calls[0]?.[0]).toMatchObject(parsedPayment)
  },
)

test.each([
  ['gzip', gzipSync(new Uint8Array(50_000_000))],
  ['br', brotliCompressSync(new Uint8Array(50_000_000))],
  ['gzip', gzipSync(JSON.stringify(payment({ padding: 'x'.repeat(70_000) })))],
])('case 68: a body that decodes from %s to more than maxBytes receives 413', async (encoding, body) => {
  const { deliver, kinds } = openReceiver()
  expect(body.byteLength).toBeLessThan(65_536)
  expect(await deliver(body, { 'content-encoding': encoding })).toBe(413)
  expect(kinds()).toEqual(['invalid-message'])
})

test.each(['zstd-2', 'compress', 'gzip, br'])(
  'case 68: a body with the encoding %j receives 415',
  async (encoding) => {
    const { handler, reports } = openReceiver()
    const response = await handler(delivery(gzipSync(json), { 'content-encoding': encoding }))
    expect(response.status).toBe(415)
    expect(response.headers.get('accept-encoding')).toBe('gzip, deflate')
    expect(String(reports[0] && 'error' in reports[0] && reports[0].error)).toMatch(/gzip, deflate or br/)
  },
)

test('case 68: a compressed body receives 415 on a runtime that has no decoder', async () => {
  vi.stubGlobal('DecompressionStream', undefined)
  expect(await openReceiver().deliver(gzipSync(json), { 'content-encoding': 'gzip' })).toBe(415)
})

test('case 68: a body that is cut off, or is not gzip, receives 400', async () => {
  const { deliver } = openReceiver()
  for (const body of [gzipSync(json).subarray(0, 60), Uint8Array.of(1, 255, 3)]) {
    expect(await deliver(body, { 'content-encoding': 'gzip' })).toBe(400)
  }
})

test.each(['gzip', 'br', 'identity', 'utf-8'])(
  'case 68: a body is not decoded again if a proxy left the encoding %s',
  async (encoding) => {
    const { deliver } = openReceiver({ verify })
    expect(await deliver(json, { ...typed, 'content-encoding': encoding })).toBe(200)
  },
)

const all = { type: () => true }
test.each<[string, express.RequestHandler]>([
  ['express.raw()', express.raw(all)],
  ['express.text()', express.text(all)],
  [
    'express.json() that keeps the bytes',
    express.json({ verify: (request, _response, rawBody) => Object.assign(request, { rawBody }) }),
  ],
])('case 68: a gzip body is decoded once behind %s', async (_, parser) => {
  const { handler } = openReceiver({ verify })
  expect(await post(withParsers(handler, parser), gzipSync(json), { 'content-encoding': 'gzip' })).toBe(200)
})

test('case 68: a gzip body is decoded if a body parser kept the encoded bytes', async () => {
  const { handler } = openReceiver({ verify })
  const app = fastify()
  onTestFinished(() => app.close())
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: unknown) => body)
  app.post('/', toNodeHandler(handler))
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const headers = { ...typed, 'content-encoding': 'gzip' }
  expect((await fetch(url, { method: 'POST', body: gzipSync(json), headers })).status).toBe(200)
})
