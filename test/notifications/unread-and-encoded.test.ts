import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { delivery, parsedPayment, payment, sign, signing } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'
import { refusedBy } from '../support/refused.ts'

const json = JSON.stringify(payment())

test.each<[string, (request: Request) => unknown]>([
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
])('case 67: the handler rejects and says what to change if the body %s', async (_, read) => {
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

describe('case 68: a body with the encoding', () => {
  const signed = (encoding: string) => ({ 'x-signature': sign(json), 'content-encoding': encoding })

  test.each<[string, Uint8Array]>([
    ['gzip', gzipSync(json)],
    ['x-gzip', gzipSync(json)],
    [' GZIP ', gzipSync(json)],
    ['deflate', deflateSync(json)],
    ['br', brotliCompressSync(json)],
  ])('%j is decoded, then verified', async (encoding, body) => {
    const { deliver, onPayment } = openReceiver(signing)
    expect(await deliver(body, signed(encoding))).toBe(200)
    expect(onPayment.mock.calls[0]?.[0]).toMatchObject(parsedPayment)
  })

  test.each(['gzip', 'br', 'identity', 'utf-8'])(
    '%s is not decoded again if a proxy left the header',
    async (encoding) => {
      expect(await openReceiver(signing).deliver(json, signed(encoding))).toBe(200)
    },
  )

  test.each([
    ['gzip', gzipSync(new Uint8Array(50_000_000))],
    ['br', brotliCompressSync(new Uint8Array(50_000_000))],
    ['gzip', gzipSync(JSON.stringify(payment({ padding: 'x'.repeat(70_000) })))],
  ])('%s receives 413 if it decodes to more than maxBytes', async (encoding, body) => {
    const { deliver, kinds } = openReceiver()
    expect(body.byteLength).toBeLessThan(65_536)
    expect(await deliver(body, { 'content-encoding': encoding })).toBe(413)
    expect(kinds()).toEqual(['invalid-message'])
  })

  test.each(['zstd-2', 'compress', 'gzip, br'])('%j receives 415', async (encoding) => {
    const { handler, reports } = openReceiver()
    const response = await handler(delivery(gzipSync(json), { 'content-encoding': encoding }))
    expect(response.status).toBe(415)
    expect(response.headers.get('accept-encoding')).toBe('gzip, deflate')
    expect(String(reports[0] && 'error' in reports[0] && reports[0].error)).toMatch(/gzip, deflate or br/)
  })

  test('gzip receives 415 on a runtime that has no decoder', async () => {
    vi.stubGlobal('DecompressionStream', undefined)
    expect(await openReceiver().deliver(gzipSync(json), signed('gzip'))).toBe(415)
  })

  test('gzip receives 400 if it is cut off, or is not gzip', async () => {
    for (const body of [gzipSync(json).subarray(0, 60), Uint8Array.of(1, 255, 3)])
      expect(await openReceiver().deliver(body, signed('gzip'))).toBe(400)
  })
})
