import { readFile } from 'node:fs/promises'
import { inject, vi } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The file that the build writes at its end. */
    packedResult: string
  }
}

/** The packed package. */
export interface Packed {
  /** The tarball, as `npm publish` would upload it. */
  readonly tarball: string
  /** The `node_modules` of a project in which the tarball is installed, and nothing else. */
  readonly installed: string
  /** The paths inside the tarball, without the leading `package/`. */
  readonly files: readonly string[]
  /** The size of all files of the tarball, in bytes. */
  readonly unpackedSize: number
}

/** Waits until the package is built, packed and installed. Throws if that failed. */
export const packedPackage = async (): Promise<Packed> => {
  const read = async (): Promise<Packed & { readonly failure?: string }> =>
    JSON.parse(await readFile(inject('packedResult'), 'utf8'))
  const result = await vi.waitFor(read, { timeout: 300_000, interval: 100 })
  if (result.failure !== undefined) throw new Error(result.failure)
  return result
}
