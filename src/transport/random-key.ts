/** A key nobody has used: 128 random bits, as a UUID where the platform makes one (not on pages without TLS). */
export const randomKey = (): string =>
  globalThis.crypto.randomUUID?.() ??
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
