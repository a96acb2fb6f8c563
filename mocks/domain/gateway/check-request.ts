import type { Fields, Result } from '../result.ts'
import { accepted, invalid, refused } from '../result.ts'
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

const E164 = /^\+?[1-9]\d{6,14}$/

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
  if (!E164.test(msisdn)) {
    return invalid('msisdn', 'msisdn must be a number in international format.', explanation)
  }
  if (amount <= 0) return invalid('amount', 'amount must be greater than zero.', explanation)
  if (!Intl.supportedValuesOf('currency').includes(currency)) {
    return invalid('currency', 'currency must be an ISO 4217 code.', explanation)
  }
  return undefined
}

/** Reads the body of a charge. Checks the types. If `inputRules` is `'formats'`, checks the formats too (row 82). */
export const readCharge = (fields: Fields, options: InputOptions): Result<ChargeFields> => {
  const { msisdn, amount, currency, redirect_uri: redirectUri } = fields
  if (typeof msisdn !== 'string') return invalid('msisdn', 'msisdn must be a string.')
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount)) {
    const message = Number.isInteger(amount)
      ? 'amount exceeds the largest safe integer.'
      : 'amount must be an integer.'
    return invalid('amount', message)
  }
  if (typeof currency !== 'string') return invalid('currency', 'currency must be a string.')
  if (typeof redirectUri !== 'string' || !URL.canParse(redirectUri)) {
    return invalid('redirect_uri', 'redirect_uri must be an absolute URL.')
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

/** Reads the Idempotency-Key header, which must not be blank (row 71). */
export const readKey = (key: string | undefined): Result<string> => {
  if (key !== undefined && key.trim() !== '') return accepted(key)
  return refused('missing_idempotency_key', 'The Idempotency-Key header is required.')
}
