/** A random identifier. Pages without TLS have no `randomUUID`. */
export const randomId = (): string =>
  crypto.randomUUID?.() ?? crypto.getRandomValues(new Uint32Array(4)).join('-')
