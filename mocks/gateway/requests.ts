import { isAbsoluteUrl } from '../../src/contract/formats.ts'
import { accepted, type Fields, invalid, type Result } from '../base/result.ts'
import type { GatewayOptions } from './options.ts'
import type { ChargeFields, ChargeRecord } from './state.ts'

// A country code never starts with 0, and a number has at most 15 digits with its country code (ITU-T E.164).
const INTERNATIONAL = /^\+?[1-9]\d{1,14}$/
const FEWEST_DIGITS = /\d{7}/

const CHARGE_FIELDS = ['msisdn', 'amount', 'currency', 'redirect_uri'] as const

/** Refuses the value of a field. Explains a field with a similar name, such as `redirectUri`. */
const wrong = (fields: Fields, name: string, rule: string): Result<never> => {
  const bare = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '')
  const similar = Object.keys(fields).find((key) => key !== name && bare(key) === bare(name))
  return invalid(name, `${name} ${rule}`, similar && `The body has ${similar}. Send ${name}.`)
}

/** Reads the body of a charge, and checks the rules of G1. */
const readFields = (fields: Fields): Result<ChargeFields> => {
  const { msisdn, amount, currency, redirect_uri } = fields
  if (typeof msisdn !== 'string' || !INTERNATIONAL.test(msisdn)) {
    return wrong(fields, 'msisdn', 'must be a string with a number in international format.')
  }
  if (Number.isInteger(amount) && !Number.isSafeInteger(amount)) {
    return wrong(fields, 'amount', 'exceeds the largest safe integer.')
  }
  if (typeof amount !== 'number' || !Number.isInteger(amount)) {
    return wrong(fields, 'amount', 'must be an integer.')
  }
  if (typeof currency !== 'string' || currency.trim() === '') {
    return wrong(fields, 'currency', 'must be a string with a currency code.')
  }
  if (typeof redirect_uri !== 'string' || !isAbsoluteUrl(redirect_uri)) {
    return wrong(fields, 'redirect_uri', "must be an absolute URL that the payer's browser can open.")
  }
  return accepted({ msisdn, amount, currency, redirect_uri })
}

/** Creates the checks of the option `inputRules: 'formats'` (row 82). */
const createFormatCheck = () => {
  const currencies = new Set(Intl.supportedValuesOf('currency'))
  return ({ msisdn, amount, currency }: ChargeFields): Result<never> | undefined => {
    const explanation = 'Option gateway.inputRules is "formats".'
    if (!FEWEST_DIGITS.test(msisdn)) {
      return invalid('msisdn', 'msisdn must have at least 7 digits.', explanation)
    }
    if (amount <= 0) return invalid('amount', 'amount must be greater than zero.', explanation)
    if (currencies.has(currency)) return undefined
    return invalid('currency', 'currency must be an ISO 4217 code.', explanation)
  }
}

/** Returns whether an allowlist entry allows an address: same scheme, same host, and the same or a deeper path. */
const allows = (entry: URL, address: URL): boolean => {
  if (address.protocol !== entry.protocol || address.host !== entry.host) return false
  const folder = entry.pathname.endsWith('/') ? entry.pathname : `${entry.pathname}/`
  return address.pathname === entry.pathname || address.pathname.startsWith(folder)
}

/** Returns the first field whose value differs from the original request. A renewal has only `mandate_id`. */
export const differingField = (charge: ChargeRecord, fields: Fields): string | undefined => {
  const compared = charge.mandate_id === undefined ? CHARGE_FIELDS : (['mandate_id'] as const)
  return compared.find((name) => fields[name] !== charge[name])
}

/** Creates the checks of request bodies, with the rules of G1 and of the options. */
export const createBodyChecks = (options: GatewayOptions) => {
  const formatProblem = options.inputRules === 'formats' ? createFormatCheck() : () => undefined

  const unknownField = (fields: Fields, known: readonly string[]): Result<never> | undefined => {
    if (options.unknownFields === 'ignore') return undefined
    const name = Object.keys(fields).find((key) => !known.includes(key))
    if (name === undefined) return undefined
    return invalid(name, 'The request has an unknown field.', 'Option gateway.unknownFields is "refuse".')
  }

  return {
    /** Reads the body of a charge. */
    readCharge(fields: Fields): Result<ChargeFields> {
      const charge = readFields(fields)
      if (!charge.ok) return charge
      const problem = unknownField(fields, CHARGE_FIELDS) ?? formatProblem(charge.value)
      return problem ?? charge
    },
    /** Reads the body of a confirmation or renewal, which has one string field. */
    readText(name: 'otp' | 'mandate_id', fields: Fields): Result<string> {
      const value = fields[name]
      if (typeof value !== 'string') return wrong(fields, name, 'must be a string.')
      return unknownField(fields, [name]) ?? accepted(value)
    },
  }
}

/** Returns a function that checks if a redirect address is allowed (row 69). An empty list allows every address. */
export const createAllowlist = (entries: readonly string[]): ((address: string) => boolean) => {
  const urls = entries.map((entry) => new URL(entry))
  return (address) => urls.length === 0 || urls.some((entry) => allows(entry, new URL(address)))
}
