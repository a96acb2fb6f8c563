import { isAbsoluteUrl } from '../../src/contract/formats.ts'

/** Where a payer may be sent afterwards. */
export interface ReturnTarget {
  /** The address, encoded for a header or a link. */
  readonly href: string
  /** The host, or the scheme of an app. */
  readonly name: string
  /** What the page's form-action must allow besides the page itself. */
  readonly sources: string
}

/**
 * Reads a merchant's return address. `undefined` for an address that a payer must not be sent to: one that is not
 * absolute, or whose scheme runs or reveals local content (`javascript:`, `data:`).
 */
export const returnTarget = (address: string): ReturnTarget | undefined => {
  if (!URL.canParse(address)) return undefined
  // What a browser makes of the address is checked: it drops line breaks, such as one in the middle of a scheme.
  const { href, host, protocol } = new URL(address)
  if (!isAbsoluteUrl(href)) return undefined
  // Chromium holds every redirect that follows a form to the page's form-action. A merchant's return address often
  // leads on to another origin (from its server to its front end), so the address's own origin would be too narrow.
  if (protocol === 'https:' || protocol === 'http:') return { href, name: host, sources: 'https: http:' }
  return { href, name: `${protocol}//${host}`, sources: protocol }
}
