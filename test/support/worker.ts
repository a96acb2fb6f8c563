import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const workerd = fileURLToPath(new URL('../../node_modules/.bin/workerd', import.meta.url))

/** Bundles a module worker and runs it in workerd. Returns its address, what it prints, and a function that ends it. */
export const startWorker = async (entry: string, config: string, env: Record<string, string> = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'mandatekit-worker-'))
  await writeFile(join(folder, 'config.capnp'), config)
  await build({
    entryPoints: [join(repository, entry)],
    outfile: join(folder, 'worker.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    tsconfig: join(repository, 'tsconfig.json'),
  })
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
