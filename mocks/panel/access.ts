/** The panel's path. The paths of the APIs and of the payer's pages never start with `/_mock`. */
export const PANEL_PATH = '/_mock'
/** The path of the panel's state as JSON. */
export const STATE_PATH = `${PANEL_PATH}/state`

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i

/** Returns whether a host is a loopback address, which only this machine can reach. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

/**
 * Returns whether the panel accepts a Host header. If only this machine can reach the server, the host must be a
 * loopback address, because a hostile website can point its own name at this machine (DNS rebinding). A server that
 * other machines can reach accepts every Host header.
 */
export const isAddressedHere = (boundTo: string, host: string | null): boolean => {
  if (!isLoopback(boundTo)) return true
  const address = `http://${host}`
  return host !== null && URL.canParse(address) && isLoopback(new URL(address).hostname)
}
