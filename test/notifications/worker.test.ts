import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { payment } from '../support/messages.ts'

const SECRET = 'a-secret-for-trying-out'
const example = fileURLToPath(new URL('../../examples/frameworks/worker/', import.meta.url))
const workerd = fileURLToPath(new URL('../../node_modules/.bin/workerd', import.meta.url))

/** Bundles the example, runs it in workerd and returns its address and what it prints. */
const startWorker = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mandatekit-worker-'))
  await copyFile(join(example, 'config.capnp'), join(folder, 'config.capnp'))
  await build({
    entryPoints: [join(example, 'worker.ts')],
    outfile: join(folder, 'worker.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
  })
  const running = spawn(workerd, ['serve', 'config.capnp', '--verbose', '--control-fd=3'], {
    cwd: folder,
    env: { ...process.env, NOTIFICATION_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  onTestFinished(async () => {
    running.removeAllListeners('exit').kill()
    await rm(folder, { recursive: true, force: true })
  })
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
  return { url: `http://127.0.0.1:${port}/notifications`, printed: () => printed }
}

test('a worker in workerd verifies messages and processes each once', async () => {
  const { url, printed } = await startWorker()
  const sign = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex')
  const send = async (body: string, signature = sign(body)) =>
    (await fetch(url, { method: 'POST', body, headers: { 'x-signature': signature } })).status
  const body = JSON.stringify(payment({ note: 'টাকা' }))
  expect(await Promise.all([send(body), send(body), send(body)])).toEqual([200, 200, 200])
  expect(await send(body, 'ab')).toBe(401)
  expect(await send('{')).toBe(400)
  const sendGzip = async (text: string) => {
    const headers = { 'x-signature': sign(text), 'content-encoding': 'gzip' }
    return (await fetch(url, { method: 'POST', body: gzipSync(text), headers })).status
  }
  expect(await sendGzip(body)).toBe(200)
  expect(await sendGzip(' '.repeat(10_000_000))).toBe(413)
  expect(printed().match(/payment 42: SUCCEEDED_PAYMENT/g)).toHaveLength(1)
})
