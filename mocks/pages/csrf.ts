import type { IncomingRequest } from '../http/response.ts'

const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined)

/** The address as the browser sees it: under a server's other names, a page's own form comes from the name it used. */
export const addressed = (url: string, host: string | null): string => {
  if (host === null || !URL.canParse(`http://${host}`)) return url
  const seen = new URL(url)
  seen.host = host
  return seen.href
}

/**
 * Whether a POST may come from the page itself. Sec-Fetch-Site decides where the browser sends it (over TLS and on
 * loopback); else Origin must name the page's host: the host alone, since TLS may end before the mock. A request with
 * neither comes from no browser, so nobody's browser was used against its will.
 */
export const isOwnForm = ({ headers, url }: Pick<IncomingRequest, 'headers' | 'url'>): boolean => {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin' || site === 'none'
  const origin = headers.get('origin')
  return origin === null || (hostOf(origin) !== undefined && hostOf(origin) === hostOf(url))
}
