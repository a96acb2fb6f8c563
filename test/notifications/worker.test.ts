import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { payment, SIGNING_SECRET, sign } from '../support/messages.ts'
import { startWorker } from '../support/worker.ts'

const example = new URL('../../examples/frameworks/worker/', import.meta.url)

test('a worker in workerd verifies messages and processes each once', async () => {
  const config = await readFile(new URL('config.capnp', example), 'utf8')
  const environment = { NOTIFICATION_SECRET: SIGNING_SECRET }
  const entry = 'examples/frameworks/worker/worker.ts'
  const { url: origin, printed, stop } = await startWorker(entry, config, environment)
  onTestFinished(stop)
  const url = `${origin}/notifications`
  const send = async (body: string, signature = sign(body)) =>
    (await fetch(url, { method: 'POST', body, headers: { 'x-signature': signature } })).status
  const body = JSON.stringify(payment({ note: 'টাকা' }))
  expect(await Promise.all([send(body), send(body), send(body)])).toEqual([200, 200, 200])
  expect(await send(JSON.stringify(payment({ notificationId: 'n-forged' })), 'ab')).toBe(401)
  expect(await send('{')).toBe(400)
  const sendGzip = async (text: string) => {
    const headers = { 'x-signature': sign(text), 'content-encoding': 'gzip' }
    return (await fetch(url, { method: 'POST', body: gzipSync(text), headers })).status
  }
  expect(await sendGzip(body)).toBe(200)
  expect(await sendGzip(' '.repeat(10_000_000))).toBe(413)
  expect(printed().match(/payment 42: SUCCEEDED_PAYMENT/g)).toHaveLength(1)
})
