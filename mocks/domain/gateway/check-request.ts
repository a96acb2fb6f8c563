import { isAbsoluteUrl } from '../../../src/contract/formats.ts'
import { accepted, type Fields, invalid, type Result } from '../result.ts'
import type { ChargeFields } from './charges.ts'
import type { GatewayOptions } from './options.ts'

/** Returns whether an allowlist entry allows an address: same scheme, same host, and the same or a deeper path. */
const allows = (entry: URL, address: URL): boolean => {
  if (address.protocol !== entry.protocol || address.host !== entry.host) return false
  const folder = entry.pathname.endsWith('/') ? entry.pathname : `${entry.pathname}/`
  return address.pathname === entry.pathname || address.pathname.startsWith(folder)
}

/** Returns a function that checks if a redirect address is allowed (row 69). An empty list allows every address. */
export const createAllowlist = (entries: readonly string[]): ((address: string) => boolean) => {
  const urls = entries.map((entry) => new URL(entry))
  return (address) => urls.length === 0 || urls.some((entry) => allows(entry, new URL(address)))
}

type InputOptions = Pick<GatewayOptions, 'inputRules' | 'unknownFields'>

// A country code never starts with 0, and a number has at most 15 digits with its country code (ITU-T E.164).
const INTERNATIONAL = /^\+?[1-9]\d{1,14}$/
const FEWEST_DIGITS = /\d{7}/

const unknownField = (
  fields: Fields,
  known: readonly string[],
  { unknownFields }: InputOptions,
): Result<never> | undefined => {
  if (unknownFields === 'ignore') return undefined
  const name = Object.keys(fields).find((key) => !known.includes(key))
  if (name === undefined) return undefined
  return invalid(name, 'The request has an unknown field.', 'Option gateway.unknownFields is "refuse".')
}

const formatProblem = ({ msisdn, amount, currency }: ChargeFields): Result<never> | undefined => {
  const explanation = 'Option gateway.inputRules is "formats".'
  if (!FEWEST_DIGITS.test(msisdn)) {
    return invalid('msisdn', 'msisdn must have at least 7 digits.', explanation)
  }
  if (amount <= 0) return invalid('amount', 'amount must be greater than zero.', explanation)
  if (!Intl.supportedValuesOf('currency').includes(currency)) {
    return invalid('currency', 'currency must be an ISO 4217 code.', explanation)
  }
  return undefined
}

/** Reads the body of a charge, and checks the rules of G1 and of the option `inputRules` (row 82). */
export const readCharge = (fields: Fields, options: InputOptions): Result<ChargeFields> => {
  const { msisdn, amount, currency, redirect_uri: redirectUri } = fields
  if (typeof msisdn !== 'string' || !INTERNATIONAL.test(msisdn)) {
    return invalid('msisdn', 'msisdn must be a string with a number in international format.')
  }
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount)) {
    const message = Number.isInteger(amount)
      ? 'amount exceeds the largest safe integer.'
      : 'amount must be an integer.'
    return invalid('amount', message)
  }
  if (typeof currency !== 'string' || currency.trim() === '') {
    return invalid('currency', 'currency must be a string with a currency code.')
  }
  if (typeof redirectUri !== 'string' || !isAbsoluteUrl(redirectUri)) {
    return invalid('redirect_uri', "redirect_uri must be an absolute URL that the payer's browser can open.")
  }
  const charge = { msisdn, amount, currency, redirectUri }
  const problem =
    unknownField(fields, ['msisdn', 'amount', 'currency', 'redirect_uri'], options) ??
    (options.inputRules === 'formats' ? formatProblem(charge) : undefined)
  return problem ?? accepted(charge)
}

/** Reads the body of a confirmation or renewal, which has one string field. */
export const readText = (
  name: 'otp' | 'mandate_id',
  fields: Fields,
  options: InputOptions,
): Result<string> => {
  const value = fields[name]
  if (typeof value !== 'string') return invalid(name, `${name} must be a string.`)
  return unknownField(fields, [name], options) ?? accepted(value)
}
