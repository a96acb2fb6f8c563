import { expect, it } from 'vitest'
import { CHARGE, CHARGE_REQUEST } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'

const unhandledDuring = async (work: () => Promise<void>): Promise<unknown[]> => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  await work()
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  process.off('unhandledRejection', note)
  return unhandled
}

it('the data and its answer come from one call', async () => {
  const headers = { 'x-request-id': 'r-9', 'X-RateLimit-Limit': '120' }
  const body = { ...CHARGE, id: 7, extra: true }
  const server = await startServer([{ status: 202, headers, body }])
  const call = gatewayClient(server.url).charge(CHARGE_REQUEST, { idempotencyKey: 'k' })
  const [{ data, response }, same] = await Promise.all([call.withResponse(), call])
  expect(same).toBe(data)
  expect(data.id).toBe('7')
  expect(response).toEqual({
    status: 202,
    headers: expect.objectContaining({ 'x-request-id': 'r-9', 'x-ratelimit-limit': '120' }),
    serverRequestId: 'r-9',
    body,
    rateLimit: { limit: 120 },
    attempts: 1,
    idempotencyKey: 'k',
  })
  expect(server.requests).toHaveLength(1)
})

it('a failure is heard where it is asked for, and nowhere else', async () => {
  const server = await startServer([{ status: 404 }])
  const gateway = gatewayClient(server.url)
  const unhandled = await unhandledDuring(async () => {
    await errorOf(gateway.status('ch_1'))
    await errorOf(gateway.status('ch_1').withResponse())
    const call = gateway.status('ch_1')
    await Promise.allSettled([call, call.withResponse()])
  })
  expect(unhandled).toEqual([])
})

it('a failure that nobody asks for is one unhandled rejection', async () => {
  const gateway = gatewayClient('http://127.0.0.1:1')
  const unhandled = await unhandledDuring(async () => {
    void gateway.status('')
  })
  expect(unhandled).toHaveLength(1)
})

it('login has an answer too, and health has one when there was one', async () => {
  const server = await startServer(withLogin([{ status: 503, headers: { 'x-request-id': 'r-1' } }]))
  const { data, response } = await subscriptionsClient(server.url).login().withResponse()
  expect(response).toMatchObject({ status: 200, body: { access_token: data.access_token }, attempts: 1 })
  const sick = await gatewayClient(server.url).health().withResponse()
  expect(sick).toMatchObject({
    data: { ok: false, status: 503 },
    response: { status: 503, serverRequestId: 'r-1' },
  })
})
