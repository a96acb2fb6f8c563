import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { DedupeStore } from '../../src/notifications/index.ts'
import { createMemoryDedupeStore, createNotificationHandler } from '../../src/notifications/index.ts'
import { deferred } from '../support/deferred.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { delivery, payment } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'

/** A listener that runs until the test ends its work, and the signals that it receives. */
const working = () => {
  const work = deferred()
  const signals: AbortSignal[] = []
  const listener = vi.fn((_notification: unknown, { signal }: { signal: AbortSignal }) => {
    signals.push(signal)
    return work.promise
  })
  return { work, signals, listener }
}

describe('once', () => {
  test.each([2, 1000])('case 37: %i deliveries of one id at once are processed once', async (count) => {
    const { work, listener: onPayment } = working()
    const { deliver, clock } = openReceiver({ onPayment })
    let responses = 0
    const storm = Array.from({ length: count }, async () => {
      const status = await deliver(payment())
      responses += 1
      return status
    })
    await settled()
    expect(responses).toBe(0)
    work.resolve()
    expect(new Set(await Promise.all(storm))).toEqual(new Set([200]))
    expect(onPayment).toHaveBeenCalledOnce()
    expect(clock.sleeping).toBe(0)
  })

  test('a listener that throws gives 500, and the redelivery is processed', async () => {
    const failure = new Error('database is down')
    const onPayment = vi.fn().mockRejectedValueOnce(failure)
    const { deliver, reports } = openReceiver({ onPayment })
    expect(await deliver(payment())).toBe(500)
    expect(reports).toMatchObject([{ kind: 'handler-failed', error: failure }])
    expect(await deliver(payment())).toBe(200)
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledTimes(2)
  })

  test('a duplicate of a delivery in progress that fails does not receive 200', async () => {
    const work = deferred()
    const { deliver } = openReceiver({ onPayment: () => work.promise })
    const [first, duplicate] = [deliver(payment()), deliver(payment())]
    await settled()
    work.reject(new Error('declined by the ledger'))
    expect([await first, await duplicate]).toEqual([500, 503])
  })

  test('a duplicate waits no longer than responseTimeout and leaves no timer', async () => {
    const work = deferred()
    const { deliver, clock, handler } = openReceiver({ onPayment: () => work.promise, responseTimeout: 5000 })
    const first = deliver(payment())
    await settled()
    const duplicate = handler(delivery(payment()))
    await clock.advance(5000)
    const answer = await duplicate
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('5')
    work.resolve()
    expect(await first).toBe(200)
    expect(clock.sleeping).toBe(0)
  })

  test('an id is remembered for dedupeTtl', async () => {
    const { deliver, onPayment, clock } = openReceiver({ dedupeTtl: 60_000 })
    await deliver(payment())
    await clock.advance(59_999)
    await deliver(payment())
    expect(onPayment).toHaveBeenCalledTimes(1)
    await clock.advance(1)
    await deliver(payment())
    expect(onPayment).toHaveBeenCalledTimes(2)
  })
})

describe('leases', () => {
  const lease = { duration: 30_000, limit: 120_000 }

  test('a slow listener keeps its claim beyond one lease: another process receives 503 until it ends', async () => {
    const clock = new ManualClock()
    const dedupe = createMemoryDedupeStore({ clock })
    const { work, listener: onPayment } = working()
    const one = openReceiver({ clock, dedupe, lease, onPayment })
    const two = openReceiver({ clock, dedupe, lease })
    const first = one.deliver(payment())
    await clock.advance(100_000)
    expect(await two.deliver(payment())).toBe(503)
    work.resolve()
    expect(await first).toBe(200)
    expect(await two.deliver(payment())).toBe(200)
    expect(two.onPayment).not.toHaveBeenCalled()
    expect(one.reports).toEqual([])
  })

  test('a listener beyond its limit is aborted, the response is 503, and the id is free after the lease', async () => {
    const { signals, listener: onPayment } = working()
    const { deliver, clock, kinds } = openReceiver({ lease, onPayment })
    const first = deliver(payment())
    await clock.advance(120_000)
    expect(await first).toBe(503)
    expect(signals[0]?.aborted).toBe(true)
    expect(kinds()).toEqual(['handler-too-slow'])
    expect(await deliver(payment())).toBe(503)
    await clock.advance(30_000)
    onPayment.mockResolvedValueOnce()
    expect(await deliver(payment())).toBe(200)
    expect(clock.sleeping).toBe(0)
  })

  test('a listener that succeeds after its limit counts: its id is not processed again', async () => {
    const { work, listener: onPayment } = working()
    const { deliver, clock } = openReceiver({ lease, onPayment })
    const first = deliver(payment())
    await clock.advance(120_000)
    expect(await first).toBe(503)
    work.resolve()
    await settled()
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('a lost lease aborts the listener; its success is kept and the loss is reported', async () => {
    const clock = new ManualClock()
    const store = createMemoryDedupeStore({ clock })
    const { work, signals, listener: onPayment } = working()
    const dedupe = { ...store, extend: async () => false }
    const { deliver, kinds } = openReceiver({ clock, lease, onPayment, dedupe })
    const first = deliver(payment())
    await clock.advance(40_000)
    expect(signals[0]?.aborted).toBe(true)
    work.resolve()
    expect(await first).toBe(200)
    expect(kinds()).toEqual(['lease-lost'])
    const other = openReceiver({ clock, dedupe: store })
    expect(await other.deliver(payment())).toBe(200)
    expect(other.onPayment).not.toHaveBeenCalled()
  })

  test('a lease that cannot be extended aborts the listener at its end, when another process may begin', async () => {
    const clock = new ManualClock()
    const inner = createMemoryDedupeStore({ clock })
    const { work, signals, listener: onPayment } = working()
    const dedupe = { ...inner, extend: () => Promise.reject(new Error('no route')) }
    const cut = openReceiver({ clock, lease, dedupe, onPayment })
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
})

describe.each<[string, () => Promise<never>]>([
  ['rejects', () => Promise.reject(new Error('connection lost'))],
  ['never responds', () => new Promise(() => undefined)],
])('a store that %s', (_, fail) => {
  const timeouts = { store: 100 }
  const clock = new ManualClock()
  /** A store of which one method fails, always or so many times. */
  const failing = (method: keyof DedupeStore, times = Number.POSITIVE_INFINITY): DedupeStore => {
    const store = createMemoryDedupeStore({ clock })
    const work = store[method] as (...all: unknown[]) => Promise<unknown>
    let left = times
    const failFirst = (...all: unknown[]) => {
      left -= 1
      return left >= 0 ? fail() : work(...all)
    }
    return { ...store, [method]: failFirst }
  }

  test('at a claim: 503, nothing is processed, and the next delivery is', async () => {
    const { deliver, onPayment, kinds } = openReceiver({ dedupe: failing('claim', 2), timeouts, clock })
    expect([await deliver(payment()), await deliver(payment())]).toEqual([503, 503])
    expect(onPayment).not.toHaveBeenCalled()
    expect(kinds()).toEqual(['store-failed', 'store-failed'])
    expect(await deliver(payment())).toBe(200)
  })

  test('at one commit: the handler tries again, and nothing is lost', async () => {
    const { deliver, onPayment, kinds } = openReceiver({ dedupe: failing('commit', 1), timeouts, clock })
    expect([await deliver(payment()), await deliver(payment())]).toEqual([200, 200])
    expect(onPayment).toHaveBeenCalledOnce()
    expect(kinds()).toEqual(['store-failed'])
  })

  test('at a release: 500, and the message is processed after the lease', async () => {
    const onPayment = vi.fn().mockRejectedValueOnce(undefined)
    const { deliver, kinds } = openReceiver({ dedupe: failing('release'), timeouts, clock, onPayment })
    expect(await deliver(payment())).toBe(500)
    expect(kinds()).toEqual(['handler-failed', 'store-failed'])
    expect(await deliver(payment())).toBe(503)
    await clock.advance(60_000)
    expect(await deliver(payment())).toBe(200)
  })
})

describe('a claim', () => {
  test('that the store grants too late is released, so that a redelivery is processed at once', async () => {
    const inner = createMemoryDedupeStore()
    const gate = deferred()
    const claim = vi.fn(inner.claim).mockImplementationOnce(async (...all) => {
      const granted = await inner.claim(...all)
      await gate.promise
      return granted
    })
    const { deliver, onPayment } = openReceiver({ dedupe: { ...inner, claim }, timeouts: { store: 100 } })
    expect([await deliver(payment()), await deliver(payment())]).toEqual([503, 503])
    gate.resolve()
    await settled()
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })
})

test('the machine’s date may change while a listener runs: its lease neither ends nor is lost', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { listener, work, signals } = working()
  const onUnexpected = vi.fn()
  const options = { verify: 'none', onSubscription: listener, onPayment: listener, onUnexpected } as const
  const handler = createNotificationHandler(options)
  const first = handler(delivery(payment()))
  await settled()
  for (const time of ['2046-01-01T00:00:00Z', '1999-01-01T00:00:00Z']) {
    vi.setSystemTime(new Date(time))
    await settled()
    expect(signals[0]?.aborted).toBe(false)
  }
  work.resolve()
  expect((await first).status).toBe(200)
  expect(onUnexpected).not.toHaveBeenCalled()
  expect(signals).toHaveLength(1)
})

describe('case 120: an id that is known as processed', () => {
  test('is answered before verify, by a request and by a queue', async () => {
    const verify = vi.fn(() => true)
    const { deliver, handler, onPayment } = openReceiver({ verify })
    expect([await deliver(payment()), await deliver(payment())]).toEqual([200, 200])
    const job = { headers: {}, body: JSON.stringify(payment()) }
    expect(await handler.process(job)).toMatchObject({ result: 'duplicate' })
    expect(verify).toHaveBeenCalledOnce()
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('is answered by another process that shares the store', async () => {
    const dedupe = createMemoryDedupeStore()
    const verify = vi.fn(() => true)
    expect(await openReceiver({ dedupe }).deliver(payment())).toBe(200)
    expect(await openReceiver({ dedupe, verify }).deliver(payment())).toBe(200)
    expect(verify).not.toHaveBeenCalled()
  })

  test.each<[string, Partial<DedupeStore>, reports: string[]]>([
    ['lacks has', { has: undefined as never }, []],
    ['fails in has', { has: () => Promise.reject(new Error('down')) }, ['store-failed', 'store-failed']],
    ['returns no boolean from has', { has: async () => 'yes' as never }, ['store-failed', 'store-failed']],
  ])('is verified and found by the claim if the store %s', async (_, changes, reports) => {
    const verify = vi.fn(() => true)
    const dedupe = { ...createMemoryDedupeStore(), ...changes }
    const { deliver, kinds, onPayment } = openReceiver({ verify, dedupe })
    expect([await deliver(payment()), await deliver(payment())]).toEqual([200, 200])
    expect([verify.mock.calls.length, onPayment.mock.calls.length]).toEqual([2, 1])
    expect(kinds()).toEqual(reports)
  })

  test('does not include an id whose delivery failed: the next delivery is verified again', async () => {
    const verify = vi.fn(() => true)
    const onPayment = vi.fn().mockRejectedValueOnce(new Error('busy'))
    const { deliver } = openReceiver({ verify, onPayment })
    expect([await deliver(payment()), await deliver(payment())]).toEqual([500, 200])
    expect(verify).toHaveBeenCalledTimes(2)
  })
})
