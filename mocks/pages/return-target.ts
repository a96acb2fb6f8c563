import { isAbsoluteUrl } from '../../src/contract/formats.ts'

/** Where a payer may be sent afterwards. */
export interface ReturnTarget {
  /** The address, encoded for a header or a link. */
  readonly href: string
  /** The host, or the scheme of an app. */
  readonly name: string
  /** What the page's form-action must allow: Chromium checks it for the redirect that answers a form, too. */
  readonly source: string
}

// Other signs are legal in a host, but a `;` or `,` in the policy would end a directive.
const PLAIN_ORIGIN = /^https?:\/\/[\w.:[\]-]+$/

/**
 * Reads a merchant's return address. `undefined` for an address that a payer must not be sent to: one that is not
 * absolute, whose scheme runs or reveals local content (`javascript:`, `data:`), or whose host has odd signs.
 */
export const returnTarget = (address: string): ReturnTarget | undefined => {
  if (!isAbsoluteUrl(address)) return undefined
  const { href, host, origin, protocol } = new URL(address)
  if (protocol !== 'https:' && protocol !== 'http:')
    return { href, name: `${protocol}//${host}`, source: protocol }
  return PLAIN_ORIGIN.test(origin) ? { href, name: host, source: origin } : undefined
}
