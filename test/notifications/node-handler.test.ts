import { createHmac } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import { request as httpRequest } from 'node:http'
import type { RequestHandler } from 'express'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { InvalidRequestError } from '../../src/errors.ts'
import { hmacVerifier, toNodeHandler } from '../../src/notifications/index.ts'
import { parsedPayment, payment } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'
import { refusedBy } from '../support/refused.ts'
import { serve as serveListener } from '../support/serve.ts'

const SECRET = 'a-secret-of-the-merchant'
const signing = { verify: hmacVerifier({ header: 'x-signature', secrets: SECRET }) }

/** Serves a listener of node:http and returns the address of its notifications. */
const serve = async (listener: RequestListener) => `${await serveListener(listener)}/notifications`

const sign = (body: string): string => createHmac('sha256', SECRET).update(body).digest('hex')

const post = (url: string, body: string, type = 'application/json'): Promise<Response> =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': type, 'x-signature': sign(body) } })

const withParsers = (...parsers: RequestHandler[]): { app: express.Express; errors: unknown[] } => {
  const app = express()
  for (const parser of parsers) app.use(parser)
  const errors: unknown[] = []
  return { app, errors }
}

describe('whatever stands before it in Express, a message arrives as the same notification', () => {
  const form = new URLSearchParams(payment() as Record<string, string>).toString()
  const json = JSON.stringify(payment())
  test.each<[string, RequestHandler[], string, string]>([
    ['nothing', [], json, 'application/json'],
    ['express.json()', [express.json()], json, 'application/json'],
    ['express.json() and a form', [express.json()], form, 'application/x-www-form-urlencoded'],
    [
      'express.urlencoded()',
      [express.urlencoded({ extended: true })],
      form,
      'application/x-www-form-urlencoded',
    ],
    ['express.raw()', [express.raw({ type: () => true })], json, 'application/json'],
    ['express.text()', [express.text({ type: () => true })], json, 'text/plain; charset=utf-8'],
  ])('%s', async (_name, parsers, body, type) => {
    const { handler, onPayment } = openReceiver()
    const { app } = withParsers(...parsers)
    app.post('/notifications', toNodeHandler(handler))
    expect((await post(await serve(app), body, type)).status).toBe(200)
    expect(onPayment.mock.calls[0]?.[0]).toMatchObject(parsedPayment)
  })
})

describe('with a signature to verify', () => {
  const odd = `{ "note":"é – টাকা",   ${JSON.stringify(payment()).slice(1)}`

  test.each<[string, RequestHandler]>([
    ['raw bytes', express.raw({ type: () => true })],
    ['text', express.text({ type: () => true })],
    [
      'bytes kept beside the parsed body',
      express.json({ verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }) }),
    ],
  ])('%s of a body parser verify', async (_name, parser) => {
    const { handler } = openReceiver(signing)
    const { app } = withParsers(parser)
    app.post('/notifications', toNodeHandler(handler))
    expect((await post(await serve(app), odd)).status).toBe(200)
  })

  test('a parsed body alone reaches Express as an error that says what to change, and is not processed', async () => {
    const { handler, onPayment, kinds } = openReceiver(signing)
    const { app, errors } = withParsers(express.json())
    app.post('/notifications', toNodeHandler(handler))
    const onError: express.ErrorRequestHandler = (error, _request, response, _next) => {
      errors.push(error)
      response.status(500).end()
    }
    app.use(onError)
    expect((await post(await serve(app), odd)).status).toBe(500)
    expect(errors).toEqual([expect.any(InvalidRequestError)])
    expect(errors[0]).toMatchObject({ operation: 'notifications.verify' })
    expect(String(errors[0])).toMatch(/raw bytes.*express\.raw/s)
    expect(onPayment).not.toHaveBeenCalled()
    expect(kinds()).toEqual(['verification-failed'])
  })

  test('in Fastify and Koa it reaches their error handling', async () => {
    const { handler } = openReceiver(signing)
    const app = fastify()
    const errors: unknown[] = []
    app.setErrorHandler((error, _request, reply) => {
      errors.push(error)
      reply.code(500).send()
    })
    app.post('/notifications', toNodeHandler(handler))
    onTestFinished(() => app.close())
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    expect((await post(`${address}/notifications`, odd)).status).toBe(500)

    const koa = new Koa()
    koa.on('error', (error: unknown) => errors.push(error))
    koa.use(async (context, next) => {
      for await (const _chunk of context.req);
      Object.assign(context.request, { body: JSON.parse(odd) })
      await next()
    })
    koa.use(toNodeHandler(handler))
    expect((await post(await serve(koa.callback()), odd)).status).toBe(500)
    expect(errors).toEqual([expect.any(InvalidRequestError), expect.any(InvalidRequestError)])
  })

  test('in bare node:http it is answered 500 and the process goes on', async () => {
    const { handler, kinds } = openReceiver(signing)
    const receive = toNodeHandler(handler)
    const url = await serve(async (request: IncomingMessage & { body?: unknown }, response) => {
      for await (const _chunk of request);
      request.body = JSON.parse(odd)
      await receive(request, response)
    })
    expect((await post(url, odd)).status).toBe(500)
    expect(kinds()).toEqual(['verification-failed'])
  })
})

test('a parsed body without a signature to verify is processed in Fastify and Koa', async () => {
  const { handler, onPayment } = openReceiver()
  const app = fastify()
  app.post('/notifications', toNodeHandler(handler))
  onTestFinished(() => app.close())
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  expect((await post(`${address}/notifications`, JSON.stringify(payment()))).status).toBe(200)

  const koa = new Koa()
  koa.use(async (context, next) => {
    for await (const _chunk of context.req);
    Object.assign(context.request, { body: payment({ notificationId: 'n-3' }) })
    await next()
  })
  koa.use(toNodeHandler(handler))
  expect((await post(await serve(koa.callback()), '{}')).status).toBe(200)
  expect(onPayment).toHaveBeenCalledTimes(2)
})

test('a body above the limit is answered 413 on an open upload, and the next delivery is served', async () => {
  const { handler, onPayment } = openReceiver()
  const url = await serve(toNodeHandler(handler))
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const upload = httpRequest(url, { method: 'POST' }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
      upload.destroy()
    })
    upload.on('error', reject)
    upload.write('x'.repeat(100_000))
  })
  expect(status).toBe(413)
  expect((await post(url, JSON.stringify(payment()))).status).toBe(200)
  expect(onPayment).toHaveBeenCalledOnce()
})

test('other methods are answered 405, also those that a web-standard request cannot have', async () => {
  const { handler } = openReceiver()
  const url = await serve(toNodeHandler(handler))
  for (const method of ['GET', 'DELETE', 'TRACE']) {
    const status = await new Promise((resolve, reject) => {
      httpRequest(url, { method }, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(status).toBe(405)
  }
})

test('what is no request of a known server is refused', async () => {
  const { handler } = openReceiver()
  await refusedBy(() => toNodeHandler(handler)({ some: 'thing' }))
})
