import { describe, expect, it } from 'vitest'
import type { UnexpectedResponseError } from '../../src/index.ts'
import { CANCELLED, CHARGE, CHARGE_REQUEST, DETAILS, SUBSCRIPTION } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'
import { skippingClock } from '../support/skipping-clock.ts'

const half = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.slice(0, text.length / 2)
}

describe('an answer that was cut off on a connection that ended well', () => {
  it.each([
    ['in the middle', half(CHARGE)],
    ['at its beginning', ''],
  ])('%s is a lost answer: a charge is repeated with its key', async (_, body) => {
    const server = await startServer([{ body }, { status: 202, body: CHARGE }])
    const client = gatewayClient(server.url, { clock: skippingClock() })
    await expect(client.charge(CHARGE_REQUEST)).resolves.toMatchObject({ id: 'ch_1' })
    const [first, second] = server.requests
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key'])
    expect(second?.body).toBe(first?.body)
  })

  it('is a lost answer: a read is repeated, and so is a renewal', async () => {
    const reads = await startServer(withLogin([{ body: half(DETAILS) }, { body: DETAILS }]))
    await subscriptionsClient(reads.url, { clock: skippingClock() }).details('sub-1')
    const renewals = await startServer([{ body: half(CHARGE) }, { status: 201, body: CHARGE }])
    await gatewayClient(renewals.url, { clock: skippingClock() }).renew('ch_1', { dueDate: '2026-12-01' })
    expect([reads.requests.length, renewals.requests.length]).toEqual([3, 2])
  })

  it('ends a call whose repeats were cut as well with all that is known', async () => {
    const server = await startServer([{ body: half(CHARGE) }])
    const client = gatewayClient(server.url, { clock: skippingClock() })
    const error = await errorOf<UnexpectedResponseError>(
      client.charge(CHARGE_REQUEST, { idempotencyKey: 'order-1' }),
    )
    expect(error).toMatchObject({
      code: 'unexpected_response',
      outcome: 'unknown',
      attempts: 3,
      idempotencyKey: 'order-1',
      retryable: true,
    })
  })

  it('is never repeated for subscribe and cancel, which may have acted', async () => {
    const server = await startServer(withLogin([{ body: half(CANCELLED) }]))
    const client = subscriptionsClient(server.url, { clock: skippingClock() })
    const errors = [await errorOf(client.cancel('sub-1')), await errorOf(client.subscribe(SUBSCRIPTION))]
    for (const error of errors) expect(error).toMatchObject({ outcome: 'unknown', attempts: 1 })
    expect(server.requests).toHaveLength(3)
  })

  it('is no lost answer when it is a page or has no content by its status', async () => {
    for (const script of [{ body: '<html>Maintenance</html>' }, { status: 204 }]) {
      const server = await startServer([script])
      const error = await errorOf(gatewayClient(server.url, { clock: skippingClock() }).status('ch_1'))
      expect(error).toMatchObject({ code: 'unexpected_response', attempts: 1, retryable: false })
    }
  })
})

describe('an odd answer', () => {
  it('with a text of 20 million characters and a large integer is read', async () => {
    const body = `{"id":"ch_1","status":"succeeded","note":"${'x'.repeat(20_000_000)}","ledger":12345678901234567890}`
    const server = await startServer([{ status: 202, body }])
    const charge: object = await gatewayClient(server.url).charge(CHARGE_REQUEST)
    expect(charge).toMatchObject({ id: 'ch_1', ledger: '12345678901234567890' })
  })

  it('with an error object beside other fields is no success of a confirmation or a reset', async () => {
    const body = { error: { code: 'not_confirmed', message: 'No.' }, serverRequestId: 'r-1' }
    const server = await startServer([{ body }])
    const client = gatewayClient(server.url)
    const expected = { errorCode: 'not_confirmed', outcome: 'rejected' }
    expect(await errorOf(client.confirm('conf_1', { otp: '123456' }))).toMatchObject(expected)
    expect(await errorOf(client.reset())).toMatchObject(expected)
  })

  it('that tells why a charge failed is still the charge', async () => {
    const body = { ...CHARGE, status: 'failed', error: { code: 'insufficient_funds', message: '' } }
    const server = await startServer([{ body }])
    await expect(gatewayClient(server.url).status('ch_1')).resolves.toMatchObject({ status: 'failed' })
  })

  it('that is a list where a charge belongs has none of its fields', async () => {
    const server = await startServer([{ body: [] }])
    await expect(gatewayClient(server.url).confirm('conf_1', { otp: '123456' })).resolves.toEqual({})
  })

  it('of a refusal with a huge body leaves an excerpt in the error', async () => {
    const body = {
      error: { code: 'x', message: 'No.' },
      trace: Array.from({ length: 20_000 }, () => 'frame'),
    }
    const server = await startServer([{ status: 400, body }])
    const error = await errorOf(gatewayClient(server.url).status('ch_1'))
    expect(JSON.stringify(error).length).toBeLessThan(5000)
  })

  it('with keys that name prototypes changes none and proves nothing', async () => {
    const body = '{"__proto__":{"id":"ch_9","status":"succeeded"},"constructor":{"prototype":{"status":"x"}}}'
    const server = await startServer([{ body }])
    const error = await errorOf(gatewayClient(server.url, { retry: false }).status('ch_1'))
    expect(error.message).toContain('status')
    expect(Object.hasOwn(Object.prototype, 'status')).toBe(false)
  })
})

it('a code of a connection never made counts for nothing once an answer has begun', async () => {
  const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED', syscall: 'connect' })
  const answer = {
    status: 200,
    headers: new Headers(),
    text: () => Promise.reject(refused),
  }
  let sent = 0
  const client = gatewayClient('https://gateway.example', {
    fetch: async () => {
      sent += 1
      return answer
    },
  })
  const error = await errorOf(client.confirm('conf_1', { otp: '123456' }))
  expect(error).toMatchObject({ outcome: 'unknown', attempts: 1 })
  expect(sent).toBe(1)
})
