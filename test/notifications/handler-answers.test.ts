import { describe, expect, test, vi } from 'vitest'
import { createMemoryDedupeStore } from '../../src/notifications/index.ts'
import { delivery, payment, subscription } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'

describe('answers', () => {
  test('each kind goes to its listener and is answered 200', async () => {
    const { deliver, onPayment, onSubscription } = openReceiver()
    expect(await deliver(payment())).toBe(200)
    expect(await deliver(subscription({ status: 'CANCELED' }))).toBe(200)
    expect(onPayment).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ type: 'SUBSCRIPTION_PAYMENT', paymentId: '42' }),
      { signal: expect.any(AbortSignal) },
    )
    expect(onSubscription).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ type: 'SUBSCRIPTION', status: 'CANCELLED' }),
      { signal: expect.any(AbortSignal) },
    )
  })

  test('a status that is not known goes to the unknown listener, once, and is answered 200', async () => {
    const onUnknown = vi.fn()
    const { deliver, onSubscription } = openReceiver({ onUnknown })
    expect(await deliver(subscription({ status: 'EXPIRED' }))).toBe(200)
    expect(await deliver(subscription({ status: 'EXPIRED' }))).toBe(200)
    expect(onUnknown).toHaveBeenCalledOnce()
    expect(onUnknown.mock.calls[0]?.[0]).toMatchObject({ type: 'UNKNOWN', status: 'EXPIRED' })
    expect(onSubscription).not.toHaveBeenCalled()
  })

  test('without an unknown listener it is reported and answered 200', async () => {
    const { deliver, reports } = openReceiver()
    expect(await deliver(payment({ type: 'REFUND' }))).toBe(200)
    expect(reports).toMatchObject([{ kind: 'unknown-kind', notification: { receivedType: 'REFUND' } }])
  })

  test('bad input is answered 400 and reported with the field', async () => {
    const { deliver, reports, onPayment } = openReceiver()
    expect(await deliver('{"notificationId":')).toBe(400)
    expect(await deliver(payment({ timestamp: 'soon' }))).toBe(400)
    expect(onPayment).not.toHaveBeenCalled()
    expect(reports).toMatchObject([
      { kind: 'invalid-message', error: { issues: [{ field: 'body' }] } },
      { kind: 'invalid-message', error: { issues: [{ field: 'timestamp' }] } },
    ])
  })

  test('a body read before, or one that breaks off, is answered 400', async () => {
    const { handler } = openReceiver()
    const read = delivery(payment())
    await read.text()
    expect((await handler(read)).status).toBe(400)
    const broken = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('{"notificationId"'))
        controller.error(new Error('reset'))
      },
    })
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body: broken, duplex: 'half' }
    expect((await handler(new Request('https://shop.example/', init))).status).toBe(400)
  })

  test('a body above the limit is answered 413 without being read to its end', async () => {
    const { handler, onPayment } = openReceiver({ maxBytes: 1000 })
    let sent = 0
    const endless = new ReadableStream({
      pull: (controller) => {
        sent += 1
        controller.enqueue(new Uint8Array(400))
      },
    })
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body: endless, duplex: 'half' }
    expect((await handler(new Request('https://shop.example/', init))).status).toBe(413)
    expect(sent).toBeLessThan(8)
    expect((await handler(delivery(payment({ padding: 'x'.repeat(1000) })))).status).toBe(413)
    expect(onPayment).not.toHaveBeenCalled()
  })

  test.each(['GET', 'HEAD', 'DELETE', 'PATCH', 'OPTIONS'])(
    '%s is answered 405 with what is allowed',
    async (method) => {
      const { handler } = openReceiver()
      const answer = await handler(new Request('https://shop.example/', { method }))
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toBe('POST, PUT')
    },
  )

  test('no answer has a body, whatever the failure said', async () => {
    const secret = 'password of the database'
    const { handler } = openReceiver({
      onPayment: () => {
        throw new Error(secret)
      },
    })
    for (const message of [payment(), '{', subscription()]) {
      const answer = await handler(delivery(message))
      expect(await answer.text()).toBe('')
      expect(JSON.stringify([...answer.headers])).not.toContain(secret)
    }
  })

  test('a listener for reports that throws or rejects breaks nothing', async () => {
    const throws = openReceiver({
      onUnexpected: () => {
        throw new Error('logger is down')
      },
    })
    expect(await throws.deliver('{')).toBe(400)
    const rejects = openReceiver({ onUnexpected: () => Promise.reject(new Error('logger is down')) })
    expect(await rejects.deliver('{')).toBe(400)
  })
})

describe('verification', () => {
  test('what the verifier refuses is answered 401 and neither claimed nor processed', async () => {
    const dedupe = createMemoryDedupeStore()
    let isGenuine = false
    const { deliver, onPayment, kinds } = openReceiver({ verify: async () => isGenuine, dedupe })
    expect(await deliver(payment())).toBe(401)
    expect(dedupe.size).toBe(0)
    expect(onPayment).not.toHaveBeenCalled()
    isGenuine = true
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
    isGenuine = false
    expect(await deliver(payment())).toBe(401)
    expect(kinds()).toEqual(['refused', 'refused'])
  })

  test('a verifier that answers anything but true refuses', async () => {
    for (const odd of [undefined, null, 1, 'yes', {}]) {
      // @ts-expect-error a verifier answers a boolean
      const { deliver } = openReceiver({ verify: () => odd })
      expect(await deliver(payment())).toBe(401)
    }
  })

  test('a verifier that throws is answered 503, and the next delivery is processed', async () => {
    const verify = vi.fn().mockRejectedValueOnce(new Error('unreachable')).mockResolvedValue(true)
    const { deliver, kinds, onPayment } = openReceiver({ verify })
    expect(await deliver(payment())).toBe(503)
    expect(kinds()).toEqual(['verification-failed'])
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('the verifier sees headers, the bytes as sent and the notification', async () => {
    const verify = vi.fn().mockResolvedValue(true)
    const { deliver } = openReceiver({ verify })
    const text = `  ${JSON.stringify(payment())}`
    await deliver(text, { 'x-signature': 'abc' })
    const [seen] = verify.mock.calls[0] ?? []
    expect(seen.headers.get('x-signature')).toBe('abc')
    expect(new TextDecoder().decode(seen.bytes)).toBe(text)
    expect(seen.notification).toMatchObject({ paymentId: '42' })
  })
})
