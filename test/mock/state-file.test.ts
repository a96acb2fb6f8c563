import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { serialize } from 'node:v8'
import { crc32 } from 'node:zlib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createMock, type DeliveryOptions, type Mock, type MockOptions } from '../../mocks/core.ts'
import { startMockServer } from '../../mocks/server.ts'
import { listen } from '../support/listen.ts'
import { MOCK_CHARGE, ORDER } from '../support/mock-clients.ts'
import { startServer } from '../support/mock-server.ts'
import { bearer, send } from '../support/raw-requests.ts'
import { CHARGES, open, START } from './open.ts'
import { openFolder } from './state-folder.ts'

const request = { start: '2026-12-01', end: '2027-12-01', cycle: 'DAILY', amount: '5' } as const

test('a server that starts again has the state of the closed one: charges, keys, tokens, clock, schedule and outages', async () => {
  const { folder, state, start } = await openFolder()
  const first = await start()
  const charge = await first.gateway.charge(MOCK_CHARGE, { idempotencyKey: 'order-1' })
  const { invoiceID } = await first.subscriptions.subscribe({ ...ORDER, clientID: 'mock-client' })
  first.mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail'] })
  await first.mock.clock.advance({ days: 1 })
  const { access_token: token } = await first.subscriptions.login()
  first.mock.outage.start({ area: 'subscriptions' })
  await first.close()
  expect(await readdir(folder)).toEqual(['team.state'])
  expect((await stat(state)).mode & 0o777).toBe(0o600)
  const text = await readFile(state, 'latin1')
  for (const secret of ['mock-api-key', 'mock-client-secret', 'mock-password', '123456'])
    expect(text).not.toContain(secret)

  const { mock, gateway, url } = await start({ clock: '2030-01-01T00:00:00Z' })
  expect(mock.clock.now()).toBe(first.mock.clock.now())
  expect(mock.state.charges()).toEqual(first.mock.state.charges())
  expect(await gateway.charge(MOCK_CHARGE, { idempotencyKey: 'order-1' })).toMatchObject({ id: charge.id })
  expect((await gateway.charge(MOCK_CHARGE)).id).not.toBe(charge.id)
  const asking = { method: 'POST', headers: { authorization: `Bearer ${token}` } }
  const statusOf = async () => (await fetch(`${url}/api/v1.0/subscribe/${invoiceID}/status`, asking)).status
  expect(await statusOf()).toBe(503)
  mock.outage.end()
  expect(await statusOf()).toBe(200)
  await mock.clock.advance({ days: 1 })
  expect(mock.state.payments().map(({ status }) => status)).toEqual(['SUCCEEDED_PAYMENT', 'FAILED_PAYMENT'])
})

test('a payment keeps its transactionId, although the seed is another one after the restart', async () => {
  const { start } = await openFolder()
  const first = await start({ clock: START, seed: 'a' })
  first.mock.add({ subscriptions: [{ request, subscriptionId: 'sub' }] })
  await first.mock.clock.advance({ days: 2 })
  await first.close()
  const { mock } = await start({ clock: START, seed: 'b' })
  expect(mock.state.payments()).toEqual(first.mock.state.payments())
  expect(new Set(mock.state.payments().map(({ transactionId }) => transactionId)).size).toBe(2)
})

test('a retry for a receiver that is no longer connected goes to no other receiver after a restart', async () => {
  const { start } = await openFolder()
  const first = await start({ clock: START })
  first.mock.notifications.connect(() => new Response(null, { status: 500 }), { retries: true })
  first.mock.notifications.send({ type: 'SUBSCRIPTION', status: 'CANCELLED' })
  await first.mock.notifications.flush()
  await first.close()
  const { mock } = await start({ clock: START })
  const receive = vi.fn(() => new Response())
  mock.notifications.connect(receive)
  await mock.clock.advance({ days: 1 })
  expect(receive).not.toHaveBeenCalled()
})

test('faults, receivers and the log are not in the file: those of the options are there again', async () => {
  const { start } = await openFolder()
  const options: MockOptions = { clock: START, faults: [{ operation: 'gateway.health', kind: 'html' }] }
  const first = await start(options)
  first.mock.faults.add({ operation: '*', kind: 'reset', times: 'always' })
  first.mock.faults.clear()
  first.mock.notifications.connect('http://127.0.0.1:9/hook')
  await first.gateway.health()
  await first.close()
  const { mock, gateway } = await start(options)
  expect(mock.requests.all()).toEqual([])
  expect([await gateway.health(), await gateway.health()]).toMatchObject([{ status: 502 }, { ok: true }])
})

test.each([
  ['another order of the keys', ['key-b', 'key-a']],
  ['a new key before the others', ['key-new', 'key-a', 'key-b']],
  ['one key fewer', ['key-b']],
])('with %s, a charge still belongs to its API key', async (_, apiKeys) => {
  const { state, start } = await openFolder()
  const options = (keys: readonly string[]): MockOptions => ({
    clock: START,
    gateway: { apiKeys: [...keys], apiKeyScope: 'own' },
  })
  const first = await start(options(['key-a', 'key-b']))
  const chargeOf = (url: string) =>
    send(fetch, `${url}${CHARGES}`, {
      body: MOCK_CHARGE,
      headers: { ...bearer('key-b'), 'idempotency-key': 'k' },
    })
  const { json } = await chargeOf(first.url)
  await first.close()
  expect(await readFile(state, 'latin1')).not.toMatch(/key-[ab]/)
  const second = await start(options(apiKeys))
  expect((await chargeOf(second.url)).json).toEqual(json)
  expect(second.mock.state.charges()).toHaveLength(1)
})

describe('a delivery that a closed server did not finish', () => {
  /** A receiver that keeps requests open until it serves, and the notifications that it got. */
  const openReceiver = async () => {
    let serves = false
    const got: string[] = []
    const aborted: string[] = []
    const receiver = createServer(async (request, response) => {
      const { status } = (await json(request)) as { status: string }
      got.push(status)
      if (serves) response.end()
      else response.once('close', () => aborted.push(status))
    })
    onTestFinished(() => void receiver.close())
    const to = `http://127.0.0.1:${await listen(receiver)}/`
    const serve = () => {
      serves = true
      return got.splice(0)
    }
    return { to, got, aborted, serve }
  }
  const sendAll = ({ notifications }: Mock) =>
    ['a', 'b', 'c'].map((status) => notifications.send({ type: 'SUBSCRIPTION', status }))

  test.each<[string, DeliveryOptions]>([
    ['in progress or queued', {}],
    ['in progress beside others', { concurrency: 2 }],
    ['delayed', { delay: { seconds: 1 } }],
    ['in progress, with retries,', { retries: true }],
  ])('%s is aborted at once and delivered once after a restart', async (_, options) => {
    const { start } = await openFolder()
    const { to, got, aborted, serve } = await openReceiver()
    const config: MockOptions = { subscriptions: { notify: [{ to, ...options }] } }
    const first = await start(config)
    sendAll(first.mock)
    const open = options.delay === undefined ? (options.concurrency ?? 1) : 0
    await vi.waitFor(() => expect(got).toHaveLength(open))
    await first.close()
    await vi.waitFor(() => expect(aborted).toHaveLength(open))
    serve()
    // A delayed delivery would come a second later.
    await new Promise((resolve) => setTimeout(resolve, options.delay === undefined ? 100 : 1_100))
    expect(got).toEqual([])
    const second = await start(config)
    await vi.waitFor(() => expect([...got].sort()).toEqual(['a', 'b', 'c']), 3_000)
    await second.mock.notifications.flush()
    expect(got).toHaveLength(3)
    expect(second.mock.notifications.deliveries().every(({ delivered }) => delivered)).toBe(true)
  })

  test('is delivered in order if the mock goes on without a server', async () => {
    const { to, got, serve } = await openReceiver()
    const { mock, close } = await startServer({ mock: createMock({ subscriptions: { notify: [{ to }] } }) })
    sendAll(mock)
    await vi.waitFor(() => expect(got).toHaveLength(1))
    await close()
    serve()
    await mock.notifications.flush()
    mock.notifications.send({ type: 'SUBSCRIPTION', status: 'd' })
    await mock.notifications.flush()
    expect(got).toEqual(['a', 'b', 'c', 'd'])
  })
})

test('on the system clock, what became due while no server ran happens at the start', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(START) })
  onTestFinished(() => void vi.useRealTimers())
  const { start } = await openFolder()
  const first = await start({ subscriptions: { existing: [{ request }] } })
  expect(first.mock.state.payments()).toHaveLength(0)
  await first.close()
  vi.setSystemTime(Date.parse(START) + 49 * 3_600_000)
  const { mock } = await start({})
  await expect.poll(() => mock.notifications.all().length).toBe(2)
})

test('a change of any kind is in the file about a second later, and without a change nothing is written', async () => {
  const { state, start, savedCharges } = await openFolder()
  const { mock, gateway, close } = await start()
  const { confirmation_id: id } = await gateway.charge(MOCK_CHARGE)
  await expect.poll(savedCharges, { timeout: 30_000 }).toBe(1)
  mock.payer.confirm(id)
  const paid = async () => (await readFile(state)).includes('charge.succeeded')
  await expect.poll(paid, { timeout: 30_000 }).toBe(true)
  const { ino } = await stat(state)
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  await close()
  expect((await stat(state)).ino).toBe(ino)
})

test('while the file is written again and again, it is complete at each moment', async () => {
  const { start, savedCharges } = await openFolder()
  const { gateway } = await start({ clock: START, gateway: { rateLimit: false } })
  await expect.poll(savedCharges).toBe(0)
  let [last, versions] = [0, 0]
  while (versions < 2) {
    await gateway.charge(MOCK_CHARGE)
    const found = await savedCharges()
    if (found !== last) versions += 1
    last = found
  }
})

/** The content of a state file. */
const fileOf = (snapshot: object): Buffer => {
  const [content, checksum] = [serialize(snapshot), Buffer.alloc(4)]
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([content, checksum])
}
const frozen = createMock({ clock: START }).snapshot()
const older = { ...frozen, format: 1 }
test.each<[string, Buffer | string, reason: RegExp]>([
  ['is empty', '', /broken/],
  ['is text', '{"format":2}', /broken/],
  ['ends early', fileOf(frozen).subarray(0, 200), /broken/],
  ['was written before files had a checksum', serialize(older), /an older version of mandatekit wrote it/],
  ['has another format', fileOf(older), /has format 1, and this version of mandatekit reads format 4/],
  ['is of a mock with another clock', fileOf(createMock().snapshot()), /was running: omit --clock/],
])('a file that %s stays as it is, and the error names it', async (_, content, reason) => {
  const { state, start } = await openFolder()
  await writeFile(state, content)
  const error = await start().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'ERR_STATE_FILE', message: expect.stringMatching(reason) })
  expect(String(error)).toContain(`The state file ${state} `)
  expect(await readFile(state)).toEqual(Buffer.from(content))
})

test('a folder that is missing, or a folder in the place of the file, is an error at the start', async () => {
  const { folder, start } = await openFolder()
  const missing = join(folder, 'missing', 'team.state')
  await expect(start({}, { state: missing })).rejects.toThrow(
    `The state file ${missing} cannot be written: ENOENT`,
  )
  await expect(start({}, { state: folder })).rejects.toThrow(
    `The state file ${folder} cannot be read: EISDIR`,
  )
})

test('case 129: a changed byte is noticed, wherever it is', async () => {
  const { state, start } = await openFolder()
  const first = await start()
  await first.gateway.charge(MOCK_CHARGE)
  await first.close()
  const content = await readFile(state)
  for (let place = 0; place < content.length; place += place < 20 || place > content.length - 60 ? 1 : 41) {
    const changed = Buffer.from(content)
    changed[place] = (content[place] ?? 0) ^ 1
    await writeFile(state, changed)
    await expect(start(), String(place)).rejects.toThrow(
      'is broken. Delete it, or name another file: its checksum',
    )
  }
})

test('if the file cannot be written, the process warns, and close rejects once the port is free', async () => {
  const { folder, state } = await openFolder()
  const { mock, url, close } = await startMockServer({ state })
  await expect.poll(() => readdir(folder)).toContain('team.state')
  await rm(folder, { recursive: true })
  const warned = once(process, 'warning')
  mock.outage.start()
  const [warning] = await warned
  expect(warning.message).toContain(`The state file ${state} was not written: ENOENT`)
  await expect(close()).rejects.toThrow(warning.message)
  await expect(fetch(url)).rejects.toThrow()
})

test('a server that finds its port in use leaves the file to the server that runs', async () => {
  const { state, start } = await openFolder()
  const first = await start()
  await first.gateway.charge(MOCK_CHARGE)
  await first.close()
  const { ino } = await stat(state)
  const { url } = await startServer()
  const port = Number(new URL(url).port)
  await expect(start({ clock: START }, { port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect((await stat(state)).ino).toBe(ino)
})

/** Returns the paths in a value. Items of lists and maps share a path. */
const pathsOf = (value: unknown, path = ''): readonly string[] => {
  if (value instanceof Map) return pathsOf([...value.values()], `${path}:`)
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, `${path}[]`))
  if (value instanceof Set) return pathsOf([...value], `${path}{}`)
  if (Object.prototype.toString.call(value) !== '[object Object]') return [path]
  return Object.entries(Object(value)).flatMap(([name, inner]) => pathsOf(inner, `${path}.${name}`))
}

test('a change of a snapshot’s shape comes with another format, because state files outlive a version', async () => {
  const { mock, paid, charge, subscription, renew, login } = await open()
  mock.notifications.connect(async () => new Response(null, { status: 500 }), { retries: true })
  await login()
  await login({ password: 'wrong' })
  const { subscriptionId } = await subscription({}, ['fail'])
  const { id } = await paid()
  await renew(id, 'renewal')
  await charge('open')
  mock.payer.setBehavior('+99900000001', 'wallet_blocked')
  await mock.clock.advance({ days: 10 })
  mock.payer.reverse(mock.state.payments(subscriptionId)[1]?.paymentId ?? '')
  mock.payer.cancel(subscriptionId)
  // A payment is planned.
  await subscription({ requestID: 'next' })
  mock.outage.start()
  const snapshot = mock.snapshot()
  const paths = [...new Set(pathsOf(snapshot))].sort().join(' ')
  const shape = createHash('sha256').update(paths).digest('hex').slice(0, 12)
  expect({ format: snapshot.format, shape }, paths).toEqual({ format: 4, shape: '6fddf4c4e687' })
})
