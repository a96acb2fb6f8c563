import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import type { Packed } from './packed.ts'

const run = promisify(execFile)

const buildAndPack = async (cwd: string, folder: string): Promise<Packed> => {
  const options = { cwd, maxBuffer: 16 * 1024 * 1024 }
  await run('npm', ['run', 'build'], options)
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', pack, options)
  const packed: { filename: string; unpackedSize: number; files: { path: string }[] }[] = Object.values(
    JSON.parse(stdout),
  )
  const [tarball] = packed
  if (tarball === undefined) throw new Error(`npm pack reported no tarball: ${stdout}`)
  const path = join(folder, tarball.filename)
  const consumer = join(folder, 'consumer')
  await mkdir(consumer)
  await writeFile(join(consumer, 'package.json'), '{"private":true}')
  await run('npm', ['install', '--no-audit', '--no-fund', '--omit=peer', path], { cwd: consumer })
  return {
    tarball: path,
    installed: join(consumer, 'node_modules'),
    files: tarball.files.map((file) => file.path),
    unpackedSize: tarball.unpackedSize,
  }
}

/** Builds, packs and installs the package for the tests of the artifact, while other tests run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'mandatekit-packed-'))
  const built = buildAndPack(project.config.root, folder)
    .catch((error: unknown) => ({ failure: String(error) }))
    .then((result) => writeFile(join(folder, 'result.json'), JSON.stringify(result)))
  project.provide('packedResult', join(folder, 'result.json'))
  return async () => {
    await built
    await rm(folder, { recursive: true, force: true })
  }
}
