import { internalsOf } from '../assemble.ts'
import type { DurationParts } from '../domain/duration.ts'
import { DAY, toMilliseconds } from '../domain/duration.ts'
import { isBehaviorName } from '../domain/gateway/behaviors.ts'
import type { PaymentScript } from '../domain/subscriptions/options.ts'
import type { Fault } from '../http/fault-schema.ts'
import type { Mock } from '../types.ts'

/** The fields of a form of the panel. What is wrong with one is told in words that name it. */
export interface PanelForm {
  /** The field's text without blanks around it; empty when there is none. */
  text(name: string): string
  /** The field's text. Throws a TypeError when there is none. */
  required(name: string): string
  /** The field's number; `undefined` when it is empty. Throws a TypeError for what is no number. */
  number(name: string): number | undefined
}

/** Reads a form that a browser, or a program, has sent. */
export const readForm = (body: string): PanelForm => {
  const fields = new URLSearchParams(body)
  const text = (name: string): string => (fields.get(name) ?? '').trim()
  return {
    text,
    required(name) {
      const value = text(name)
      if (value === '') throw new TypeError(`The field ${name} is missing.`)
      return value
    },
    number(name) {
      const value = text(name)
      if (value === '') return undefined
      if (!/^\d+(\.\d+)?$/.test(value)) throw new TypeError(`The field ${name} is a number, such as 3.`)
      return Number(value)
    },
  }
}

/** Does something to the mock; says in a sentence what was done. Throws when it cannot be done. */
type Action = (mock: Mock, form: PanelForm) => string | Promise<string>

/** Ten years: a slip of the finger must not keep the mock busy for minutes. */
const LONGEST_MOVE = 3_653 * DAY

const timeOf = (mock: Mock): string => `${new Date(mock.clock.now()).toISOString().slice(0, 19)}Z`

const durationOf = (form: PanelForm): DurationParts => {
  const {
    days = 0,
    hours = 0,
    minutes = 0,
    seconds = 0,
  } = {
    days: form.number('days'),
    hours: form.number('hours'),
    minutes: form.number('minutes'),
    seconds: form.number('seconds'),
  }
  return { days, hours, minutes, seconds }
}

/** A time without a zone is UTC: the field of the page has none. */
const zoned = (time: string): string => (/^\d{4}-\d{2}-\d{2}T[\d:.]+$/.test(time) ? `${time}Z` : time)

const scriptOf = (text: string): readonly PaymentScript[] =>
  text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map((word) => {
      if (word === 'succeed' || word === 'fail') return word
      throw new TypeError('The field payments takes the words succeed and fail, separated by commas.')
    })

const faultOf = (form: PanelForm): Fault => {
  const times = form.text('times')
  const [status, latencyMs, probability] = [
    form.number('status'),
    form.number('latencyMs'),
    form.number('probability'),
  ]
  return {
    // The names are checked by the mock, which says which ones there are.
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
    if (length === 0) throw new TypeError('Say by how much: days, hours, minutes or seconds.')
    if (length > LONGEST_MOVE) throw new RangeError('The clock moves by at most ten years at once.')
    await internalsOf(mock).clock.fromOutside(() => mock.clock.advance(duration))
    return `The clock was moved. It is ${timeOf(mock)}.`
  },
  'set-clock': async (mock, form) => {
    const time = zoned(form.required('time'))
    await internalsOf(mock).clock.fromOutside(() => mock.clock.set(time))
    return `The clock was set. It is ${timeOf(mock)}.`
  },
  authorize: (mock, form) => {
    const { invoiceId } = mock.payer.authorize(form.required('invoiceId'), {
      payments: scriptOf(form.text('payments')),
    })
    return `The payer authorized ${invoiceId}.`
  },
  decline: (mock, form) => {
    const { invoiceId } = mock.payer.decline(form.required('invoiceId'))
    return `The payer declined ${invoiceId}.`
  },
  confirm: (mock, form) => {
    const { id, status } = mock.payer.confirm(form.required('confirmationId'))
    return `The payer gave the right code: ${id} is ${status}.`
  },
  reverse: (mock, form) => {
    const { paymentId } = mock.payer.reverse(form.required('paymentId'))
    return `Payment ${paymentId} was given back to the payer.`
  },
  behavior: (mock, form) => {
    const [msisdn, name] = [form.required('msisdn'), form.required('behavior')]
    if (!isBehaviorName(name)) throw new TypeError(`There is no behavior ${name}.`)
    mock.payer.setBehavior(msisdn, name)
    return `Charges of ${msisdn} now follow ${name}.`
  },
  fault: (mock, form) => {
    const fault = faultOf(form)
    mock.faults.add(fault)
    return `The fault ${fault.kind} waits for ${fault.operation}.`
  },
  'remove-fault': (mock, form) => {
    const number = form.number('number')
    const fault = internalsOf(mock)
      .faults.armed()
      .find((one) => one.number === number)
    if (fault === undefined) throw new TypeError('This fault is used up, or was removed.')
    fault.remove()
    return 'The fault was removed.'
  },
  'clear-faults': (mock) => {
    mock.faults.clear()
    return 'All faults were removed.'
  },
  'start-outage': (mock) => {
    mock.outage.start()
    return 'The gateway cannot be reached: its health and every other route answer 503.'
  },
  'end-outage': (mock) => {
    mock.outage.end()
    return 'The gateway can be reached again.'
  },
  'expire-tokens': (mock) => {
    mock.tokens.expire()
    return 'Every access token has run out; refresh tokens still hold.'
  },
  'revoke-tokens': (mock) => {
    mock.tokens.revoke()
    return 'Every token is void, refresh tokens included.'
  },
  reset: (mock) => {
    mock.reset()
    return 'The mock is as new.'
  },
} as const satisfies Record<string, Action>

/** What can be asked of the panel. */
export type ActionName = keyof typeof actions

/** The names of all actions. */
export const actionNames: readonly string[] = Object.keys(actions)

const isActionName = (name: string): name is ActionName => Object.hasOwn(actions, name)

/** What became of something that was asked of the panel. */
export interface Outcome {
  readonly ok: boolean
  readonly message: string
}

/** Does what a form asks. Nothing is thrown: what cannot be done is told. */
export const act = async (mock: Mock, form: PanelForm): Promise<Outcome> => {
  const name = form.text('action')
  if (!isActionName(name)) {
    return { ok: false, message: `There is no such action; there are ${actionNames.join(', ')}.` }
  }
  try {
    const action: Action = actions[name]
    return { ok: true, message: await action(mock, form) }
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : 'This could not be done.' }
  }
}
