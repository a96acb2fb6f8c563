import type { IncomingRequest } from '../http/message.ts'

const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined)

/**
 * Returns whether a POST may come from the page itself. Browsers send the header Sec-Fetch-Site over TLS and on
 * loopback. Without Sec-Fetch-Site, Origin must name the host of the request or the host of the server's public URL.
 * The public URL is allowed because a proxy may change the Host header. The scheme is not compared, because a proxy may
 * terminate TLS. A request with neither header is accepted, because it does not come from a browser.
 *
 * @param host the value of the Host header, which may differ from the host in `url`
 */
export const isOwnForm = (
  { headers, url, server }: Pick<IncomingRequest, 'headers' | 'url' | 'server'>,
  host: string | null,
): boolean => {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin' || site === 'none'
  const origin = headers.get('origin')
  if (origin === null) return true
  const from = hostOf(origin)
  const own = (host === null ? undefined : hostOf(`${new URL(url).protocol}//${host}`)) ?? hostOf(url)
  return from !== undefined && [own, hostOf(server?.publicUrl ?? '')].includes(from)
}
