import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { inject } from 'vitest'

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
}

/** Waits until the package is built and packed. Throws if that failed. */
export const packedPackage = async (): Promise<Packed> => {
  for (;;) {
    const text = await readFile(inject('packedResult'), 'utf8').catch(() => '')
    if (text.endsWith('}')) {
      const result: Packed | { readonly failure: string } = JSON.parse(text)
      if ('failure' in result) throw new Error(result.failure)
      return result
    }
    await setTimeout(100)
  }
}
