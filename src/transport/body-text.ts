const CHARSET = /;\s*charset\s*=\s*"?([^";,\s]+)/i

const WIDE = /^(?:utf-?16|ucs-?2|unicode|iso-10646)/i

/** What the bytes themselves say: a byte order mark, or, since JSON begins with an ASCII character, where zeros stand. */
const encodingOf = (bytes: Uint8Array): string | undefined => {
  const first = bytes[0]
  const second = bytes[1]
  const third = bytes[2]
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined
}

/** Of nearly every body: one for all of them. */
const UTF_8 = new TextDecoder()

const decoderFor = (label: string): TextDecoder => {
  if (label === 'utf-8') return UTF_8
  try {
    return new TextDecoder(label)
  } catch {
    // A charset nobody knows: JSON is UTF-8 unless told otherwise.
    return UTF_8
  }
}

/** The text of a body: by what its first bytes say, else by the charset of its content type, else as UTF-8. */
export const decodeBody = (bytes: ArrayBuffer, contentType: string | null | undefined): string => {
  if (bytes.byteLength === 0) return ''
  const charset = CHARSET.exec(contentType ?? '')?.[1] ?? 'utf-8'
  // A label of two bytes a character is wrong where no zero stands beside the first one.
  const named = WIDE.test(charset) ? 'utf-8' : charset
  const label = encodingOf(new Uint8Array(bytes, 0, Math.min(3, bytes.byteLength)))
  return decoderFor(label ?? named).decode(bytes)
}
