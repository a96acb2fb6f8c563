import type { IncomingRequest } from '../http/response.ts'

/** Returns the host of an URL, or `undefined` if it is not valid. */
const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined)

/**
 * Returns whether a POST may come from the page itself. Browsers send Sec-Fetch-Site over TLS and on loopback, and it
 * decides where present. Otherwise Origin must name the host by which the browser reached the page. The scheme is not
 * compared, because TLS may end at a proxy. A request with neither header does not come from a browser.
 *
 * @param host the Host header: a server may have more names than the one in its URL
 */
export const isOwnForm = (
  { headers, url }: Pick<IncomingRequest, 'headers' | 'url'>,
  host: string | null,
): boolean => {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin' || site === 'none'
  const origin = headers.get('origin')
  if (origin === null) return true
  const own = (host === null ? undefined : hostOf(`${new URL(url).protocol}//${host}`)) ?? hostOf(url)
  return own !== undefined && hostOf(origin) === own
}
