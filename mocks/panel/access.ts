/** The panel's path. The paths of the APIs and of the payer's pages never start with `/_mock`. */
export const PANEL_PATH = '/_mock'
export const STATE_PATH = `${PANEL_PATH}/state`
export const OPENAPI_PATH = `${PANEL_PATH}/openapi.json`
/** The path of the OpenAPI document of both areas. */
export const API_DOCUMENT_PATH = '/openapi.json'
/** The path of the page that shows this document. */
export const API_PAGE_PATH = '/openapi'

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i

/** Returns whether a host is a loopback address, which only this machine can reach. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

/** Returns whether text is the name of a host, without scheme and port. */
export const isHostName = (text: string): boolean =>
  /^[^\s/\\:?#@]+$/.test(text) && URL.canParse(`http://${text}`)

/** Reads a Host header. Returns the URL of the host, or `undefined` if the host is not allowed. */
export type ReadHost = (host: string | null) => string | undefined

const IP_ADDRESS = /^(?:\[.*\]|\d+\.\d+\.\d+\.\d+)$/

/**
 * Creates the function that reads Host headers. A hostile website can point its own name at this server (DNS
 * rebinding), so only IP addresses, `localhost`, the given names and the host of `publicUrl` are allowed.
 */
export const createReadHost = (
  scheme: 'http' | 'https',
  names: readonly string[],
  publicUrl = 'http://localhost',
): ReadHost => {
  const urls = [publicUrl, ...['localhost', ...names].map((name) => `http://${name}`)]
  const known = new Set(urls.map((url) => new URL(url).hostname))
  const read: ReadHost = (host) => {
    const url = host === null ? null : URL.parse(`${scheme}://${host}`)
    return url !== null && (IP_ADDRESS.test(url.hostname) || known.has(url.hostname)) ? url.origin : undefined
  }
  // Caches the last result, because a client sends the same Host header each time, and reading the header takes 2 µs.
  let last: readonly [host: string | null, url: string | undefined] = [null, undefined]
  return (host) => {
    if (host !== last[0]) last = [host, read(host)]
    return last[1]
  }
}
