import { refuse, unless, whileReading } from './transport/input-issues.ts'

const RULE = 'a URL, or its path and query as text, such as the url of a request'

/** The text of a URL, of this realm or another, or of a `Location`. */
const addressOf = (given: unknown): string =>
  whileReading('invoiceIdFrom', 'returnUrl', () => {
    const href: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, 'href') : undefined
    if (typeof href === 'string') return href
    refuse('invoiceIdFrom', unless(false, 'returnUrl', RULE, given))
    return ''
  })

/**
 * The invoice identifier in the URL to which a payer came back (S1, userReturnURL): the query parameter `invoiceID`,
 * in any casing, but first in its own: the merchant's address may have had an `invoiceid` before. `undefined` when there is
 * none.
 *
 * @param returnUrl the whole URL, or path and query as servers give them (`/return?invoiceID=…`)
 * @throws InvalidRequestError when it is neither text nor a URL, such as a whole request
 */
export const invoiceIdFrom = (returnUrl: string | URL): string | undefined => {
  const text = typeof returnUrl === 'string' ? returnUrl : addressOf(returnUrl)
  const query = text.includes('?') ? text.slice(text.indexOf('?') + 1).replace(/#.*$/s, '') : ''
  const given = [...new URLSearchParams(query)].filter(
    ([name, value]) => name.toLowerCase() === 'invoiceid' && value !== '',
  )
  const [, invoiceId] = given.find(([name]) => name === 'invoiceID') ?? given[0] ?? []
  return invoiceId
}
