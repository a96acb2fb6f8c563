import { SubscriptionsClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'
import { createMemoryDedupeStore, createNotificationHandler, lookupVerifier } from 'mandatekit/notifications'
import { expect, test } from 'vitest'
import { jobs, type Shop } from '../../examples/fleet/jobs.ts'
import { Later } from '../../examples/fleet/settle.ts'
import { payment } from '../support/messages.ts'

/** Runs the job of a notification whose record does not exist, and returns the job's error. */
const errorOfJob = (mock: ReturnType<typeof createMock>): Promise<unknown> => {
  const client = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })
  const notifications = createNotificationHandler({
    verify: lookupVerifier(client, { clock: mock.clock }),
    dedupe: createMemoryDedupeStore(),
    onSubscription: () => undefined,
    onPayment: () => undefined,
  })
  const delivery = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(payment()) }
  const job = jobs.subscriptions.notification(delivery, { notifications } as Shop, AbortSignal.timeout(5_000))
  return job.then(() => undefined).catch((error: unknown) => error)
}
const clock = '2026-11-30T10:00:05Z'

test('the job of a notification whose record the API cannot read yet runs again', async () => {
  expect(await errorOfJob(createMock({ clock }))).toEqual(new Later(5_000, 'The notification is unverified.'))
})

test('the job of a notification pauses the whole queue after a rejected login', async () => {
  const mock = createMock({ clock })
  mock.faults.add({
    operation: 'subscriptions.login',
    kind: 'status',
    status: 403,
    body: { errorCode: '17' },
  })
  expect(await errorOfJob(mock)).toMatchObject({ code: 'locked_out' })
})
