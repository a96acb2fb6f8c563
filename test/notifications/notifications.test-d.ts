import { createServer } from 'node:http'
import type { RequestHandler } from 'express'
import type { FastifyInstance } from 'fastify'
import type Koa from 'koa'
import type { GatewayClient, SubscriptionsClient } from 'mandatekit'
import type {
  createMemoryDedupeStore,
  DedupeStore,
  Difference,
  MerchantNotification,
  NotificationHandler,
} from 'mandatekit/notifications'
import {
  createNotificationHandler,
  isNewer,
  lookupVerifier,
  parseNotification,
  reconcile,
  toNodeHandler,
} from 'mandatekit/notifications'
import type { createKeyvDedupeStore, createRedisDedupeStore } from 'mandatekit/stores'
import { expectTypeOf, test } from 'vitest'

declare const handler: NotificationHandler
declare const subscriptions: SubscriptionsClient
declare const gateway: GatewayClient

test('the type of a notification narrows its status and its paymentId', () => {
  const notification = parseNotification('{}')
  expectTypeOf(notification).toEqualTypeOf<MerchantNotification>()
  if (notification.type === 'SUBSCRIPTION_PAYMENT') {
    expectTypeOf(notification.paymentId).toEqualTypeOf<string>()
    expectTypeOf(notification.status).toEqualTypeOf<'SUCCEEDED_PAYMENT' | 'FAILED_PAYMENT'>()
  } else if (notification.type === 'SUBSCRIPTION') {
    expectTypeOf(notification.paymentId).toEqualTypeOf<null>()
    expectTypeOf(notification.status).toEqualTypeOf<'SUCCEEDED' | 'CANCELLED'>()
  } else {
    expectTypeOf(notification.receivedType).toEqualTypeOf<string>()
  }
})

test('a request is parsed to a promise, and isNewer takes the columns of a database', () => {
  const parsed = parseNotification(new Request('https://shop.example/'))
  expectTypeOf(parsed).toEqualTypeOf<Promise<MerchantNotification>>()
  expectTypeOf(isNewer).toBeCallableWith({ occurredAt: new Date(0), status: 'SUCCEEDED' }, null)
})

test('a handler needs verify', () => {
  const listeners = { onSubscription: () => undefined, onPayment: async () => undefined }
  // @ts-expect-error verify is required
  createNotificationHandler(listeners)
  // @ts-expect-error the only word is 'none'
  createNotificationHandler({ ...listeners, verify: 'never' })
  const verified = createNotificationHandler({ ...listeners, verify: lookupVerifier(subscriptions) })
  expectTypeOf(verified).toEqualTypeOf<NotificationHandler>()
})

test('a handler mounts in every framework without a cast', () => {
  const nodeHandler = toNodeHandler(handler)
  expectTypeOf(nodeHandler).toExtend<RequestHandler>()
  expectTypeOf(nodeHandler).toExtend<Koa.Middleware>()
  expectTypeOf(createServer).toBeCallableWith(nodeHandler)
  const mount = (fastify: FastifyInstance) => fastify.post('/notifications', nodeHandler)
  expectTypeOf(mount).toBeFunction()
})

test('every store is a DedupeStore', () => {
  expectTypeOf<ReturnType<typeof createMemoryDedupeStore>>().toExtend<DedupeStore>()
  expectTypeOf<ReturnType<typeof createRedisDedupeStore>>().toExtend<DedupeStore>()
  expectTypeOf<ReturnType<typeof createKeyvDedupeStore>>().toExtend<DedupeStore>()
})

test('reconciliation takes both clients and yields differences', () => {
  const differences = reconcile({ subscriptions, gateway, expected: [] })
  expectTypeOf(differences).toExtend<AsyncIterable<Difference>>()
})
