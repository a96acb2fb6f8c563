const CHARSET = /;\s*charset\s*=\s*"?([^";,\s]+)/i

const byteOrderMark = (bytes: Uint8Array): string | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : undefined
}

const decoderFor = (label: string): TextDecoder => {
  try {
    return new TextDecoder(label)
  } catch {
    // A charset nobody knows: JSON is UTF-8 unless told otherwise.
    return new TextDecoder()
  }
}

/** The text of a body: by its byte order mark, else by the charset of its content type, else as UTF-8. */
export const decodeBody = (bytes: ArrayBuffer, contentType: string | null | undefined): string => {
  if (bytes.byteLength === 0) return ''
  const label = byteOrderMark(new Uint8Array(bytes, 0, Math.min(3, bytes.byteLength)))
  return decoderFor(label ?? CHARSET.exec(contentType ?? '')?.[1] ?? 'utf-8').decode(bytes)
}
