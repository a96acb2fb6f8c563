import type { Credentials } from './credentials.ts'

const ITERATIONS = 100_000

const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** 128 random bits as text. */
export const randomMark = (): string => toHex(crypto.getRandomValues(new Uint8Array(16)))

/** Derives the fingerprint of credentials under a salt. */
export type Fingerprint = (credentials: Credentials, salt: string) => Promise<string>

/**
 * Tells whether credentials changed without keeping them: PBKDF2-SHA-256 over all four values and a random salt, slow
 * on purpose, so that who reads a shared store cannot try passwords against it in bulk. It is computed only when a
 * login was refused, and the last result is kept. Pages without a secure context have no `crypto.subtle`, and some
 * runtimes have one without PBKDF2: there a random text takes its place, so that refusals are remembered within this
 * client alone.
 */
export const createFingerprint = (): Fingerprint => {
  let last: { readonly secret: string; readonly salt: string; readonly result: Promise<string> } | undefined
  const derive = async (secret: string, salt: string): Promise<string> => {
    const { subtle } = crypto
    if (subtle === undefined) return `local-${randomMark()}`
    const encoder = new TextEncoder()
    try {
      const key = await subtle.importKey('raw', encoder.encode(secret), 'PBKDF2', false, ['deriveBits'])
      const algorithm = {
        name: 'PBKDF2',
        hash: 'SHA-256',
        salt: encoder.encode(salt),
        iterations: ITERATIONS,
      }
      return toHex(new Uint8Array(await subtle.deriveBits(algorithm, key, 256)))
    } catch {
      return `local-${randomMark()}`
    }
  }
  return ({ clientId, clientSecret, username, password }, salt) => {
    const secret = JSON.stringify([clientId, clientSecret, username, password])
    if (last === undefined || last.secret !== secret || last.salt !== salt) {
      last = { secret, salt, result: derive(secret, salt) }
    }
    return last.result
  }
}
