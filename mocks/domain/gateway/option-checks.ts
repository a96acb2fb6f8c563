import type { Check } from '../checking.ts'
import {
  absoluteUrl,
  code,
  fields,
  flag,
  headerText,
  length,
  listOf,
  oneOf,
  orFalse,
  tableOf,
  text,
  wholeNumber,
} from '../checking.ts'
import { behaviors } from './behaviors.ts'
import type { GatewayOptions } from './options.ts'
import { seedCharge } from './seeds.ts'

const behavior = oneOf(...Object.keys(behaviors))

/** The check of each option of area G: one that is added and not checked does not compile. */
export const gatewayChecks: { readonly [Name in keyof GatewayOptions]-?: Check } = {
  apiKeys: listOf(headerText, 1),
  otp: code,
  testNumbers: tableOf(text, behavior),
  defaultBehavior: behavior,
  unlistedNumbers: oneOf('accept', 'refuse'),
  retryDelay: orFalse(length),
  confirmationTtl: orFalse(length),
  confirmAnswer: oneOf('charge', 'status', 'empty'),
  statusAnswer: oneOf('charge', 'status'),
  redirectAllowlist: listOf(absoluteUrl),
  keyReuse: oneOf('replay', 'reject'),
  keyTtl: orFalse(length),
  renewalsAsMandates: flag,
  maxOtpAttempts: orFalse(wholeNumber(1)),
  rateLimit: orFalse(fields({ limit: wholeNumber(0), windowMs: wholeNumber(1) })),
  inputRules: oneOf('types', 'formats'),
  unknownFields: oneOf('ignore', 'refuse'),
  charges: listOf(seedCharge),
}
