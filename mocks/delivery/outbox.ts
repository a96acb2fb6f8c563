import { check } from '../base/fields.ts'
import { newRecent, type Recent, recentList } from '../base/recent-list.ts'
import { refused, valueOrThrow } from '../base/result.ts'
import type { NotificationBody } from '../subscriptions/billing.ts'
import type { Agenda } from '../time/clock.ts'
import { SECOND } from '../time/duration.ts'
import {
  type Connection,
  createConnection,
  type Delivery,
  newQueue,
  type Queue,
  type Sent,
} from './connection.ts'
import type { DeliveryOptions, DeliveryRecord, Notifications, NotificationTarget } from './types.ts'
import { sentSchema } from './types.ts'

const DUE = 'notification.delivery'

type StoredRecord = Omit<DeliveryRecord, 'at'> & { readonly at: number }

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

/** A delivery on the agenda. */
interface PlannedDelivery {
  readonly connection: number
  readonly delivery: Delivery
}

/** A delivery attempt that has ended. */
export interface EndedDelivery extends DeliveryRecord {
  readonly message: NotificationBody
  /** The receiver's URL without the query. `undefined` for a function in this process. */
  readonly to: string | undefined
  /** Real time of the attempt, in milliseconds. */
  readonly durationMs: number
}

/** A notification with its delivery attempts. */
export interface ListedNotification extends NotificationBody {
  readonly attempts: readonly DeliveryRecord[]
}

/** The outbox of a mock, with its notifications and deliveries. */
export type Outbox = ReturnType<typeof createOutbox>

/** Creates the outbox, which keeps and delivers notifications. Delayed deliveries are planned on the agenda. */
export const createOutbox = (options: {
  /** A reset or `restore` replaces `outbox`. */
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
  const listeners: ((delivery: EndedDelivery) => void)[] = []
  let connectionCount = 0
  let lateCount = 0
  let isStopped = false
  let sleeping = new Set<object>()
  let waiters: (() => void)[] = []

  const queueOf = (number: number): Queue => {
    const { queues } = state.outbox
    let queue = queues.get(number)
    if (queue === undefined) {
      queue = newQueue()
      queues.set(number, queue)
    }
    return queue
  }

  const busy = (): boolean => [...connections.values()].some((connection) => connection.busy())

  const wakeWaiters = (): void => {
    const woken = waiters
    waiters = []
    for (const wake of woken) wake()
  }

  const plan = (at: number, connection: number, delivery: Delivery): void => {
    state.outbox.planned += 1
    agenda.schedule(at, DUE, String(state.outbox.planned), { connection, delivery } satisfies PlannedDelivery)
  }

  const hold = (number: number, delivery: Delivery): void => {
    queueOf(number).held.push(delivery)
    onHeld()
  }

  const deliver = (number: number, delivery: Delivery): void => {
    if (!connections.has(number)) return
    if (isStopped) hold(number, delivery)
    else connections.get(number)?.add([delivery])
  }

  agenda.on(DUE, (_id, _at, data) => {
    const { connection, delivery } = data as PlannedDelivery
    deliver(connection, delivery)
  })

  const sent = (
    number: number,
    { message, attempt }: Delivery,
    { isLate, durationMs, ...result }: Sent,
  ): void => {
    const now = agenda.now()
    if (isLate === true) lateCount += 1
    const record = { notificationId: message.notificationId, attempt, at: now, ...result }
    records.push(record)
    const connection = connections.get(number)
    for (const listener of listeners) {
      listener({ ...recordOf(record), message, to: connection?.to, durationMs })
    }
    const wait = result.delivered ? undefined : connection?.rules.waitAfter(attempt)
    if (wait !== undefined) plan(now + wait, number, { message, attempt: attempt + 1 })
    void Promise.resolve().then(() => {
      if (!busy()) wakeWaiters()
    })
  }

  const dispatch = (number: number, { rules }: Connection, message: NotificationBody): void => {
    for (const copy of rules.copies(message)) {
      const delivery = { message: copy, attempt: 1 }
      const delay = rules.delay()
      if (delay > 0) plan(agenda.now() + delay, number, delivery)
      else if (rules.shuffle) hold(number, delivery)
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
      const queue = queueOf(number)
      if (queue.held.length === 0 || !isWanted(connection)) continue
      const deliveries = queue.held.splice(0)
      connection.add(connection.rules.shuffle ? shuffled(deliveries) : deliveries)
    }
  }

  /** Starts every delivery that is due, without waiting for responses. */
  const runDue = (): void => {
    agenda.runDue()
    release()
  }

  /** Waits until no delivery is in progress. Returns `undefined` if none is in progress, or during a `clock.sleep`. */
  const underWay = (): Promise<void> | undefined => {
    if (sleeping.size > 0 || !busy()) return undefined
    return new Promise((resolve) => waiters.push(resolve))
  }

  const recordOf = ({ at, ...record }: StoredRecord): DeliveryRecord => ({ ...record, at: new Date(at) })

  const listed = (from: number, to: number): readonly ListedNotification[] => {
    const wanted = messages.read(from, to)
    const attempts = new Map<string, DeliveryRecord[]>(
      wanted.map(({ notificationId }) => [notificationId, []]),
    )
    for (const record of records.all()) attempts.get(record.notificationId)?.push(recordOf(record))
    return wanted.map((message) => ({ ...message, attempts: attempts.get(message.notificationId) ?? [] }))
  }

  const disconnect = (number: number): boolean => {
    connections.get(number)?.close()
    state.outbox.queues.delete(number)
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
    connect(target, given = {}) {
      connectionCount += 1
      const number = connectionCount
      const connection = createConnection(target, given, {
        queue: () => queueOf(number),
        random,
        onSent: (delivery, result) => sent(number, delivery, result),
        isClockSlept: () => sleeping.size > 0,
      })
      connections.set(number, connection)
      state.outbox.queues.set(number, newQueue())
      return () => {
        // After a reset, another receiver may have this number.
        if (connections.get(number) === connection) disconnect(number)
      }
    },
    resend(id) {
      agenda.runDue()
      const message = messages.all().find(({ notificationId }) => notificationId === id)
      if (message === undefined) {
        return valueOrThrow(
          'notifications.resend',
          refused('not_found', 'The outbox has no such notification.'),
        )
      }
      dispatchToAll(message)
      return { ...message }
    },
    send(given) {
      agenda.runDue()
      const fields = check(sentSchema, given, 'notifications.send: ')
      const message = {
        notificationId: fields.notificationId ?? newId('notification'),
        type: fields.type,
        status: fields.status,
        subscriptionId: fields.subscriptionId ?? newId('sent-subscription'),
        paymentId: fields.paymentId ?? '',
        timestamp: fields.timestamp ?? String(Math.floor(agenda.now() / SECOND)),
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
    for (const { to, ...given } of receivers) notifications.connect(to, given)
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
    receivers: () =>
      [...connections].map(([number, { to, options: given }]) => ({ number, to, options: given })),
    underWay,
    /** Calls `listener` after each delivery attempt from now on. */
    onSent: (listener: (delivery: EndedDelivery) => void): void => void listeners.push(listener),
    /** Starts a move of the clock, in which a receiver that does not respond is given up after two attempts. */
    moveBegins(): void {
      for (const connection of connections.values()) connection.moveBegins()
    },
    /** Aborts the deliveries in progress, but holds them for later. No delivery starts until `accept` or `resume`. */
    stop(): void {
      isStopped = true
      for (const connection of connections.values()) connection.stop()
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
    /** Drops the deliveries in progress, because the outbox's data was replaced, and starts those of the new data. */
    startOver(): void {
      sleeping = new Set()
      for (const connection of connections.values()) connection.drop()
      for (const connection of connections.values()) connection.add([])
      wakeWaiters()
    },
    /** Disconnects the receivers that the options do not name. */
    disconnectAdded(): void {
      for (const number of connections.keys()) disconnect(number)
      connectionCount = 0
      connectOwn()
    },
  }
}
