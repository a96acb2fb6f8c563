/** A view of bytes (a Buffer, a Uint8Array, a DataView, of any realm) as a Uint8Array of the same bytes, else `undefined`. */
export const bytesOf = (value: unknown): Uint8Array | undefined =>
  ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : undefined
