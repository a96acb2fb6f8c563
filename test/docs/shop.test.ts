import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { packedPackage } from '../package/packed.ts'
import { ConsumerProject, repository, strictOptions } from '../package/project.ts'
import { freePort } from '../support/listen.ts'
import { startServer } from '../support/mock-server.ts'
import { sized } from '../support/sizes.ts'
import { allSnippets, filesIn, readDocument } from './documents.ts'

const packed = await packedPackage()

const guide = await readDocument('docs/shop.md')
const files = filesIn(guide)
const succeeded = { exitCode: 0, output: '' }

let shop: ConsumerProject

beforeAll(async () => {
  shop = await ConsumerProject.withPackage(packed)
  for (const name of ['express', 'fastify', 'hono', '@types/node', '@types/express']) await shop.link(name)
  for (const [name, text] of files) await shop.write(name, text)
})

afterAll(() => shop.remove())

test('the shop guide names every file that its code imports', () => {
  const imported = [...files.values()].flatMap((text) => [...text.matchAll(/from '[./]*\/(\S+\.ts)'/g)])
  expect(imported.length).toBeGreaterThan(15)
  expect(imported.map(([, name = '']) => name).filter((name) => !files.has(name))).toEqual([])
})

test("the shop guide's code compiles with its own configuration, and with the strictest", async () => {
  const stricter = { lib: ['es2023'], noUnusedLocals: true, erasableSyntaxOnly: true }
  const compilerOptions = { ...strictOptions, ...stricter }
  await shop.write('strict.json', JSON.stringify({ extends: './tsconfig.json', compilerOptions }))
  // The strictest configuration finds what the guide's own finds, so a quick run compiles with that alone.
  for (const configuration of sized(['tsconfig.json', 'strict.json'], ['strict.json']))
    expect(await shop.compile(configuration)).toEqual(succeeded)
})

test("the shop guide's own tests pass", async () => {
  const { exitCode, output } = await shop.run(process.execPath, '--test', '--test-reporter=tap')
  expect(output).toMatch(/^# pass 8$/m)
  expect(exitCode, output).toBe(0)
})

test('the shop neither charges twice nor stops billing after the incidents that providers and attackers cause', async () => {
  const program = await readFile(join(repository, 'test/docs/shop-incidents.ts'), 'utf8')
  await shop.write('incidents.ts', program)
  // What a person does before a change of the API key is only in the guide's text.
  const [, rotation = ''] = /before you change the API key, [^`]*`([^`]+)`/.exec(guide) ?? []
  vi.stubEnv('ROTATION', rotation)
  const { exitCode, output } = await shop.run(
    process.execPath,
    '--test',
    '--test-reporter=tap',
    'incidents.ts',
  )
  expect(output).toMatch(/^# pass 9$/m)
  expect(exitCode, output).toBe(0)
})

test('in the guide to notifications, a forged notification does not revive a canceled subscription', async () => {
  const [example] = (await allSnippets()).filter(({ place }) => place.startsWith('docs/notifications.md'))
  const attack = `
    const { subscriptionId } = await client.status(invoiceID)
    await client.cancel(subscriptionId ?? '')
    const forged = { notificationId: 'forged', type: 'SUBSCRIPTION', status: 'SUCCEEDED', paymentId: '' }
    const body = JSON.stringify({ ...forged, subscriptionId, timestamp: '3000000000' })
    const response = await handler(new Request('https://shop.example/', { method: 'POST', body }))
    console.log(response.status, enabled.get(subscriptionId ?? ''))`
  await shop.write('forged.ts', `${example?.text}${attack}`)
  const { exitCode, output } = await shop.run(process.execPath, 'forged.ts')
  expect(exitCode, output).toBe(0)
  expect(output).toMatch(/^200 0$/m)
})

test('the shop runs as the guide says, from the checkout to the cancellation', async () => {
  const { mock, url } = await startServer()
  const address = `http://127.0.0.1:${await freePort()}`
  const urls = { SHOP_URL: address, SUBSCRIPTIONS_URL: url, GATEWAY_URL: url }
  for (const [name, value] of Object.entries(urls)) vi.stubEnv(name, value)
  const start = ['--no-warnings', '--env-file=.env']
  const server = spawn(process.execPath, [...start, 'server.ts'], { cwd: shop.folder, stdio: 'ignore' })
  onTestFinished(() => void server.kill())
  const read = async (path: string) => (await fetch(new URL(path, address))).text()
  await vi.waitFor(() => read('/'), { timeout: 30_000 })
  mock.notifications.connect(`${address}/notifications`)
  const post = (path: string, fields: Record<string, string> = {}) =>
    fetch(new URL(path, address), { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' })
  const follow = async (...form: Parameters<typeof post>) =>
    (await post(...form)).headers.get('location') ?? ''
  const runJobs = (which: string) => shop.run(process.execPath, ...start, 'jobs.ts', which)

  const authorization = await follow('/checkout', { plan: 'weekly' })
  const [request] = mock.state.subscriptions()
  expect(await read(`/orders/${request?.request.requestID}`)).toContain('is waiting')
  const weekly = await follow(authorization, { decision: 'authorize' })
  const weeklyPage = await read(weekly)
  expect(weeklyPage).toContain('is active')
  await mock.clock.advance({ days: 9 })
  expect(mock.notifications.deliveries().map(({ status }) => status)).toEqual([200, 200, 200])

  const confirmation = await follow('/checkout', { plan: 'monthly', msisdn: '+8801700000000' })
  const monthly = await follow(confirmation, { otp: '123456' })
  expect(await runJobs('hourly')).toEqual(succeeded)
  expect(await read(monthly)).toContain('is active')

  expect(await runJobs('daily')).toEqual(succeeded)
  const [, cancelPath = ''] = /action="([^"]+)"/.exec(weeklyPage) ?? []
  expect(await (await post(cancelPath)).text()).toBe('Your order has ended.')
  expect(await read(weekly)).toContain('is ended')
  expect(await runJobs('daily')).toEqual(succeeded)

  expect((await fetch(new URL('/orders/forged', address))).status).toBe(404)
  expect((await post('/checkout', { plan: 'monthly', msisdn: '' })).status).toBe(422)
})

test('each framework of the shop guide processes notifications, but not a forged one', async () => {
  await shop.write('mounts.ts', await readFile(join(repository, 'test/docs/shop-mounts.ts'), 'utf8'))
  const { exitCode, output } = await shop.run(process.execPath, '--env-file=.env', 'mounts.ts')
  expect(exitCode, output).toBe(0)
  const frameworks = ['express', 'fastify', 'hono', 'next', 'lambda'].map((name) => [name, [200, 200, 503]])
  const mounts = JSON.parse(await readFile(join(shop.folder, 'mounts.json'), 'utf8'))
  expect(mounts).toEqual(Object.fromEntries(frameworks))
})
