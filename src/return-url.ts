import { check } from './check.ts'
import { field, urlText } from './contract/fields.ts'

const addressOf = (value: unknown): string | undefined => {
  const address = urlText(value)
  return typeof address === 'string' ? address : undefined
}

/**
 * Returns the invoice identifier from the URL to which a payer returned, or `undefined` if the URL has none. The
 * server's parameter `invoiceID` takes precedence over an `invoiceid` in your own `userReturnURL`. (S1)
 *
 * @param returnUrl the whole URL, or only its path and query (`/return?invoiceID=…`)
 * @throws InvalidRequestError when `returnUrl` is neither a string nor a URL
 */
export const invoiceIdFrom = (returnUrl: string | URL): string | undefined => {
  const rule = 'a URL, or its path and query as a string'
  const address = check('invoiceIdFrom', field(rule, addressOf), returnUrl, 'returnUrl')
  const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(address) ?? []
  const idsIn = (pairs = '') =>
    [...new URLSearchParams(pairs)].filter(([name, id]) => name.toLowerCase() === 'invoiceid' && id !== '')
  // A server may append `?invoiceID=…` to an address with a query, so the URL may have two question marks.
  const found = [idsIn(query), idsIn(query.split('?').at(-1))].find((ids) => ids.length > 0) ?? []
  const [, invoiceId] = found.find(([name]) => name === 'invoiceID') ?? found[0] ?? []
  return invoiceId
}
