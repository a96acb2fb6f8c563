/**
 * The invoice identifier in the URL to which a payer came back (S1, userReturnURL): the query parameter `invoiceID`,
 * in any casing. `undefined` when there is none.
 *
 * @param returnUrl the whole URL, or path and query as servers give them (`/return?invoiceID=…`)
 */
export const invoiceIdFrom = (returnUrl: string | URL): string | undefined => {
  const text = String(returnUrl)
  const query = text.includes('?') ? text.slice(text.indexOf('?') + 1).replace(/#.*$/s, '') : ''
  for (const [name, value] of new URLSearchParams(query)) {
    if (name.toLowerCase() === 'invoiceid' && value !== '') return value
  }
  return undefined
}
