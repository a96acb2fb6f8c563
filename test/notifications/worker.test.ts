import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { SubscriptionsClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payment, subscriptionRequest } from '../support/messages.ts'

const SECRET = 'a-secret-for-trying-out'
const example = fileURLToPath(new URL('../../examples/frameworks/worker/', import.meta.url))
const workerd = fileURLToPath(new URL('../../node_modules/.bin/workerd', import.meta.url))

let folder: string
let running: ChildProcess
let url: string
let printed = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mandatekit-worker-'))
  await copyFile(join(example, 'config.capnp'), join(folder, 'config.capnp'))
  await build({
    entryPoints: [join(example, 'worker.ts')],
    outfile: join(folder, 'worker.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
  })
  running = spawn(workerd, ['serve', 'config.capnp', '--verbose', '--control-fd=3'], {
    cwd: folder,
    env: { ...process.env, NOTIFICATION_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  for (const stream of [running.stdout, running.stderr]) stream?.on('data', (data) => (printed += data))
  // workerd writes the port it was given on the control channel.
  url = await new Promise((resolve, reject) => {
    running.on('exit', () => reject(new Error(printed)))
    running.stdio[3]?.on('data', (data) => {
      const port = /"port"\s*:\s*(\d+)/.exec(String(data))?.[1]
      if (port !== undefined) resolve(`http://127.0.0.1:${port}/notifications`)
    })
  })
}, 60_000)

afterAll(async () => {
  running.removeAllListeners('exit').kill()
  await rm(folder, { recursive: true, force: true })
})

const send = async (body: string, signature = createHmac('sha256', SECRET).update(body).digest('hex')) =>
  (await fetch(url, { method: 'POST', body, headers: { 'x-signature': signature } })).status

test('a worker in workerd verifies, processes once and refuses what is wrong', async () => {
  const body = JSON.stringify(payment({ note: 'টাকা' }))
  expect(await Promise.all([send(body), send(body), send(body)])).toEqual([200, 200, 200])
  expect(await send(body, 'ab')).toBe(401)
  expect(await send('{')).toBe(400)
  expect(printed.match(/payment 42: SUCCEEDED_PAYMENT/g)).toHaveLength(1)
})

test('the mock’s signed deliveries over a socket are received by a worker in workerd', async () => {
  const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
  const client = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })
  mock.notifications.connect(url, { signing: { secret: SECRET }, duplicate: true, shuffle: true })
  const { invoiceID } = await client.subscribe(subscriptionRequest)
  mock.payer.authorize(invoiceID)
  await mock.clock.advance({ days: 2 })
  expect(mock.notifications.deliveries().map(({ status }) => status)).toEqual(Array(6).fill(200))
  const subscriptionId = (await client.status(invoiceID)).subscriptionId ?? ''
  const paid = mock.state.payments(subscriptionId).map(({ paymentId }) => String(paymentId))
  expect(paid).toHaveLength(2)
  await expect
    .poll(() => paid.map((id) => printed.split(`payment ${id}: SUCCEEDED_PAYMENT`).length - 1))
    .toEqual([1, 1])
})
