import { behaviours } from '../domain/gateway/behaviours.ts'
import { gatewayDefaults } from '../domain/gateway/options.ts'
import { subscriptionsDefaults } from '../domain/subscriptions/options.ts'
import { gatewayHttpDefaults, mockDefaults, subscriptionsHttpDefaults } from '../options.ts'
import { CommandError } from './errors.ts'

/*
 * A file has no compiler that checks it. What its values must be follows from the defaults, and from the tables below
 * where a default does not say all. Names that do not exist are refused by the mock itself.
 */

type Fields = Readonly<Record<string, unknown>>

const DEFAULTS: Readonly<Record<string, Fields>> = {
  '': mockDefaults,
  subscriptions: { ...subscriptionsDefaults, ...subscriptionsHttpDefaults },
  gateway: { ...gatewayDefaults, ...gatewayHttpDefaults },
}

/** What options take besides what their default is. A length of time is a number or an object. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  seed: ['number'],
  clock: ['number', 'date'],
  'subscriptions.requestTtl': ['number', 'false'],
  'subscriptions.startCutoff': ['false'],
  'subscriptions.maxEnd': ['false'],
  'subscriptions.cancelDelay': ['number'],
  'subscriptions.tokenTtl': ['number'],
  'subscriptions.lockout': ['false'],
  'subscriptions.rateLimit': ['false'],
  'gateway.retryDelay': ['number', 'false'],
  'gateway.confirmationTtl': ['number', 'false'],
  'gateway.keyTtl': ['number', 'object'],
  'gateway.maxOtpAttempts': ['number'],
  'gateway.rateLimit': ['false'],
}

/** The words that an option takes. */
const CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  'subscriptions.unknownFields': ['ignore', 'refuse'],
  'subscriptions.pendingSubscriptionId': ['issued', 'NA', '', 'omit'],
  'subscriptions.pastStart': ['accept', 'refuse'],
  'subscriptions.duplicateRequest': ['accept', 'refuse'],
  'subscriptions.clientMismatch': ['accept', 'refuse'],
  'subscriptions.nextPaymentDateAfterEnd': ['date', 'null'],
  'subscriptions.cancelTwice': ['same', 'refuse'],
  'subscriptions.refresh': ['rotate', 'reuse', 'reject'],
  'subscriptions.validationStatus': [200, 400, 409, 422],
  'subscriptions.notFoundStatus': [200, 400, 404],
  'gateway.defaultBehaviour': Object.keys(behaviours),
  'gateway.unlistedNumbers': ['accept', 'refuse'],
  'gateway.confirmAnswer': ['charge', 'status', 'empty'],
  'gateway.statusAnswer': ['charge', 'status'],
  'gateway.keyReuse': ['replay', 'reject'],
  'gateway.inputRules': ['types', 'formats'],
  'gateway.unknownFields': ['ignore', 'refuse'],
}

/** Objects whose parts have fixed names and kinds, all of them needed. */
const WHOLE = new Set([
  'subscriptions.enabledValues',
  'subscriptions.maxEnd',
  'subscriptions.dunning',
  'subscriptions.lockout',
  'subscriptions.paging',
  'subscriptions.rateLimit',
  'gateway.rateLimit',
])

const kindOf = (value: unknown): string => {
  if (value === null || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'list'
  if (value instanceof RegExp) return 'regular expression'
  if (value instanceof Date) return 'date'
  return typeof value === 'string' ? 'text' : typeof value
}

const isFields = (value: unknown): value is Fields => kindOf(value) === 'object'

/** Puts what is wrong into words: which option of which file, and what it takes. */
const fail = (option: string, takes: readonly unknown[], given: unknown): never => {
  throw new CommandError(`${option} is ${takes.join(' or ')}, not ${String(given)}.`)
}

const kindsOf = (option: string, standard: unknown): readonly string[] => {
  const also = ALSO[option]
  if (typeof standard === 'boolean' && also === undefined) return ['true', 'false']
  return [kindOf(standard), ...(also ?? [])]
}

const check = (option: string, value: unknown, kinds: readonly string[]): void => {
  const kind = kindOf(value)
  if (!kinds.includes(kind)) fail(option, kinds, kind)
}

const checkChoice = (option: string, value: unknown, choices: readonly unknown[]): void => {
  if (choices.includes(value)) return
  fail(
    option,
    choices.map((choice) => JSON.stringify(choice)),
    JSON.stringify(value),
  )
}

const checkEach = (option: string, list: unknown, checkOne: (name: string, item: unknown) => void): void => {
  check(option, list, ['list'])
  for (const [index, item] of (list as readonly unknown[]).entries()) checkOne(`${option}[${index}]`, item)
}

const checkTexts =
  (names: readonly string[]) =>
  (option: string, item: unknown): void => {
    check(option, item, ['object'])
    for (const name of names) check(`${option}.${name}`, (item as Fields)[name], ['text'])
  }

const checkMerchant = (option: string, merchant: unknown): void => {
  checkTexts(['name', 'clientId', 'clientSecret'])(option, merchant)
  checkEach(`${option}.users`, (merchant as Fields).users, checkTexts(['username', 'password']))
}

/** Options whose values have a form of their own. */
const OWN: Readonly<Record<string, (option: string, value: unknown) => void>> = {
  'subscriptions.merchants': (option, value) => checkEach(option, value, checkMerchant),
  'gateway.apiKeys': (option, value) => checkEach(option, value, (name, item) => check(name, item, ['text'])),
  'gateway.redirectAllowlist': (option, value) =>
    checkEach(option, value, (name, item) => check(name, item, ['text'])),
  'gateway.testNumbers': (option, value) => {
    for (const [number, name] of Object.entries(value as Fields)) {
      checkChoice(`${option}[${JSON.stringify(number)}]`, name, Object.keys(behaviours))
    }
  },
}

const checkOption = (option: string, value: unknown, standard: unknown): void => {
  check(option, value, kindsOf(option, standard))
  const choices = CHOICES[option]
  if (choices !== undefined) checkChoice(option, value, choices)
  if (WHOLE.has(option) && isFields(value)) {
    for (const [name, part] of Object.entries(standard as Fields)) {
      check(`${option}.${name}`, value[name], [kindOf(part)])
    }
  }
  OWN[option]?.(option, value)
}

/**
 * Checks what stands in a file of options.
 *
 * @throws CommandError that names the option and says what it takes
 */
export const checkShape = (given: unknown): void => {
  check('the whole', given, ['object'])
  for (const [area, defaults] of Object.entries(DEFAULTS)) {
    const options = area === '' ? given : (given as Fields)[area]
    if (options === undefined) continue
    check(area, options, ['object'])
    for (const [name, value] of Object.entries(options as Fields)) {
      if (value === undefined || !Object.hasOwn(defaults, name)) continue
      checkOption(area === '' ? name : `${area}.${name}`, value, defaults[name])
    }
  }
}
