import { check } from '../base/fields.ts'
import { newRecent, type Recent, recentList } from '../base/recent-list.ts'
import { MockRefusedError } from '../base/result.ts'
import type { NotificationBody } from '../subscriptions/billing.ts'
import type { Agenda } from '../time/clock.ts'
import { SECOND } from '../time/duration.ts'
import type { Connection, Delivery, Queue } from './connection.ts'
import { createConnection, deliveriesOf, shuffled } from './connection.ts'
import type {
  DeliveryOptions,
  DeliveryRecord,
  EndedDelivery,
  ListedNotification,
  Notifications,
  NotificationTarget,
} from './types.ts'
import { sentSchema } from './types.ts'

const DUE = 'notification.delivery'

type StoredRecord = Omit<DeliveryRecord, 'at'> & { readonly at: number }

const recordOf = ({ at, ...record }: StoredRecord): DeliveryRecord => ({ ...record, at: new Date(at) })

/** The outbox as plain data. Delayed deliveries and retries are on the agenda. */
export interface OutboxState {
  readonly messages: Recent<NotificationBody>
  readonly records: Recent<StoredRecord>
  /** The deliveries of each receiver, by the number of its connection. */
  readonly queues: Map<number, Queue>
  /** How many deliveries were ever planned: the identifier of the newest. */
  planned: number
}

/** Returns an empty outbox. */
export const newOutbox = (): OutboxState => ({
  messages: newRecent(),
  records: newRecent(),
  queues: new Map(),
  planned: 0,
})

/** The outbox of a mock, with its notifications and deliveries. */
export type Outbox = ReturnType<typeof createOutbox>

/** Creates the outbox, which keeps and delivers notifications. Delayed deliveries are planned on the agenda. */
export const createOutbox = (options: {
  /** A reset or restore replaces `outbox`. */
  readonly state: { readonly outbox: OutboxState }
  readonly agenda: Agenda
  readonly random: () => number
  /** Returns a new identifier of the given kind. */
  readonly newId: (kind: string) => string
  /** The outbox keeps at most this many messages and this many delivery attempts. */
  readonly size: number
  /** Receivers that stay connected after a reset. */
  readonly receivers: readonly (DeliveryOptions & { readonly to: NotificationTarget })[]
  /** Called when a delivery has to wait until `runDue` is called. */
  readonly onHeld: () => void
}) => {
  const { state, agenda, random, newId, size, receivers, onHeld } = options
  const messages = recentList<NotificationBody>(size, () => state.outbox.messages)
  const records = recentList<StoredRecord>(size, () => state.outbox.records)
  const connections = new Map<number, Connection>()
  const listeners = new Set<(delivery: EndedDelivery) => void>()
  let connectionCount = 0
  let [lateCount, moves] = [0, 0]
  let isStopped = false
  let sleeping = new Set<object>()
  const waiters: (() => void)[] = []

  const queueOf = (number: number): Queue => {
    const { queues } = state.outbox
    const queue = queues.get(number) ?? { waiting: [], held: [] }
    queues.set(number, queue)
    return queue
  }

  const busy = (): boolean => [...connections.keys()].some((number) => queueOf(number).waiting.length > 0)

  const wakeWaiters = (): void => {
    for (const wake of waiters.splice(0)) wake()
  }

  /** Keeps a message and delivers it to every receiver. */
  const publish = (message: NotificationBody): void => {
    messages.push(message)
    dispatch(message)
  }

  const dispatch = (message: NotificationBody): void => {
    for (const connection of connections.values()) {
      for (const { delivery, delay } of deliveriesOf(message, connection.rules, random)) {
        if (delay > 0) plan(agenda.now() + delay, connection.number, delivery)
        else enqueue(connection, delivery, isStopped || connection.rules.shuffle)
      }
    }
  }

  const plan = (at: number, connection: number, delivery: Delivery): void => {
    state.outbox.planned += 1
    agenda.schedule(at, DUE, String(state.outbox.planned), { connection, delivery })
  }

  agenda.on(DUE, (_id, _at, data) => {
    const planned = data as { readonly connection: number; readonly delivery: Delivery }
    const connection = connections.get(planned.connection)
    if (connection !== undefined) enqueue(connection, planned.delivery)
  })

  /** Cancels the planned deliveries to receivers that are not connected. */
  const cancelLost = (): void => agenda.cancelAll(DUE, (data) => !connections.has(Object(data).connection))

  const enqueue = (connection: Connection, delivery: Delivery, isHeld = isStopped): void => {
    const { waiting, held } = queueOf(connection.number)
    if (isHeld) {
      held.push(delivery)
      onHeld()
    } else {
      waiting.push(delivery)
      startSoon(connection)
    }
  }

  /** Starts deliveries in a microtask: the mock finishes the current change of its state before it calls a receiver. */
  const startSoon = (connection: Connection): void => void Promise.resolve().then(() => startNext(connection))

  const startNext = (connection: Connection): void => {
    const { number, rules, running } = connection
    while (connections.get(number) === connection && running.size < rules.concurrency) {
      const next = queueOf(number).waiting.find((delivery) => !running.has(delivery))
      if (next === undefined) return
      void attempt(connection, next)
    }
  }

  /** Makes an attempt and records it. A failed one is retried after a delay, until the last attempt (row 47). */
  const attempt = async (connection: Connection, delivery: Delivery): Promise<void> => {
    const { number, running, rules, to } = connection
    const { message, attempt } = delivery
    const controller = new AbortController()
    running.set(delivery, controller)
    const { isLate = false, durationMs, ...result } = await connection.send(message, controller.signal)
    // The delivery was dropped while it was in progress.
    if (running.get(delivery) !== controller) return
    running.delete(delivery)
    const { waiting } = queueOf(number)
    waiting.splice(waiting.indexOf(delivery), 1)
    if (isLate) {
      lateCount += 1
      if (moves > 0) connection.lateCount += 1
    }
    const at = agenda.now()
    const record = { notificationId: message.notificationId, attempt, at, to, ...result }
    records.push(record)
    for (const listener of listeners) listener({ ...recordOf(record), message, durationMs })
    if (!result.delivered && attempt < rules.attempts) {
      const delay = rules.delays[Math.min(attempt, rules.delays.length) - 1] ?? 0
      plan(at + delay, number, { message, attempt: attempt + 1 })
    }
    void Promise.resolve().then(() => {
      if (!busy()) wakeWaiters()
    })
    startNext(connection)
  }

  /** Delivers what is held. Without `withShuffled`, shuffled deliveries still wait for `flush()`. */
  const release = (withShuffled: boolean): void => {
    if (isStopped) return
    for (const connection of connections.values()) {
      const { shuffle } = connection.rules
      const { held } = queueOf(connection.number)
      if (shuffle && !withShuffled) continue
      const deliveries = shuffle ? shuffled(held.splice(0), random) : held.splice(0)
      for (const delivery of deliveries) enqueue(connection, delivery)
    }
  }

  /** Starts every delivery that is due, without waiting for responses. */
  const runDue = (): void => {
    agenda.runDue()
    release(true)
  }

  /** Waits until no delivery is in progress. Returns `undefined` if none is in progress, or during a `clock.sleep`. */
  const underWay = (): Promise<void> | undefined => {
    if (sleeping.size > 0 || !busy()) return undefined
    return new Promise((resolve) => waiters.push(resolve))
  }

  /** Forgets the deliveries in progress: their results are ignored. Returns the controllers that abort them. */
  const drop = (connection: Connection): readonly AbortController[] => {
    const controllers = [...connection.running.values()]
    connection.running.clear()
    return controllers
  }

  /** Disconnects a receiver. Returns `false` if the receiver is not connected. */
  const disconnect = (number: number): boolean => {
    const connection = connections.get(number)
    if (connection !== undefined) drop(connection)
    state.outbox.queues.delete(number)
    connections.delete(number)
    cancelLost()
    if (!busy()) wakeWaiters()
    return connection !== undefined
  }

  const notifications: Notifications = {
    all: () => messages.all().map((message) => ({ ...message })),
    deliveries: () => records.all().map(recordOf),
    get dropped() {
      return messages.dropped + records.dropped
    },
    clear() {
      messages.clear()
      records.clear()
    },
    connect(target, given = {}) {
      connectionCount += 1
      const number = connectionCount
      const connection = createConnection(number, target, given, () => sleeping.size > 0)
      connections.set(number, connection)
      state.outbox.queues.set(number, { waiting: [], held: [] })
      return () => void disconnect(number)
    },
    resend(id) {
      agenda.runDue()
      const found = messages.all().find(({ notificationId }) => notificationId === id)
      if (found === undefined) {
        const message = 'The outbox has no such notification.'
        throw new MockRefusedError('notifications.resend', { reason: 'not_found', message })
      }
      dispatch(found)
      return { ...found }
    },
    send(given) {
      agenda.runDue()
      const {
        notificationId = newId('notification'),
        subscriptionId = newId('sent-subscription'),
        paymentId = '',
        timestamp = String(Math.floor(agenda.now() / SECOND)),
        ...kind
      } = check(sentSchema, given, 'notifications.send: ')
      // A test may send a type or a status that the specification does not have.
      const message = { notificationId, ...kind, subscriptionId, paymentId, timestamp } as NotificationBody
      publish(message)
      return { ...message }
    },
    async flush() {
      runDue()
      for (let rest = underWay(); rest !== undefined; rest = underWay()) await rest
    },
  }

  /** Disconnects all receivers, and connects those of the options. */
  const reconnect = (): void => {
    for (const number of connections.keys()) disconnect(number)
    // The receivers of the options keep their numbers. A snapshot may contain any other number, so none is used again.
    const last = connectionCount
    connectionCount = 0
    for (const { to, ...given } of receivers) notifications.connect(to, given)
    connectionCount = Math.max(last, connectionCount)
  }
  reconnect()

  return {
    /** The mock's public property `notifications`. */
    notifications,
    runDue,
    list: {
      bounds: messages.bounds,
      read(from: number, to: number): readonly ListedNotification[] {
        const attempts = new Map<string, DeliveryRecord[]>()
        for (const record of records.all()) {
          const own = attempts.get(record.notificationId) ?? []
          attempts.set(record.notificationId, [...own, recordOf(record)])
        }
        return messages
          .read(from, to)
          .map((message) => ({ ...message, attempts: attempts.get(message.notificationId) ?? [] }))
      },
    },
    publish,
    disconnect,
    /** Returns the connected receivers. */
    receivers: () =>
      [...connections.values()].map(({ number, to, options: given }) => ({ number, to, options: given })),
    underWay,
    /** Calls `listener` after each delivery attempt, until the returned function is called. */
    onSent(listener: (delivery: EndedDelivery) => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Moves the clock and delivers what is due. Gives a receiver up that twice does not respond during the move. */
    async deliverDuring(move: () => Promise<void>): Promise<void> {
      moves += 1
      try {
        await move()
        await notifications.flush()
      } finally {
        moves -= 1
        for (const connection of connections.values()) connection.lateCount = 0
      }
    },
    /** Aborts the deliveries in progress, but holds them for later. No delivery starts until `accept` or `resume`. */
    stop(): void {
      isStopped = true
      for (const connection of connections.values()) {
        const { waiting, held } = queueOf(connection.number)
        held.unshift(...waiting.splice(0))
        for (const controller of drop(connection)) controller.abort()
      }
      wakeWaiters()
    },
    /** Lets new deliveries start after `stop`. Held deliveries still wait for `flush()`. */
    accept(): void {
      isStopped = false
    },
    /** Lets deliveries start after `stop`, and starts the held ones. Shuffled deliveries still wait for `flush()`. */
    resume(): void {
      isStopped = false
      release(false)
    },
    /** Returns how many deliveries failed because a receiver did not respond in time. */
    lateCount: () => lateCount,
    /**
     * Registers a `clock.sleep` that begins during a delivery. The caller calls the returned function when the sleep
     * ends. If a receiver sleeps, it responds only after the clock has moved. So the clock does not wait for responses
     * during a sleep.
     */
    sleepBegins(): () => void {
      if (!busy()) return () => undefined
      const sleeper = {}
      sleeping.add(sleeper)
      wakeWaiters()
      return () => void sleeping.delete(sleeper)
    },
    /** Drops the deliveries in progress, because the outbox's data was replaced, and starts those of the new data. */
    startOver(): void {
      sleeping = new Set()
      for (const connection of connections.values()) {
        drop(connection)
        startSoon(connection)
      }
      cancelLost()
      wakeWaiters()
    },
    reconnect,
  }
}
