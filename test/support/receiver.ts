import { vi } from 'vitest'
import { createHandlerWithClock } from '../../src/notifications/handler.ts'
import type { NotificationHandlerOptions, NotificationReport } from '../../src/notifications/index.ts'
import { ManualClock } from './manual-clock.ts'
import { delivery } from './messages.ts'

type ReceiverOptions = Partial<Omit<NotificationHandlerOptions, 'clock'>> & { readonly clock?: ManualClock }

/** A handler with its clock, its listeners and what it reported. */
export const openReceiver = ({ clock = new ManualClock(), ...options }: ReceiverOptions = {}) => {
  const reports: NotificationReport[] = []
  const onPayment = vi.fn<NotificationHandlerOptions['onPayment']>()
  const onSubscription = vi.fn<NotificationHandlerOptions['onSubscription']>()
  const handler = createHandlerWithClock(clock, {
    verify: 'none',
    onPayment,
    onSubscription,
    clock,
    onUnexpected: (report) => reports.push(report),
    ...options,
  })
  const deliver = async (message: unknown, headers?: Record<string, string>) =>
    (await handler(delivery(message, headers))).status
  return {
    clock,
    reports,
    onPayment,
    onSubscription,
    handler,
    deliver,
    kinds: () => reports.map(({ kind }) => kind),
  }
}
