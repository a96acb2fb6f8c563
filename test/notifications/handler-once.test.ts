import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { DedupeStore } from '../../src/notifications/index.ts'
import { createMemoryDedupeStore, createNotificationHandler } from '../../src/notifications/index.ts'
import { deferred } from '../support/deferred.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { delivery, payment } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'

/** A receiver whose listener runs until the test ends its work, and the signals that the listener receives. */
const openWorking = (options: Parameters<typeof openReceiver>[0] = {}) => {
  const work = deferred()
  const signals: AbortSignal[] = []
  const onPayment = vi.fn((_notification: unknown, { signal }: { signal: AbortSignal }) => {
    signals.push(signal)
    return work.promise
  })
  return { work, signals, ...openReceiver({ onPayment, ...options }), onPayment }
}

const twice = async ({ deliver }: ReturnType<typeof openReceiver>) => [
  await deliver(payment()),
  await deliver(payment()),
]

describe('once', () => {
  test.each([2, 1000])('case 37: %i deliveries of one id at once are processed once', async (count) => {
    const { work, onPayment, deliver, clock } = openWorking()
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

  test('case 37: a listener that throws gives 500, and the redelivery is processed', async () => {
    const failure = new Error('database is down')
    const onPayment = vi.fn().mockRejectedValueOnce(failure)
    const receiver = openReceiver({ onPayment })
    expect(await twice(receiver)).toEqual([500, 200])
    expect(receiver.reports).toMatchObject([{ kind: 'handler-failed', error: failure }])
    expect(await receiver.deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledTimes(2)
  })

  test('case 37: a duplicate of a delivery in progress that fails does not receive 200', async () => {
    const { work, deliver } = openWorking()
    const [first, duplicate] = [deliver(payment()), deliver(payment())]
    await settled()
    work.reject(new Error('declined by the ledger'))
    expect([await first, await duplicate]).toEqual([500, 503])
  })

  test('a duplicate waits no longer than responseTimeout and leaves no timer', async () => {
    const { work, deliver, clock, handler } = openWorking({ responseTimeout: 5000 })
    const first = deliver(payment())
    await settled()
    const duplicate = handler(delivery(payment()))
    await clock.advance(5000)
    const answer = await duplicate
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    work.resolve()
    expect(await first).toBe(200)
    expect(clock.sleeping).toBe(0)
  })

  test('an id is remembered for dedupeTtl', async () => {
    const { deliver, onPayment, clock } = openReceiver({ dedupeTtl: 60_000 })
    for (const [wait, calls] of [
      [0, 1],
      [59_999, 1],
      [1, 2],
    ] as const) {
      await clock.advance(wait)
      await deliver(payment())
      expect(onPayment).toHaveBeenCalledTimes(calls)
    }
  })
})

describe('leases', () => {
  const lease = { duration: 30_000, limit: 120_000 }

  /** A receiver and another process that shares its store, whose methods may be replaced for the first one. */
  const openPair = (changes: Partial<DedupeStore> = {}) => {
    const clock = new ManualClock()
    const store = createMemoryDedupeStore({ clock })
    const one = openWorking({ clock, lease, dedupe: { ...store, ...changes } })
    return { ...one, other: openReceiver({ clock, lease, dedupe: store }) }
  }

  test('a slow listener keeps its claim beyond one lease: another process receives 503 until it ends', async () => {
    const { work, deliver, reports, clock, other } = openPair()
    const first = deliver(payment())
    await clock.advance(100_000)
    expect(await other.deliver(payment())).toBe(503)
    work.resolve()
    expect(await first).toBe(200)
    expect(await other.deliver(payment())).toBe(200)
    expect(other.onPayment).not.toHaveBeenCalled()
    expect(reports).toEqual([])
  })

  test('a listener beyond its limit is aborted, the response is 503, and the id is free after the lease', async () => {
    const { signals, deliver, onPayment, clock, kinds } = openPair()
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
    const { work, deliver, onPayment, clock } = openPair()
    const first = deliver(payment())
    await clock.advance(120_000)
    expect(await first).toBe(503)
    work.resolve()
    await settled()
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('a lost lease aborts the listener; its success is kept and the loss is reported', async () => {
    const { work, signals, deliver, kinds, clock, other } = openPair({ extend: async () => false })
    const first = deliver(payment())
    await clock.advance(10_000)
    expect(signals[0]?.aborted).toBe(true)
    await clock.advance(30_000)
    work.resolve()
    expect(await first).toBe(200)
    expect(kinds()).toEqual(['lease-lost'])
    expect(await other.deliver(payment())).toBe(200)
    expect(other.onPayment).not.toHaveBeenCalled()
  })

  test('a lease that cannot be extended aborts the listener at its end, when another process may begin', async () => {
    const extend = () => Promise.reject(new Error('no route'))
    const { work, signals, deliver, clock, other } = openPair({ extend })
    const first = deliver(payment())
    await clock.advance(29_000)
    expect(signals[0]?.aborted).toBe(false)
    expect(await other.deliver(payment())).toBe(503)
    await clock.advance(1_000)
    expect(signals[0]?.aborted).toBe(true)
    expect(await other.deliver(payment())).toBe(200)
    work.reject(signals[0]?.reason)
    expect(await first).toBe(500)
  })

  test('the machine’s date may change while a listener runs: its lease neither ends nor is lost', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { onPayment, work, signals } = openWorking()
    const onUnexpected = vi.fn()
    const listeners = { onSubscription: onPayment, onPayment, onUnexpected }
    const first = createNotificationHandler({ verify: 'none', ...listeners })(delivery(payment()))
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
})

describe.each<[string, () => Promise<never>]>([
  ['rejects', () => Promise.reject(new Error('connection lost'))],
  ['never responds', () => new Promise(() => undefined)],
])('a store that %s', (_, fail) => {
  /** A receiver with a store of which one method fails, always or so many times. */
  const openFailing = (method: keyof DedupeStore, times = Number.POSITIVE_INFINITY) => {
    const clock = new ManualClock()
    const store = createMemoryDedupeStore({ clock })
    const work = vi.fn(store[method] as (...all: unknown[]) => Promise<unknown>)
    let left = times
    const failFirst = (...all: unknown[]) => {
      left -= 1
      return left >= 0 ? fail() : work(...all)
    }
    const dedupe = { ...store, [method]: failFirst }
    return { store, ...openReceiver({ clock, dedupe, timeouts: { store: 100 } }) }
  }

  test('at a claim: 503, nothing is processed, and the next delivery is', async () => {
    const receiver = openFailing('claim', 2)
    expect(await twice(receiver)).toEqual([503, 503])
    expect(receiver.onPayment).not.toHaveBeenCalled()
    expect(receiver.kinds()).toEqual(['store-failed', 'store-failed'])
    expect(await receiver.deliver(payment())).toBe(200)
  })

  test('at one commit: the handler tries again, so that no process runs it again', async () => {
    const receiver = openFailing('commit', 1)
    expect(await twice(receiver)).toEqual([200, 200])
    expect(receiver.onPayment).toHaveBeenCalledOnce()
    expect(receiver.kinds()).toEqual(['store-failed'])
    const other = openReceiver({ clock: receiver.clock, dedupe: receiver.store })
    expect(await other.deliver(payment())).toBe(200)
    expect(other.onPayment).not.toHaveBeenCalled()
  })

  test('at a release: 500, and the message is processed after the lease', async () => {
    const receiver = openFailing('release')
    receiver.onPayment.mockRejectedValueOnce(undefined)
    expect(await twice(receiver)).toEqual([500, 503])
    expect(receiver.kinds()).toEqual(['handler-failed', 'store-failed'])
    await receiver.clock.advance(60_000)
    expect(await receiver.deliver(payment())).toBe(200)
  })
})

test('a claim that the store grants too late is released, so that a redelivery is processed at once', async () => {
  const inner = createMemoryDedupeStore()
  const gate = deferred()
  const claim = vi.fn(inner.claim).mockImplementationOnce(async (...all) => {
    const granted = await inner.claim(...all)
    await gate.promise
    return granted
  })
  const receiver = openReceiver({ dedupe: { ...inner, claim }, timeouts: { store: 100 } })
  expect(await twice(receiver)).toEqual([503, 503])
  gate.resolve()
  await settled()
  expect(await receiver.deliver(payment())).toBe(200)
  expect(receiver.onPayment).toHaveBeenCalledOnce()
})

describe('case 120: an id that is known as processed', () => {
  test('is answered before verify, by a request, by a queue, and by another process that shares the store', async () => {
    const verify = vi.fn(() => true)
    const dedupe = createMemoryDedupeStore()
    const receiver = openReceiver({ verify, dedupe })
    expect(await twice(receiver)).toEqual([200, 200])
    const job = { headers: {}, body: JSON.stringify(payment()) }
    expect(await receiver.handler.process(job)).toMatchObject({ result: 'duplicate' })
    const other = openReceiver({ verify, dedupe })
    expect(await other.deliver(payment())).toBe(200)
    expect(verify).toHaveBeenCalledOnce()
    expect([receiver.onPayment.mock.calls.length, other.onPayment.mock.calls.length]).toEqual([1, 0])
  })

  test.each<[string, Partial<DedupeStore>, reports: string[]]>([
    ['lacks has', { has: undefined as never }, []],
    ['fails in has', { has: () => Promise.reject(new Error('down')) }, ['store-failed', 'store-failed']],
    ['returns no boolean from has', { has: async () => 'yes' as never }, ['store-failed', 'store-failed']],
  ])('is verified and found by the claim if the store %s', async (_, changes, reports) => {
    const verify = vi.fn(() => true)
    const receiver = openReceiver({ verify, dedupe: { ...createMemoryDedupeStore(), ...changes } })
    expect(await twice(receiver)).toEqual([200, 200])
    expect([verify.mock.calls.length, receiver.onPayment.mock.calls.length]).toEqual([2, 1])
    expect(receiver.kinds()).toEqual(reports)
  })

  test('does not include an id whose delivery failed: the next delivery is verified again', async () => {
    const verify = vi.fn(() => true)
    const receiver = openReceiver({ verify })
    receiver.onPayment.mockRejectedValueOnce(new Error('busy'))
    expect(await twice(receiver)).toEqual([500, 200])
    expect(verify).toHaveBeenCalledTimes(2)
  })
})
