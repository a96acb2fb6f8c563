/** The panel's path. No path of an area or of a payer's page starts with this path. */
export const PANEL_PATH = '/_mock'
/** The path of the panel's state as JSON. */
export const STATE_PATH = `${PANEL_PATH}/state`

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i

/** Returns whether a host is a loopback address, which only this machine can reach. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

/**
 * Returns whether a request may come from a user of this machine. Another site can resolve its own name to this
 * machine's address (DNS rebinding). Only the Host header, which contains that name, distinguishes such a request
 * from the panel's own requests. A server that other machines can reach accepts every Host header.
 */
export const isAddressedHere = (boundTo: string, host: string | null): boolean => {
  if (!isLoopback(boundTo)) return true
  const address = `http://${host}`
  return host !== null && URL.canParse(address) && isLoopback(new URL(address).hostname)
}
