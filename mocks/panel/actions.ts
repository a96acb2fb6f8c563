import { internalsOf } from '../assemble.ts'
import type { DurationParts } from '../domain/duration.ts'
import { DAY, toMilliseconds } from '../domain/duration.ts'
import { isBehaviorName } from '../domain/gateway/behaviors.ts'
import type { PaymentScript } from '../domain/subscriptions/options.ts'
import type { Fault } from '../http/fault-schema.ts'
import type { Mock } from '../types.ts'

type PanelForm = ReturnType<typeof readForm>

/** Reads a form that a browser or a program has sent. Errors name the field. */
export const readForm = (body: string) => {
  const fields = new URLSearchParams(body)
  const text = (name: string): string => (fields.get(name) ?? '').trim()
  return {
    /** Returns the trimmed text of a field, or an empty string if the field is missing. */
    text,
    required(name: string): string {
      const value = text(name)
      if (value === '') throw new TypeError(`Missing field ${name}.`)
      return value
    },
    /** Returns the number in a field, or `undefined` if the field is empty. */
    number(name: string): number | undefined {
      const value = text(name)
      if (value === '') return undefined
      if (!/^\d+(\.\d+)?$/.test(value)) throw new TypeError(`Field ${name} must be a number, such as 3.`)
      return Number(value)
    },
  }
}

/** Changes the mock, and returns a message about the change. Throws if the change is not possible. */
type Action = (mock: Mock, form: PanelForm) => string | Promise<string>

/** The clock can move by ten years at most. A longer move could keep the mock busy for minutes. */
const LONGEST_MOVE = 3_653 * DAY

const timeOf = (mock: Mock): string => `${new Date(mock.clock.now()).toISOString().slice(0, 19)}Z`

const durationOf = (form: PanelForm): DurationParts => ({
  days: form.number('days') ?? 0,
  hours: form.number('hours') ?? 0,
  minutes: form.number('minutes') ?? 0,
  seconds: form.number('seconds') ?? 0,
})

/** Adds `Z` (UTC) to a time that the user typed. The time field of the page has no zone. */
const zoned = (time: string): string => (/^\d{4}-\d{2}-\d{2}T[\d:.]+$/.test(time) ? `${time}Z` : time)

const scriptOf = (text: string): readonly PaymentScript[] =>
  text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map((word) => {
      if (word === 'succeed' || word === 'fail') return word
      throw new TypeError(`Field payments must be a list of succeed and fail, got "${word}".`)
    })

const faultOf = (form: PanelForm): Fault => {
  const [times, status] = [form.text('times'), form.number('status')]
  const [latencyMs, probability] = [form.number('latencyMs'), form.number('probability')]
  return {
    // `faults.add` refuses unknown operations and kinds.
    operation: form.required('operation') as Fault['operation'],
    kind: form.required('kind') as NonNullable<Fault['kind']>,
    ...(times === '' ? {} : { times: times === 'always' ? times : (form.number('times') ?? 1) }),
    ...(status === undefined ? {} : { status }),
    ...(latencyMs === undefined ? {} : { latencyMs }),
    ...(probability === undefined ? {} : { probability }),
  }
}

const actions = {
  advance: async (mock, form) => {
    const duration = durationOf(form)
    const length = toMilliseconds(duration)
    if (length === 0) throw new TypeError('Missing duration: set days, hours, minutes or seconds.')
    if (length > LONGEST_MOVE) throw new RangeError('The clock can move by at most ten years at a time.')
    await internalsOf(mock).moveClock({ by: duration })
    return `The clock was moved. It is ${timeOf(mock)}.`
  },
  'set-clock': async (mock, form) => {
    const time = zoned(form.required('time'))
    await internalsOf(mock).moveClock({ to: time })
    return `The clock was set. It is ${timeOf(mock)}.`
  },
  authorize(mock, form) {
    const payments = scriptOf(form.text('payments'))
    const { invoiceId } = mock.payer.authorize(form.required('invoiceId'), { payments })
    return `The payer authorized ${invoiceId}.`
  },
  decline: (mock, form) => `The payer declined ${mock.payer.decline(form.required('invoiceId')).invoiceId}.`,
  confirm(mock, form) {
    const { id, status } = mock.payer.confirm(form.required('confirmationId'))
    return `The payer entered the correct code: ${id} is ${status}.`
  },
  reverse(mock, form) {
    const { paymentId } = mock.payer.reverse(form.required('paymentId'))
    return `Payment ${paymentId} was reversed.`
  },
  behavior(mock, form) {
    const [msisdn, name] = [form.required('msisdn'), form.required('behavior')]
    if (!isBehaviorName(name)) throw new TypeError(`Unknown behavior "${name}".`)
    mock.payer.setBehavior(msisdn, name)
    return `Charges of ${msisdn} now have the behavior ${name}.`
  },
  fault(mock, form) {
    const fault = faultOf(form)
    mock.faults.add(fault)
    return `Fault ${fault.kind} was added for ${fault.operation}.`
  },
  'remove-fault'(mock, form) {
    const number = form.number('number')
    const armed = internalsOf(mock).faults.armed()
    const fault = armed.find((one) => one.number === number)
    if (fault === undefined) throw new TypeError('This fault has no uses left, or it was removed.')
    fault.remove()
    return 'The fault was removed.'
  },
  'clear-faults'(mock) {
    mock.faults.clear()
    return 'All faults were removed.'
  },
  'start-outage'(mock) {
    mock.outage.start()
    return 'The gateway is down. Every route responds with 503.'
  },
  'end-outage'(mock) {
    mock.outage.end()
    return 'The gateway is up again.'
  },
  'expire-tokens'(mock) {
    mock.tokens.expire()
    return 'Every access token has expired. Refresh tokens are still valid.'
  },
  'revoke-tokens'(mock) {
    mock.tokens.revoke()
    return 'Every access token and refresh token is revoked.'
  },
  reset(mock) {
    mock.reset()
    return 'The mock was reset.'
  },
} as const satisfies Record<string, Action>

/** The name of an action. */
export type ActionName = keyof typeof actions

/** The names of all actions. */
export const actionNames: readonly string[] = Object.keys(actions)

const isActionName = (name: string): name is ActionName => Object.hasOwn(actions, name)

/** The result of an action. */
export interface Outcome {
  readonly ok: boolean
  readonly message: string
}

/** Runs the action that is named in a form. If the action throws, returns the error's message. */
export const act = async (mock: Mock, form: PanelForm): Promise<Outcome> => {
  const name = form.text('action')
  if (!isActionName(name)) {
    return { ok: false, message: `Unknown action "${name}". Actions: ${actionNames.join(', ')}.` }
  }
  try {
    const action: Action = actions[name]
    return { ok: true, message: await action(mock, form) }
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : 'The action failed.' }
  }
}
