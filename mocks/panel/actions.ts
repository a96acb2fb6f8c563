import { anyText, input, inputDate, oneOf, optional, wholeNumber } from '../../src/contract/fields.ts'
import { CYCLES, isAmountText } from '../../src/contract/formats.ts'
import { internalsOf } from '../assemble.ts'
import { absoluteUrl, accepts, check, filled, issuesOf, number, tableOf } from '../base/fields.ts'
import { valueOrThrow } from '../base/result.ts'
import { deliveryOptions, type EndedDelivery, notificationFields } from '../delivery/types.ts'
import { behaviorNames } from '../gateway/behaviors.ts'
import { MOBILE_NUMBER } from '../gateway/operations.ts'
import { operations } from '../http/area.ts'
import { faultFields, faultSchema } from '../http/fault-schema.ts'
import { paymentScripts, seedFields } from '../subscriptions/options.ts'
import { DAY, pointInTime, toMilliseconds } from '../time/duration.ts'
import type { Mock } from '../types.ts'
import { action, destructive, id, type SentFields } from './action.ts'
import { callAsShop, orderOf, saleOf } from './shop.ts'
import { nextEvent } from './view.ts'
import { faultInWords } from './words.ts'

const text = anyText
const fromZero = number('a number from 0', 0)
const count = optional(fromZero)
const behavior = oneOf(behaviorNames)
const area = optional(oneOf(['subscriptions', 'gateway']))
const scripts = optional(paymentScripts)
const amount = input('a decimal number above zero such as 25.00', isAmountText, {
  pattern: '^\\d+(\\.\\d+)?$',
})
const mobileNumber = input('a number in international format', (value) => MOBILE_NUMBER.test(value), {
  pattern: MOBILE_NUMBER.source,
})

/** Adds `Z` (UTC) to a time without a time zone, because the page's time field has no zone. */
const zoned = (time: string): string => (/^\d{4}-\d{2}-\d{2}T[\d:.]+$/.test(time) ? `${time}Z` : time)

const ZONE = '(Z|[+-]\\d{2}:\\d{2})?'
const time = input(
  'ISO 8601 text with its zone such as 2026-11-28T12:00:00Z (without a zone: UTC)',
  (value) => accepts(pointInTime, zoned(value)),
  { pattern: `^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?${ZONE})?$` },
)

/** The clock can move by ten years at most, because a longer move could keep the mock busy for minutes. */
const MAX_MOVE_MS = 3_653 * DAY

/** Returns the time `count` calendar months after a time. If the target month is too short, returns its last day. */
const monthsAfter = (time: number, count: number): number => {
  const moved = new Date(time)
  const day = moved.getUTCDate()
  moved.setUTCMonth(moved.getUTCMonth() + count)
  // In a shorter month the date is in the month after: day 0 of it is the last day of the target month.
  return moved.getUTCDate() === day ? moved.getTime() : moved.setUTCDate(0)
}

const timeNow = (mock: Mock): string => `It is ${new Date(mock.clock.now()).toISOString().slice(0, 19)}Z.`

/** Sends a notification, waits until it is delivered, and returns in words what came of it. */
const delivered = async (mock: Mock, words: string, send: () => string): Promise<string> => {
  const id = send()
  const done = `Notification ${id} was ${words}`
  if (mock.control.receivers.list().length === 0)
    return `${done} to nobody, because no receiver is connected.`
  // The list of deliveries may be full, so it may not keep all of these.
  const ended: EndedDelivery[] = []
  const stop = internalsOf(mock).outbox.onSent((delivery) => ended.push(delivery))
  await mock.notifications.flush()
  stop()
  const failed = ended.find((one) => one.notificationId === id && !one.delivered)
  return failed === undefined
    ? `${done}.`
    : `${done}, but its delivery failed: ${failed.error ?? `status ${failed.status}`}.`
}

/**
 * All actions that users of the panel and programs can execute, by name. For a new action, add an entry here, and call
 * `form` with its name on the page that has its button. Its form and its OpenAPI schema come from its fields.
 */
export const actions = {
  advance: action(
    'Moves the clock forward by the sum of the fields.',
    { months: optional(wholeNumber(0)), days: count, hours: count, minutes: count, seconds: count },
    async (mock, { months = 0, ...rest }) => {
      const now = mock.clock.now()
      // More than 120 months always exceed MAX_MOVE_MS. `monthsAfter` is skipped because it could return NaN.
      const length =
        months > 120 ? Number.POSITIVE_INFINITY : monthsAfter(now, months) - now + toMilliseconds(rest)
      if (length === 0) throw new TypeError('Missing duration: set months, days, hours, minutes or seconds.')
      if (length > MAX_MOVE_MS) throw new RangeError('The clock can move by at most ten years at a time.')
      await mock.control.moveClock({ by: length })
      return `The clock was moved. ${timeNow(mock)}`
    },
  ),
  'next-event': action('Moves the clock to the next planned event.', {}, async (mock) => {
    const { at } = nextEvent(mock) ?? {}
    if (at === undefined) throw new TypeError('Nothing is planned: no payment, expiry or delivery waits.')
    await mock.control.moveClock({ by: Math.max(0, at - mock.clock.now()) })
    return `The next event has happened. ${timeNow(mock)}`
  }),
  'set-clock': action('Sets the clock; a time without a zone is UTC.', { time }, async (mock, given) => {
    await mock.control.moveClock({ to: zoned(given.time) })
    return `The clock was set. ${timeNow(mock)}`
  }),
  subscribe: action(
    'Requests a subscription, as a shop does.',
    {
      requestID: optional(filled),
      amount: optional(amount),
      cycle: optional(oneOf(CYCLES)),
      start: optional(inputDate),
      end: optional(inputDate),
      userReturnURL: optional(absoluteUrl),
    },
    async (mock, given) => {
      const order = { ...orderOf(mock), ...given }
      const { invoiceID } = await callAsShop(mock, 'subscriptions.subscribe', order)
      return { message: `Subscription ${invoiceID} waits for the payer.`, page: `subscriptions/${invoiceID}` }
    },
  ),
  authorize: action('Authorizes a request.', { invoiceId: id, payments: scripts }, (mock, given) => {
    mock.payer.authorize(given.invoiceId, { payments: given.payments })
    return `The payer authorized ${given.invoiceId}.`
  }),
  decline: action('Declines a request.', { invoiceId: id }, (mock, { invoiceId }) => {
    mock.payer.decline(invoiceId)
    return `The payer declined ${invoiceId}.`
  }),
  cancel: destructive('Cancels a subscription, by invoiceId or subscriptionId.', { id }, (mock, { id }) => {
    const { subscriptionId } = mock.payer.cancel(id)
    return `Subscription ${subscriptionId} was canceled.`
  }),
  'set-payments': action('Sets the next payments.', { id, payments: scripts }, (mock, given) => {
    const { id, payments = [] } = given
    mock.payer.setPayments(id, payments)
    return `The next payments of ${id}: ${[...payments, 'then succeed'].join(', ')}.`
  }),
  reverse: destructive('Reverses a successful payment.', { paymentId: id }, (mock, given) => {
    const { paymentId } = mock.payer.reverse(given.paymentId)
    return `Payment ${paymentId} was reversed.`
  }),
  charge: action(
    'Requests a charge, as a shop does.',
    {
      msisdn: optional(mobileNumber),
      amount: optional(wholeNumber(0)),
      currency: optional(filled),
      redirect_uri: optional(absoluteUrl),
    },
    async (mock, given) => {
      const { id } = await callAsShop(mock, 'gateway.charge', { ...saleOf(mock), ...given })
      return { message: `Charge ${id} waits for the payer’s code.`, page: `charges/${id}` }
    },
  ),
  renew: action('Renews a charge, as a shop does.', { id }, async (mock, given) => {
    const { id } = await callAsShop(mock, 'gateway.renew', { mandate_id: given.id }, given.id)
    return { message: `Charge ${given.id} was renewed: ${id}.`, page: `charges/${id}` }
  }),
  'end-charge': action(
    'Enters the correct code of a charge, with the result of a behavior for this charge only.',
    { confirmationId: id, behavior },
    (mock, { confirmationId, behavior }) => {
      const { domain, options } = internalsOf(mock).gateway
      const result = domain.confirm(confirmationId, { otp: options.otp }, undefined, behavior)
      const { id, status } = valueOrThrow('payer.confirm', result)
      return `${id} is ${status}.`
    },
  ),
  confirm: action('Enters a code.', { confirmationId: id, otp: optional(text) }, (mock, given) => {
    const { id, status } = mock.payer.confirm(given.confirmationId, given.otp)
    return `The payer entered the correct code: ${id} is ${status}.`
  }),
  behavior: action('Sets the result of a number.', { msisdn: text, behavior }, (mock, given) => {
    mock.payer.setBehavior(given.msisdn, given.behavior)
    return `Charges of ${given.msisdn} now have the behavior ${given.behavior}.`
  }),
  add: action('Adds subscriptions and tokens, as `mock.add` does.', seedFields, (mock, given) => {
    const added = mock.add(given)
    return `Added subscriptions: ${added.map(({ subscriptionId }) => subscriptionId).join(', ') || 'none'}.`
  }),
  connect: action(
    'Delivers notifications to a URL, with the options of `notifications.connect`.',
    { url: absoluteUrl, ...deliveryOptions },
    (mock, { url, ...given }) => {
      mock.notifications.connect(url, given)
      const { number: added, to } = mock.control.receivers.list().at(-1) ?? {}
      return `Receiver ${added} was connected: ${to}.`
    },
  ),
  disconnect: destructive('Removes a receiver.', { number: fromZero }, (mock, { number }) => {
    mock.control.receivers.disconnect(number)
    return `Receiver ${number} was disconnected.`
  }),
  resend: action('Sends a notification again.', { notificationId: id }, (mock, { notificationId }) =>
    delivered(mock, 'sent again', () => {
      mock.notifications.resend(notificationId)
      return notificationId
    }),
  ),
  send: action(
    'Sends a notification to every receiver.',
    { ...notificationFields, subscriptionId: optional(id), paymentId: optional(id) },
    (mock, given) => delivered(mock, 'sent', () => mock.notifications.send(given).notificationId),
  ),
  flush: action('Delivers every notification that is due.', {}, async (mock) => {
    await mock.notifications.flush()
    return 'Every due notification was sent.'
  }),
  fault: action(
    'Adds a fault, with the fields of `faults.add`.',
    // A form and JSON have no functions, so `when` is a table here.
    { ...faultFields, when: optional(tableOf(anyText)) },
    (mock, given) => {
      mock.faults.add(check(faultSchema, given, 'faults.add: '))
      const [added] = mock.control.faults.list().slice(-1)
      return `A fault was added${added ? `: ${faultInWords(added.fault, added.left)}` : ''}.`
    },
  ),
  'remove-fault': action('Removes a fault.', { number: fromZero }, (mock, { number }) => {
    mock.control.faults.remove(number)
    return 'The fault was removed.'
  }),
  'clear-faults': destructive('Removes all faults.', {}, (mock) => {
    mock.faults.clear()
    return 'All faults were removed.'
  }),
  'start-outage': action('Starts an outage of an area, by default `gateway`.', { area }, (mock, given) => {
    mock.outage.start(given)
    return `The area ${given.area ?? 'gateway'} is down. Every route responds with 503.`
  }),
  'end-outage': action('Ends the outage of an area, by default of every area.', { area }, (mock, given) => {
    mock.outage.end(given)
    return `${given.area === undefined ? 'Every area' : `The area ${given.area}`} is up.`
  }),
  'expire-tokens': destructive('Expires every access token.', {}, (mock) => {
    mock.tokens.expire()
    return 'Every access token has expired. Refresh tokens are still valid.'
  }),
  'revoke-tokens': destructive('Revokes every access token and refresh token.', {}, (mock) => {
    mock.tokens.revoke()
    return 'Every access token and refresh token is revoked.'
  }),
  'save-snapshot': action('Saves the state under a name.', { name: text }, (mock, { name }) => {
    mock.control.snapshots.save(name)
    return `The state was saved as ${name}.`
  }),
  'restore-snapshot': destructive('Restores a saved state.', { name: text }, (mock, { name }) => {
    mock.control.snapshots.restore(name)
    return `The state of ${name} was restored. ${timeNow(mock)}`
  }),
  'remove-snapshot': destructive('Removes a saved state.', { name: text }, (mock, { name }) => {
    mock.control.snapshots.delete(name)
    return `Snapshot ${name} was removed.`
  }),
  explain: action('Explains the last request.', { operation: oneOf(operations) }, (mock, given) =>
    mock.explain(given.operation),
  ),
  'clear-requests': action('Clears the request log.', {}, (mock) => {
    mock.requests.clear()
    return 'The log is empty.'
  }),
  'clear-notifications': action('Clears the outbox.', {}, (mock) => {
    mock.notifications.clear()
    return 'The outbox is empty.'
  }),
  reset: destructive('Resets the mock; saved snapshots stay.', {}, (mock) => {
    mock.reset()
    return 'The mock was reset.'
  }),
} as const

export type ActionName = keyof typeof actions

export const actionNames: readonly string[] = Object.keys(actions)

export const isActionName = (name: string): name is ActionName => Object.hasOwn(actions, name)

export interface Outcome {
  readonly ok: boolean
  readonly message: string
  /** What is wrong with the fields, if a schema refused them. */
  readonly issues?: ReturnType<typeof issuesOf>
  /** The page of what the action created. */
  readonly page?: string
  /** What was sent, if the action failed. */
  readonly sent?: SentFields
}

/** Executes the action that the field `action` names. If the action throws, returns the error's message. */
export const act = async (mock: Mock, sent: SentFields, isForm: boolean): Promise<Outcome> => {
  try {
    const name = check(optional(text), sent.action, '', 'action') ?? ''
    if (isActionName(name)) return { ok: true, ...(await actions[name].run(mock, sent, isForm)) }
    const problem = name === '' ? 'Missing action' : `Unknown action "${name}"`
    throw new TypeError(`${problem}. Actions: ${actionNames.join(', ')}.`)
  } catch (error) {
    const message = error instanceof Error ? error.message : 'The action failed.'
    return { ok: false, message, issues: issuesOf(error), sent }
  }
}
