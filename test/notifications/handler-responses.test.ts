import { describe, expect, test, vi } from 'vitest'
import { createMemoryDedupeStore } from '../../src/notifications/index.ts'
import { settled } from '../support/manual-clock.ts'
import { delivery, payment, subscription } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'

const requestWith = (body: ReadableStream<Uint8Array>): Request => {
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
  return new Request('https://shop.example/', init)
}

describe('a message', () => {
  test('goes to the listener of its type, and the response is 200', async () => {
    const { deliver, onPayment, onSubscription } = openReceiver()
    expect(await deliver(payment())).toBe(200)
    expect(await deliver(subscription({ status: 'CANCELED' }))).toBe(200)
    const context = { signal: expect.any(AbortSignal) }
    const paid = { type: 'SUBSCRIPTION_PAYMENT', paymentId: '42' }
    expect(onPayment).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(paid), context)
    const cancelled = { type: 'SUBSCRIPTION', status: 'CANCELLED' }
    expect(onSubscription).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(cancelled), context)
  })

  test('case 38: with an unknown status goes to onUnknown once, and the response is 200', async () => {
    const onUnknown = vi.fn()
    const { deliver, onSubscription } = openReceiver({ onUnknown })
    expect(await deliver(subscription({ status: 'EXPIRED' }))).toBe(200)
    expect(await deliver(subscription({ status: 'EXPIRED' }))).toBe(200)
    expect(onUnknown).toHaveBeenCalledOnce()
    expect(onUnknown.mock.calls[0]?.[0]).toMatchObject({ type: 'UNKNOWN', status: 'EXPIRED' })
    expect(onSubscription).not.toHaveBeenCalled()
  })

  test('of an unknown type is reported without onUnknown, and the response is 200', async () => {
    const { deliver, reports } = openReceiver()
    expect(await deliver(payment({ type: 'REFUND' }))).toBe(200)
    expect(reports).toMatchObject([{ kind: 'unknown-kind', notification: { receivedType: 'REFUND' } }])
  })

  test.each<[string, unknown, string]>([
    ['JSON that ends early', '{"notificationId":', 'body'],
    ['an invalid field', payment({ timestamp: 'soon' }), 'timestamp'],
  ])('with %s receives 400 and is reported with its field', async (_, message, field) => {
    const { deliver, reports, onPayment } = openReceiver()
    expect(await deliver(message)).toBe(400)
    expect(reports).toMatchObject([{ kind: 'invalid-message', error: { issues: [{ field }] } }])
    expect(onPayment).not.toHaveBeenCalled()
  })

  test('above the limit receives 413, and its body is not read to the end', async () => {
    const { handler, deliver, onPayment } = openReceiver({ maxBytes: 1000 })
    let sent = 0
    const endless = new ReadableStream({
      pull: (controller) => {
        sent += 1
        controller.enqueue(new Uint8Array(400))
      },
    })
    expect((await handler(requestWith(endless))).status).toBe(413)
    expect(sent).toBeLessThan(8)
    expect(await deliver(payment({ padding: 'x'.repeat(1000) }))).toBe(413)
    expect(onPayment).not.toHaveBeenCalled()
  })

  test.each([
    [400, 'whose body breaks off'],
    [408, 'that does not end in time'],
  ])('receives %i %s, and the rest of its body is cancelled', async (status) => {
    const { handler, reports, onPayment } = openReceiver({ timeouts: { read: 20 } })
    const cancel = vi.fn()
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"notificationId":'))
        if (status === 400) setTimeout(() => controller.error(new Error('reset')), 5)
      },
      cancel,
    })
    expect((await handler(requestWith(body))).status).toBe(status)
    expect(reports).toMatchObject([{ kind: 'invalid-message', error: { issues: [{ field: 'body' }] } }])
    await settled()
    expect(cancel).toHaveBeenCalledTimes(status === 408 ? 1 : 0)
    expect(onPayment).not.toHaveBeenCalled()
  })
})

test.each(['GET', 'HEAD', 'OPTIONS'])('%s receives 405 with the allowed methods', async (method) => {
  const response = await openReceiver().handler(new Request('https://shop.example/', { method }))
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe('POST, PUT')
})

test('a response has no body and no text of a failure', async () => {
  const secret = 'password of the database'
  const { handler } = openReceiver({ onPayment: () => Promise.reject(new Error(secret)) })
  for (const message of [payment(), '{', subscription()]) {
    const response = await handler(delivery(message))
    expect(await response.text()).toBe('')
    expect(JSON.stringify([...response.headers])).not.toContain(secret)
  }
})

const throws = () => {
  throw new Error('at once')
}

test.each([
  ['throw', throws],
  ['reject', async () => throws()],
])('onUnexpected may %s', async (_, onUnexpected) => {
  expect(await openReceiver({ onUnexpected }).deliver('{')).toBe(400)
})

describe('verify', () => {
  test('that returns false gives 401, and the message is neither claimed nor processed', async () => {
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
    expect(await deliver(payment({ notificationId: 'n-9' }))).toBe(401)
    expect(kinds()).toEqual(['refused', 'refused'])
  })

  const invalid = { message: 'verify must return true or false' }
  test.each<[string, () => unknown, unknown]>([
    ['throws', throws, { message: 'at once' }],
    ['rejects', async () => throws(), { message: 'at once' }],
    ['rejects without a reason', () => Promise.reject(undefined), undefined],
    ['never returns', () => new Promise(() => undefined), { name: 'TimeoutError' }],
    ['returns nothing', () => undefined, invalid],
    ['returns null', () => null, invalid],
    ['returns a number', () => 1, invalid],
    ['returns text', async () => 'yes', invalid],
    ['returns an object without a record', () => ({}), invalid],
    ['returns another record than an object', () => ({ lookup: true }), invalid],
  ])(
    'case 67: that %s does not blame the sender: 503, and the next delivery is processed',
    async (_, fail, error) => {
      const verify = vi.fn<() => unknown>().mockImplementationOnce(fail).mockReturnValue(true)
      const { deliver, reports, onPayment } = openReceiver({
        verify: verify as never,
        timeouts: { verify: 100 },
      })
      expect(await deliver(payment())).toBe(503)
      expect(reports).toMatchObject([{ kind: 'verification-failed', error }])
      expect(await deliver(payment())).toBe(200)
      expect(onPayment).toHaveBeenCalledOnce()
    },
  )

  test('receives headers, the bytes as sent and the notification, and may return a record for the listener', async () => {
    const verify = vi.fn().mockResolvedValue({ lookup: { paymentId: 7 } })
    const text = `  ${JSON.stringify(payment())}`
    const { deliver, onPayment } = openReceiver({ verify })
    expect(await deliver(text, { 'x-signature': 'abc' })).toBe(200)
    const [given] = verify.mock.calls[0] ?? []
    expect(given.headers.get('x-signature')).toBe('abc')
    expect(new TextDecoder().decode(given.bytes)).toBe(text)
    expect(given.notification).toMatchObject({ paymentId: '42' })
    expect(onPayment.mock.lastCall?.[1]).toMatchObject({ lookup: { paymentId: 7 } })
  })
})
