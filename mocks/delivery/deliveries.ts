import { SECOND } from '../domain/duration.ts'
import { check } from '../domain/fields.ts'
import { createBoundedList } from '../domain/paged-list.ts'
import { granted, refused } from '../domain/result.ts'
import type { Timeline } from '../domain/timeline.ts'
import type { NotificationBody } from '../subscriptions/billing.ts'
import { type Connection, createConnection, type Delivery } from './connection.ts'
import type { Sent } from './sender.ts'
import type { DeliveryOptions, DeliveryRecord, Notifications, NotificationTarget } from './types.ts'
import { sentSchema } from './types.ts'

const DUE = 'notification.delivery'

/** A snapshot of the outbox, as plain data. */
export interface OutboxSnapshot {
  readonly messages: readonly NotificationBody[]
  readonly records: readonly (Omit<DeliveryRecord, 'at'> & { readonly at: number })[]
  readonly planned: readonly (readonly [id: string, planned: Planned])[]
  /** The waiting and running deliveries of each receiver. */
  readonly pending: readonly (readonly [connection: number, deliveries: readonly Delivery[]])[]
  /** For each receiver, its deliveries that wait for `flush()`. */
  readonly held: readonly (readonly [connection: number, deliveries: readonly Delivery[]])[]
  readonly dropped: number
}

interface Planned extends Delivery {
  readonly connection: number
}

type StoredRecord = OutboxSnapshot['records'][number]

/** A notification with its delivery attempts. */
export interface ListedNotification extends NotificationBody {
  readonly tries: readonly DeliveryRecord[]
}

/** The outbox of a mock, with its notifications and deliveries. */
export type Deliveries = ReturnType<typeof createDeliveries>

/** Creates the outbox, which keeps and delivers notifications. Delayed deliveries are scheduled on `timeline`. */
export const createDeliveries = (parts: {
  readonly timeline: Timeline
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
  const { timeline, random, newId, size, receivers, onHeld } = parts
  const messages = createBoundedList<NotificationBody>(size)
  const records = createBoundedList<StoredRecord>(size)
  const connections = new Map<number, Connection>()
  const held = new Map<number, Delivery[]>()
  const planned = new Map<string, Planned>()
  let connectionCount = 0
  let plannedCount = 0
  let lateCount = 0
  let isStopped = false
  let sleeping = new Set<object>()
  let waiters: (() => void)[] = []

  const busy = (): boolean => [...connections.values()].some((connection) => connection.busy())

  const wakeWaiters = (): void => {
    const woken = waiters
    waiters = []
    for (const wake of woken) wake()
  }

  const plan = (at: number, connection: number, delivery: Delivery): void => {
    plannedCount += 1
    const id = String(plannedCount)
    planned.set(id, { ...delivery, connection })
    timeline.schedule(at, DUE, id)
  }

  const hold = (number: number, delivery: Delivery): void => {
    held.get(number)?.push(delivery)
    onHeld()
  }

  const deliver = (number: number, delivery: Delivery): void => {
    if (isStopped) hold(number, delivery)
    else connections.get(number)?.add([delivery])
  }

  timeline.on(DUE, (id) => {
    const due = planned.get(id)
    planned.delete(id)
    if (due !== undefined) deliver(due.connection, { message: due.message, attempt: due.attempt })
  })

  const sent = (number: number, { message, attempt }: Delivery, { isLate, ...result }: Sent): void => {
    const now = timeline.now()
    if (isLate === true) lateCount += 1
    records.push({ notificationId: message.notificationId, attempt, at: now, ...result })
    const connection = connections.get(number)
    const wait = result.delivered ? undefined : connection?.rules.waitAfter(attempt)
    if (wait !== undefined) plan(now + wait, number, { message, attempt: attempt + 1 })
    void Promise.resolve().then(() => {
      if (!busy()) wakeWaiters()
    })
  }

  const dispatch = (number: number, connection: Connection, message: NotificationBody): void => {
    for (const copy of connection.rules.copies(message)) {
      const delivery = { message: copy, attempt: 1 }
      const delay = connection.rules.delay()
      if (delay > 0) plan(timeline.now() + delay, number, delivery)
      else if (connection.rules.shuffle) hold(number, delivery)
      else deliver(number, delivery)
    }
  }

  const shuffled = (deliveries: readonly Delivery[]): readonly Delivery[] =>
    deliveries
      .map((delivery) => ({ delivery, place: random() }))
      .sort((left, right) => left.place - right.place)
      .map(({ delivery }) => delivery)

  const release = (isWanted: (connection: Connection) => boolean = () => true): void => {
    if (isStopped) return
    for (const [number, connection] of connections) {
      const deliveries = held.get(number) ?? []
      if (deliveries.length === 0 || !isWanted(connection)) continue
      held.set(number, [])
      connection.add(connection.rules.shuffle ? shuffled(deliveries) : deliveries)
    }
  }

  /** Starts every delivery that is due, without waiting for responses. */
  const runDue = (): void => {
    timeline.settle()
    release()
  }

  /** Drops all deliveries except the `planned` ones, and ignores the results of deliveries in progress. */
  const dropAll = (): void => {
    for (const connection of connections.values()) connection.drop()
    for (const number of held.keys()) held.set(number, [])
    sleeping = new Set()
  }

  /** Waits until no delivery is in progress. Returns `undefined` if none is in progress, or during a `clock.sleep`. */
  const underWay = (): Promise<void> | undefined => {
    if (sleeping.size > 0 || !busy()) return undefined
    return new Promise((resolve) => waiters.push(resolve))
  }

  const recordOf = ({ at, ...record }: StoredRecord): DeliveryRecord => ({ ...record, at: new Date(at) })

  const listed = (from: number, to: number): readonly ListedNotification[] => {
    const wanted = messages.read(from, to)
    const tries = new Map<string, DeliveryRecord[]>(wanted.map(({ notificationId }) => [notificationId, []]))
    for (const record of records.all()) tries.get(record.notificationId)?.push(recordOf(record))
    return wanted.map((message) => ({ ...message, tries: tries.get(message.notificationId) ?? [] }))
  }

  const disconnect = (number: number): boolean => {
    connections.get(number)?.drop()
    held.delete(number)
    const wasConnected = connections.delete(number)
    if (!busy()) wakeWaiters()
    return wasConnected
  }

  const dispatchToAll = (message: NotificationBody): void => {
    for (const [number, connection] of connections) dispatch(number, connection, message)
  }

  const publish = (message: NotificationBody): void => {
    messages.push(message)
    dispatchToAll(message)
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
    connect(target, options = {}) {
      connectionCount += 1
      const number = connectionCount
      const connection = createConnection(target, options, {
        random,
        onSent: (delivery, result) => sent(number, delivery, result),
        isClockSlept: () => sleeping.size > 0,
      })
      connections.set(number, connection)
      held.set(number, [])
      return () => {
        // After a reset, another receiver may have this number.
        if (connections.get(number) === connection) disconnect(number)
      }
    },
    resend(id) {
      timeline.settle()
      const message = messages.all().find(({ notificationId }) => notificationId === id)
      if (message === undefined) {
        return granted('notifications.resend', refused('not_found', 'The outbox has no such notification.'))
      }
      dispatchToAll(message)
      return { ...message }
    },
    send(given) {
      timeline.settle()
      const fields = check(sentSchema, given, 'notifications.send: ')
      const message = {
        notificationId: fields.notificationId ?? newId('notification'),
        type: fields.type,
        status: fields.status,
        subscriptionId: fields.subscriptionId ?? newId('sent-subscription'),
        paymentId: fields.paymentId ?? '',
        timestamp: fields.timestamp ?? String(Math.floor(timeline.now() / SECOND)),
        // A test may send a type or a status that the specification does not have.
      } as NotificationBody
      publish(message)
      return { ...message }
    },
    async flush() {
      runDue()
      for (let rest = underWay(); rest !== undefined; rest = underWay()) await rest
    },
  }

  const connectOwn = (): void => {
    for (const { to, ...options } of receivers) notifications.connect(to, options)
  }
  connectOwn()

  return {
    /** The mock's public property `notifications`. */
    notifications,
    runDue,
    list: { bounds: messages.bounds, read: listed },
    /** Keeps a message and delivers it to every receiver. */
    publish,
    /** Disconnects a receiver. Returns `false` if the receiver is not connected. */
    disconnect,
    /** Returns the connected receivers. */
    receivers: () => [...connections].map(([number, { to, options }]) => ({ number, to, options })),
    underWay,
    /** Aborts the deliveries in progress, but holds them for later. No delivery starts until `accept` or `resume`. */
    stop(): void {
      isStopped = true
      for (const [number, connection] of connections)
        held.set(number, [...connection.stop(), ...(held.get(number) ?? [])])
      wakeWaiters()
    },
    /** Lets new deliveries start after `stop`. Held deliveries still wait for `flush()`. */
    accept(): void {
      isStopped = false
    },
    /** Lets deliveries start after `stop`, and starts the held ones. Shuffled deliveries still wait for `flush()`. */
    resume(): void {
      isStopped = false
      release(({ rules }) => !rules.shuffle)
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
    /** Deletes messages and deliveries, and disconnects the receivers that the options do not name. */
    reset(): void {
      messages.clear()
      records.clear()
      planned.clear()
      dropAll()
      for (const number of connections.keys()) disconnect(number)
      connectionCount = 0
      connectOwn()
    },
    snapshot: (): OutboxSnapshot => ({
      messages: messages.all(),
      records: records.all(),
      planned: [...planned],
      pending: [...connections].map(([number, connection]) => [number, connection.pending()]),
      held: [...held].map(([number, deliveries]) => [number, [...deliveries]]),
      dropped: messages.dropped,
    }),
    restore(snapshot: OutboxSnapshot): void {
      dropAll()
      messages.replace(snapshot.messages, snapshot.dropped)
      records.replace(snapshot.records, 0)
      planned.clear()
      for (const [id, delivery] of snapshot.planned) planned.set(id, delivery)
      for (const [id] of snapshot.planned) plannedCount = Math.max(plannedCount, Number(id))
      for (const [number, deliveries] of snapshot.held)
        if (held.has(number)) held.set(number, [...deliveries])
      for (const [number, deliveries] of snapshot.pending) connections.get(number)?.add(deliveries)
      wakeWaiters()
    },
  }
}
