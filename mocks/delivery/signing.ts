/** How bodies are signed: HMAC-SHA256 over the raw bytes (row 46). */
export interface Signing {
  /** The key that you share with the receiver: text, its UTF-8 bytes are used. */
  readonly secret: string
  /** The header that carries the signature. Default: `x-signature`. */
  readonly header?: string
  /** How the signature's bytes are written. Default: `hex`. */
  readonly encoding?: 'hex' | 'base64' | 'base64url'
  /** Text before the signature, for example `sha256=`. Default: none. */
  readonly prefix?: string
}

const ENCODERS = {
  hex: (bytes: Uint8Array): string =>
    Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  base64: (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes)),
  base64url: (bytes: Uint8Array): string =>
    ENCODERS.base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
}

/** Makes the header that signs a body; no header without a secret. */
export const createSigner = (
  signing: Signing | undefined,
): ((body: string) => Promise<Readonly<Record<string, string>>>) => {
  if (signing === undefined) return async () => ({})
  const { secret, header = 'x-signature', encoding = 'hex', prefix = '' } = signing
  const encoder = new TextEncoder()
  let key: Promise<CryptoKey> | undefined
  return async (body) => {
    key ??= crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
      'sign',
    ])
    const signature = await crypto.subtle.sign('HMAC', await key, encoder.encode(body))
    return { [header]: `${prefix}${ENCODERS[encoding](new Uint8Array(signature))}` }
  }
}
