import { describe, expect, test, vi } from 'vitest'
import { createMemoryDedupeStore } from '../../src/notifications/index.ts'
import { deferred } from '../support/deferred.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { delivery, payment } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'

describe('once', () => {
  test('one id delivered twice in parallel is handled once, and both are answered 200 only after it', async () => {
    const work = deferred()
    const onPayment = vi.fn(() => work.promise)
    const { deliver, clock } = openReceiver({ onPayment })
    const answered: number[] = []
    const both = [deliver(payment()), deliver(payment())].map(async (status) => answered.push(await status))
    await settled()
    expect(answered).toEqual([])
    work.resolve()
    await Promise.all(both)
    expect(answered).toEqual([200, 200])
    expect(onPayment).toHaveBeenCalledOnce()
    expect(clock.sleeping).toBe(0)
  })

  test('different ids with the same content are handled twice', async () => {
    const { deliver, onPayment } = openReceiver()
    await Promise.all([deliver(payment({ notificationId: 'a' })), deliver(payment({ notificationId: 'b' }))])
    expect(onPayment).toHaveBeenCalledTimes(2)
  })

  test('a listener that throws is answered 500, and the redelivery is handled', async () => {
    const failure = new Error('database is down')
    const onPayment = vi.fn().mockRejectedValueOnce(failure)
    const { deliver, reports } = openReceiver({ onPayment })
    expect(await deliver(payment())).toBe(500)
    expect(reports).toMatchObject([{ kind: 'handler-failed', error: failure }])
    expect(await deliver(payment())).toBe(200)
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledTimes(2)
  })

  test('a duplicate of a delivery that is in progress and then fails is not answered 200', async () => {
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

  test('a duplicate in another process is answered 503 while the first is in progress', async () => {
    const clock = new ManualClock()
    const dedupe = createMemoryDedupeStore({ clock })
    const work = deferred()
    const one = openReceiver({ clock, dedupe, onPayment: () => work.promise })
    const two = openReceiver({ clock, dedupe })
    const first = one.deliver(payment())
    await settled()
    expect(await two.deliver(payment())).toBe(503)
    work.resolve()
    expect(await first).toBe(200)
    expect(await two.deliver(payment())).toBe(200)
    expect(two.onPayment).not.toHaveBeenCalled()
  })

  test('an id is remembered for the time given and no longer', async () => {
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

  test('a slow listener keeps its claim for longer than one lease', async () => {
    const clock = new ManualClock()
    const dedupe = createMemoryDedupeStore({ clock })
    const work = deferred()
    const one = openReceiver({ clock, dedupe, lease, onPayment: () => work.promise })
    const two = openReceiver({ clock, dedupe, lease })
    const first = one.deliver(payment())
    await clock.advance(100_000)
    expect(await two.deliver(payment())).toBe(503)
    work.resolve()
    expect(await first).toBe(200)
    expect(two.onPayment).not.toHaveBeenCalled()
    expect(one.reports).toEqual([])
  })

  test('a listener beyond the limit is aborted and answered 503, and its id can be claimed when the lease has ended', async () => {
    const signals: AbortSignal[] = []
    const onPayment = vi.fn((_notification: unknown, { signal }: { signal: AbortSignal }) => {
      signals.push(signal)
      return signals.length === 1 ? new Promise(() => undefined) : undefined
    })
    const { deliver, clock, kinds } = openReceiver({ lease, onPayment })
    const first = deliver(payment())
    await clock.advance(120_000)
    expect(await first).toBe(503)
    expect(signals[0]?.aborted).toBe(true)
    expect(kinds()).toEqual(['handler-too-slow'])
    expect(await deliver(payment())).toBe(503)
    await clock.advance(30_000)
    expect(await deliver(payment())).toBe(200)
    expect(clock.sleeping).toBe(0)
  })

  test('a listener that succeeds after its limit still counts: its id is not handled again', async () => {
    const work = deferred()
    const onPayment = vi.fn(() => work.promise)
    const { deliver, clock } = openReceiver({ lease, onPayment })
    const first = deliver(payment())
    await clock.advance(120_000)
    expect(await first).toBe(503)
    work.resolve()
    await settled()
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('a lost lease aborts the listener, its success is kept and the loss reported', async () => {
    const clock = new ManualClock()
    const store = createMemoryDedupeStore({ clock })
    const work = deferred()
    const signals: AbortSignal[] = []
    const onPayment = (_notification: unknown, { signal }: { signal: AbortSignal }) => {
      signals.push(signal)
      return work.promise
    }
    const { deliver, kinds } = openReceiver({
      clock,
      lease,
      onPayment,
      dedupe: { ...store, extend: async () => false },
    })
    const first = deliver(payment())
    await clock.advance(40_000)
    expect(signals[0]?.aborted).toBe(true)
    work.resolve()
    expect(await first).toBe(200)
    expect(kinds()).toEqual(['lease-lost'])
    expect(await store.claim('n-1', 1000)).toEqual({ state: 'committed' })
  })
})

describe('a store that fails', () => {
  const failing = (method: 'claim' | 'extend' | 'commit' | 'release', times = Number.POSITIVE_INFINITY) => {
    const store = createMemoryDedupeStore()
    let left = times
    const fail = (...all: never[]): Promise<never> => {
      left -= 1
      const call = store[method] as (...all: never[]) => Promise<never>
      return left >= 0 ? Promise.reject(new Error('connection lost')) : call(...all)
    }
    return { ...store, [method]: fail } as typeof store
  }

  test('cannot claim: 503, nothing is processed, the next delivery is', async () => {
    const { deliver, onPayment, kinds } = openReceiver({ dedupe: failing('claim', 1) })
    expect(await deliver(payment())).toBe(503)
    expect(onPayment).not.toHaveBeenCalled()
    expect(kinds()).toEqual(['store-failed'])
    expect(await deliver(payment())).toBe(200)
  })

  test('cannot commit once: tried again, and nothing is lost', async () => {
    const { deliver, onPayment, kinds } = openReceiver({ dedupe: failing('commit', 1) })
    expect(await deliver(payment())).toBe(200)
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
    expect(kinds()).toEqual(['store-failed'])
  })

  test('cannot commit at all: 200, and this process does not handle it twice even when the lease has ended', async () => {
    const { deliver, onPayment, clock } = openReceiver({ dedupe: failing('commit') })
    expect(await deliver(payment())).toBe(200)
    await clock.advance(3_600_000)
    expect(await deliver(payment())).toBe(200)
    expect(onPayment).toHaveBeenCalledOnce()
  })

  test('cannot release: 500, and the message is handled when the lease has ended', async () => {
    const clock = new ManualClock()
    const store = createMemoryDedupeStore({ clock })
    const dedupe = { ...store, release: () => Promise.reject(new Error('connection lost')) }
    const onPayment = vi.fn().mockRejectedValueOnce(new Error('down'))
    const { deliver } = openReceiver({ clock, dedupe, onPayment })
    expect(await deliver(payment())).toBe(500)
    expect(await deliver(payment())).toBe(503)
    await clock.advance(60_000)
    expect(await deliver(payment())).toBe(200)
  })
})
