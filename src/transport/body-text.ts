const CHARSET = /;\s*charset\s*=\s*"?([^";,\s]+)/i

const WIDE = /^(?:utf-?16|ucs-?2|unicode|iso-10646)/i

/** What the bytes themselves say: a byte order mark, or, since JSON begins with an ASCII character, where zeros stand. */
const encodingOf = ([first, second, third]: Uint8Array): string | undefined => {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined
}

const decoderFor = (label: string): TextDecoder => {
  try {
    return new TextDecoder(label)
  } catch {
    // A charset nobody knows: JSON is UTF-8 unless told otherwise.
    return new TextDecoder()
  }
}

/** The text of a body: by what its first bytes say, else by the charset of its content type, else as UTF-8. */
export const decodeBody = (bytes: ArrayBuffer, contentType: string | null | undefined): string => {
  if (bytes.byteLength === 0) return ''
  const named = CHARSET.exec(contentType ?? '')?.[1] ?? 'utf-8'
  // A label of two bytes a character is wrong where no zero stands beside the first one.
  const label = encodingOf(new Uint8Array(bytes, 0, Math.min(3, bytes.byteLength)))
  return decoderFor(label ?? (WIDE.test(named) ? 'utf-8' : named)).decode(bytes)
}
