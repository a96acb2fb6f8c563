import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createHandlerWithClock } from '../../src/notifications/handler.ts'
import { createMemoryDedupeStore } from '../../src/notifications/index.ts'
import { deferred } from '../support/deferred.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { delivery, payment } from '../support/messages.ts'
import { sized } from '../support/sizes.ts'

const LEASE = { duration: 30_000, limit: 90_000 }

/** What can happen: a delivery to a process, the end of the oldest run of an id, a crash of a process, time. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('deliver' as const), fc.nat(2), fc.nat(2)) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('finish' as const), fc.nat(2), fc.boolean()) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constant('wait' as const), fc.constantFrom(1000, 10_000, 29_999, 45_000, 200_000)),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constant('crash' as const), fc.nat(2)) },
)

interface Run {
  readonly id: string
  readonly process: object
  readonly signal: AbortSignal
  readonly end: ReturnType<typeof deferred<void>>
  state: 'running' | 'succeeded' | 'failed' | 'dead'
}

test('in any order of deliveries, failures, crashes and lost leases no run follows a success, two live runs never share a lease, and 200 means success', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = new ManualClock()
      const store = createMemoryDedupeStore({ clock })
      const runs: Run[] = []
      const faults: string[] = []
      const hasSucceeded = (id: string) => runs.some((run) => run.id === id && run.state === 'succeeded')
      const startProcess = () => {
        // A crashed process no longer reaches the store, nor do its pending commands.
        const process = { alive: true }
        const guarded = <Value>(call: () => Promise<Value>): Promise<Value> =>
          process.alive ? call() : new Promise<Value>(() => undefined)
        const handler = createHandlerWithClock(clock, {
          verify: 'none',
          lease: LEASE,
          dedupe: {
            claim: (id, lease) => guarded(() => store.claim(id, lease)),
            extend: (id, owner, lease) => guarded(() => store.extend(id, owner, lease)),
            commit: (id, owner, ttl) => guarded(() => store.commit(id, owner, ttl)),
            release: (id, owner) => guarded(() => store.release(id, owner)),
          },
          onSubscription: () => undefined,
          onPayment: ({ notificationId: id }, { signal }) => {
            if (hasSucceeded(id)) faults.push(`${id} ran after a success`)
            if (runs.some((run) => run.id === id && run.state === 'running' && !run.signal.aborted)) {
              faults.push(`${id} ran twice at once`)
            }
            const run: Run = { id, process, signal, end: deferred<void>(), state: 'running' }
            runs.push(run)
            return run.end.promise
          },
        })
        return { process, handler }
      }
      const processes = [startProcess(), startProcess(), startProcess()]
      const deliver = async (index: number, id: string) => {
        const { process, handler } = processes[index] ?? startProcess()
        const { status } = await handler(delivery(payment({ notificationId: id })))
        const isEarly = process.alive && status === 200 && !hasSucceeded(id)
        if (isEarly) faults.push(`${id} received 200 before a success`)
        return status
      }
      const finish = async (id: string, succeeds: boolean) => {
        const run = runs.find((one) => one.id === id && one.state === 'running')
        if (run === undefined) return
        run.state = succeeds ? 'succeeded' : 'failed'
        if (succeeds) run.end.resolve()
        else run.end.reject(new Error('declined'))
        await settled()
      }

      for (const one of steps) {
        if (one[0] === 'deliver') void deliver(one[1], `n-${one[2]}`)
        else if (one[0] === 'finish') await finish(`n-${one[1]}`, one[2])
        else if (one[0] === 'wait') await clock.advance(one[1])
        else {
          const { process } = processes[one[1]] ?? startProcess()
          process.alive = false
          for (const run of runs) if (run.process === process && run.state === 'running') run.state = 'dead'
          processes[one[1]] = startProcess()
        }
        await settled()
      }

      // The sender repeats a delivery until the response is 200: every message is processed in the end.
      for (const id of ['n-0', 'n-1', 'n-2']) {
        await clock.advance(LEASE.limit + LEASE.duration)
        const last = deliver(0, id)
        await settled()
        while (runs.some((run) => run.id === id && run.state === 'running')) await finish(id, true)
        expect(await last).toBe(200)
      }
      expect(faults).toEqual([])
    }),
    { numRuns: sized(300, 100) },
  )
})
