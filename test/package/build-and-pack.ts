import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'

const run = promisify(execFile)

declare module 'vitest' {
  export interface ProvidedContext {
    /** The packed tarball, as `npm publish` would upload it. */
    tarball: string
    /** The paths inside the tarball, without the leading `package/`. */
    packedFiles: string[]
  }
}

/** Builds the package and packs it, for the tests of the artifact. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cwd = project.config.root
  const folder = await mkdtemp(join(tmpdir(), 'mandatekit-packed-'))
  const options = { cwd, maxBuffer: 16 * 1024 * 1024 }
  await run('npm', ['run', 'build'], options)
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', pack, options)
  const packed: { filename: string; files: { path: string }[] }[] = Object.values(JSON.parse(stdout))
  const [tarball] = packed
  if (tarball === undefined) throw new Error(`npm pack reported no tarball: ${stdout}`)
  project.provide('tarball', join(folder, tarball.filename))
  project.provide(
    'packedFiles',
    tarball.files.map((file) => file.path),
  )
  return () => rm(folder, { recursive: true, force: true })
}
