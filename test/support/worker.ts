import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

export const repository = fileURLToPath(new URL('../..', import.meta.url))
export const workerd = fileURLToPath(new URL('../../node_modules/.bin/workerd', import.meta.url))

/** A folder with a configuration of workerd and the bundles of module workers, by the names of their files. */
export const bundleWorkers = async (config: string, entries: Readonly<Record<string, string>>) => {
  const folder = await mkdtemp(join(tmpdir(), 'mandatekit-worker-'))
  await writeFile(join(folder, 'config.capnp'), config)
  await build({
    entryPoints: entries,
    absWorkingDir: repository,
    outdir: folder,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    tsconfig: join(repository, 'tsconfig.json'),
  })
  return folder
}

/** Bundles a module worker and runs it in workerd. Returns its address, what it prints, and a function that ends it. */
export const startWorker = async (entry: string, config: string, env: Record<string, string> = {}) => {
  const folder = await bundleWorkers(config, { worker: entry })
  const running = spawn(workerd, ['serve', 'config.capnp', '--verbose', '--control-fd=3'], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const stop = async () => {
    running.removeAllListeners('exit').kill()
    await rm(folder, { recursive: true, force: true })
  }
  let printed = ''
  for (const stream of [running.stdout, running.stderr]) stream?.on('data', (data) => (printed += data))
  // workerd writes the port it was given on the control channel.
  const port = await new Promise((resolve, reject) => {
    running.on('exit', () => reject(new Error(printed)))
    running.stdio[3]?.on('data', (data) => {
      const [, given] = /"port"\s*:\s*(\d+)/.exec(String(data)) ?? []
      if (given !== undefined) resolve(given)
    })
  })
  return { url: `http://127.0.0.1:${port}`, printed: () => printed, stop }
}
