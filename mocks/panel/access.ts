/** Where the panel answers. No path of either area, and no hosted page, begins with it. */
export const PANEL_PATH = '/_mock'
/** What the panel shows, as JSON. */
export const STATE_PATH = `${PANEL_PATH}/state`

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i

/** Whether a host is this machine alone. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

/** The name of a Host header, without its port; `undefined` for what is none. */
const nameOf = (host: string): string | undefined => {
  const address = `http://${host}`
  return URL.canParse(address) ? new URL(address).hostname : undefined
}

/**
 * Whether a request may come from somebody at this machine. A page of another site can give its own name this
 * machine's address (DNS rebinding): then everything looks as if it came from the panel, but the Host header, which
 * holds that name. A server that others may reach knows no names of its own, so there every Host is taken.
 */
export const isAddressedHere = (boundTo: string, host: string | null): boolean => {
  if (!isLoopback(boundTo)) return true
  const name = host === null ? undefined : nameOf(host)
  return name !== undefined && isLoopback(name)
}
