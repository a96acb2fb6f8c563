import { createServer } from 'node:http'
import type { RequestHandler } from 'express'
import type { FastifyInstance } from 'fastify'
import type { Hono } from 'hono'
import type Koa from 'koa'
import type { GatewayClient, SubscriptionsClient } from 'mandatekit'
import type {
  DedupeStore,
  Difference,
  MerchantNotification,
  NotificationHandler,
} from 'mandatekit/notifications'
import {
  createMemoryDedupeStore,
  createNotificationHandler,
  isNewer,
  lookupVerifier,
  parseNotification,
  reconcile,
  toNodeHandler,
} from 'mandatekit/notifications'
import type { createKeyvDedupeStore, createRedisDedupeStore } from 'mandatekit/stores'
import { describe, expectTypeOf, test } from 'vitest'

declare const handler: NotificationHandler
declare const subscriptions: SubscriptionsClient
declare const gateway: GatewayClient

describe('a notification', () => {
  test('is told apart by its type', () => {
    const notification = parseNotification('{}')
    expectTypeOf(notification).toEqualTypeOf<MerchantNotification>()
    expectTypeOf(notification.occurredAt).toEqualTypeOf<Date>()
    expectTypeOf(notification.paymentId).toEqualTypeOf<string | null>()
    if (notification.type === 'SUBSCRIPTION_PAYMENT') {
      expectTypeOf(notification.paymentId).toEqualTypeOf<string>()
      expectTypeOf(notification.status).toEqualTypeOf<'SUCCEEDED_PAYMENT' | 'FAILED_PAYMENT'>()
    } else if (notification.type === 'SUBSCRIPTION') {
      expectTypeOf(notification.paymentId).toEqualTypeOf<null>()
      expectTypeOf(notification.status).toEqualTypeOf<'SUCCEEDED' | 'CANCELLED'>()
    } else {
      expectTypeOf(notification.receivedType).toEqualTypeOf<string>()
      expectTypeOf(notification.status).toEqualTypeOf<string>()
    }
  })

  test('of a whole request is a promise', () => {
    expectTypeOf(parseNotification(new Request('https://shop.example/'))).toEqualTypeOf<
      Promise<MerchantNotification>
    >()
  })

  test('is ordered by what a database keeps of it', () => {
    expectTypeOf(isNewer).toBeCallableWith({ occurredAt: new Date(0), status: 'SUCCEEDED' }, null)
  })
})

describe('a handler', () => {
  test('needs to be told how to verify', () => {
    const listeners = { onSubscription: () => undefined, onPayment: async () => undefined }
    // @ts-expect-error verify is required
    createNotificationHandler(listeners)
    // @ts-expect-error no word but 'none'
    createNotificationHandler({ ...listeners, verify: 'never' })
    expectTypeOf(
      createNotificationHandler({ ...listeners, verify: lookupVerifier(subscriptions) }),
    ).toEqualTypeOf<NotificationHandler>()
  })

  test('mounts in every framework without a cast', () => {
    const nodeHandler = toNodeHandler(handler)
    expectTypeOf(nodeHandler).toExtend<RequestHandler>()
    expectTypeOf(nodeHandler).toExtend<Koa.Middleware>()
    expectTypeOf(createServer).toBeCallableWith(nodeHandler)
    const mount = (fastify: FastifyInstance, hono: Hono) => {
      fastify.post('/notifications', nodeHandler)
      hono.post('/notifications', (context) => handler(context.req.raw))
    }
    expectTypeOf(mount).toBeFunction()
  })

  test('takes every store', () => {
    expectTypeOf(createMemoryDedupeStore()).toExtend<DedupeStore>()
    expectTypeOf<ReturnType<typeof createRedisDedupeStore>>().toExtend<DedupeStore>()
    expectTypeOf<ReturnType<typeof createKeyvDedupeStore>>().toExtend<DedupeStore>()
  })
})

test('reconciliation takes both clients and yields differences', async () => {
  for await (const difference of reconcile({ subscriptions, gateway, expected: [] })) {
    expectTypeOf(difference).toEqualTypeOf<Difference>()
    if (difference.kind === 'payment-missing')
      expectTypeOf(difference.payment.paymentId).toEqualTypeOf<number | string>()
  }
})
