import { describe, expect, test, vi } from 'vitest'
import type { DedupeStore } from '../../src/notifications/index.ts'
import { createMemoryDedupeStore, createNotificationHandler } from '../../src/notifications/index.ts'
import { deferred } from '../support/deferred.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { delivery, payment } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'

const never = () => new Promise<never>(() => undefined)

/** A request whose body comes in pieces when it is told to. */
const trickling = () => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const cancelled = vi.fn()
  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given
    },
    cancel: cancelled,
  })
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
  return {
    request: new Request('https://shop.example/', init),
    send: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
    cancelled,
  }
}

describe('a sender', () => {
  test('that does not end its body in time is answered 408, and the rest is given up', async () => {
    const { handler, reports, onPayment } = openReceiver({ timeouts: { read: 20 } })
    const { request, send, cancelled } = trickling()
    send('{"notificationId":')
    expect((await handler(request)).status).toBe(408)
    expect(reports).toMatchObject([{ kind: 'invalid-message', error: { issues: [{ field: 'body' }] } }])
    await settled()
    expect(cancelled).toHaveBeenCalledOnce()
    expect(onPayment).not.toHaveBeenCalled()
  })

  test('that sends its body in single bytes is heard to the end', async () => {
    const { handler, onPayment } = openReceiver()
    const { request, send, end } = trickling()
    const answered = handler(request)
    for (const character of JSON.stringify(payment())) {
      send(character)
      await settled()
    }
    end()
    expect((await answered).status).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test.each(['0', '-1', 'many', '10, 10'])(
    'that lies about its length (%s) is measured by what it sends',
    async (length) => {
      const { deliver } = openReceiver({ maxBytes: 1000 })
      expect(await deliver(payment(), { 'content-length': length })).toBe(200)
      const large = payment({ notificationId: 'n-large', padding: 'x'.repeat(2000) })
      expect(await deliver(large, { 'content-length': length })).toBe(413)
    },
  )
})

describe('a verifier', () => {
  test('that never answers is answered 503 in time, and the next delivery is processed', async () => {
    const verify = vi.fn<() => Promise<boolean>>().mockImplementationOnce(never).mockResolvedValue(true)
    const { deliver, kinds, onPayment } = openReceiver({ verify, timeouts: { verify: 20 } })
    expect(await deliver(payment())).toBe(503)
    expect(kinds()).toEqual(['verification-failed'])
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('that throws at once or rejects with nothing is answered 503', async () => {
    const throws = () => {
      throw new Error('at once')
    }
    for (const verify of [throws, () => Promise.reject(undefined)]) {
      const { deliver, reports } = openReceiver({ verify })
      expect(await deliver(payment())).toBe(503)
      expect(reports.map(({ kind }) => kind)).toEqual(['verification-failed'])
    }
  })
})

describe('a store that hangs', () => {
  const hanging = (
    method: keyof DedupeStore,
    inner: DedupeStore = createMemoryDedupeStore(),
  ): DedupeStore => ({
    ...inner,
    [method]: never,
  })
  const timeouts = { store: 20 }

  test('at a claim: 503, nothing is processed, and later deliveries do not wait for the first', async () => {
    const { deliver, kinds, onPayment } = openReceiver({ dedupe: hanging('claim'), timeouts })
    expect(await deliver(payment())).toBe(503)
    expect(await deliver(payment())).toBe(503)
    expect(kinds()).toEqual(['store-failed', 'store-failed'])
    expect(onPayment).not.toHaveBeenCalled()
  })

  test('and grants a claim too late gets it back, so that a redelivery is processed at once', async () => {
    const inner = createMemoryDedupeStore()
    const gate = deferred()
    const claim = vi.fn<DedupeStore['claim']>().mockImplementationOnce(async (...all) => {
      const granted = await inner.claim(...all)
      await gate.promise
      return granted
    })
    claim.mockImplementation(inner.claim)
    const { deliver, onPayment } = openReceiver({ dedupe: { ...inner, claim }, timeouts })
    expect(await deliver(payment())).toBe(503)
    expect(await deliver(payment())).toBe(503)
    gate.resolve()
    await settled()
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('at a commit: 200, and the message is not handled again', async () => {
    const { deliver, kinds, onPayment } = openReceiver({ dedupe: hanging('commit'), timeouts })
    expect(await deliver(payment())).toBe(200)
    expect(kinds()).toEqual(['store-failed', 'store-failed'])
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('at a release: 500 is answered all the same', async () => {
    const onPayment = vi.fn().mockRejectedValueOnce(undefined)
    const { deliver, kinds } = openReceiver({ dedupe: hanging('release'), onPayment, timeouts })
    expect(await deliver(payment())).toBe(500)
    expect(kinds()).toEqual(['handler-failed', 'store-failed'])
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a word', 'claimed'],
    ['a state of its own', { state: 'maybe' }],
  ])('or answers a claim with %s: 503, reported, nothing is processed', async (_what, answer) => {
    const dedupe = { ...createMemoryDedupeStore(), claim: async () => answer } as unknown as DedupeStore
    const { deliver, kinds, onPayment } = openReceiver({ dedupe })
    expect(await deliver(payment())).toBe(503)
    expect(kinds()).toEqual(['store-failed'])
    expect(onPayment).not.toHaveBeenCalled()
  })
})

test('a lease that cannot be prolonged until its end stops the work, since another process may begin', async () => {
  const clock = new ManualClock()
  const inner = createMemoryDedupeStore({ clock })
  const work = deferred()
  const signals: AbortSignal[] = []
  const cut = openReceiver({
    clock,
    lease: { duration: 30_000 },
    dedupe: { ...inner, extend: () => Promise.reject(new Error('no route')) },
    onPayment: (_notification, { signal }) => {
      signals.push(signal)
      return work.promise
    },
  })
  const other = openReceiver({ clock, dedupe: inner })
  const first = cut.deliver(payment())
  await clock.advance(29_000)
  expect(signals[0]?.aborted).toBe(false)
  expect(await other.deliver(payment())).toBe(503)
  await clock.advance(1_000)
  expect(signals[0]?.aborted).toBe(true)
  expect(await other.deliver(payment())).toBe(200)
  work.reject(signals[0]?.reason)
  expect(await first).toBe(500)
})

test('a thousand deliveries of one id at once run the code once and leave no timer', async () => {
  const work = deferred()
  const onPayment = vi.fn(() => work.promise)
  const { deliver, clock } = openReceiver({ onPayment })
  const storm = Array.from({ length: 1000 }, () => deliver(payment()))
  await settled()
  work.resolve()
  expect(new Set(await Promise.all(storm))).toEqual(new Set([200]))
  expect(onPayment).toHaveBeenCalledOnce()
  expect(clock.sleeping).toBe(0)
})

test('the machine’s time may be set while code runs: its lease is neither lost nor ended early', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const work = deferred()
    const reports: string[] = []
    const signals: AbortSignal[] = []
    const handler = createNotificationHandler({
      verify: 'none',
      onSubscription: () => undefined,
      onPayment: (_notification, { signal }) => {
        signals.push(signal)
        return work.promise
      },
      onUnexpected: ({ kind }) => reports.push(kind),
    })
    const first = handler(delivery(payment()))
    await settled()
    for (const time of ['2046-01-01T00:00:00Z', '1999-01-01T00:00:00Z']) {
      vi.setSystemTime(new Date(time))
      await settled()
      expect(signals[0]?.aborted).toBe(false)
    }
    work.resolve()
    expect((await first).status).toBe(200)
    expect(reports).toEqual([])
    expect(signals).toHaveLength(1)
  } finally {
    vi.useRealTimers()
  }
})
