import { GatewayClient, isMandateKitError } from 'mandatekit'
import type { Fault, FaultKind } from 'mandatekit/mocks'
import { afterEach, describe, expect, test } from 'vitest'
import type { Opened } from '../mock/transports.ts'
import { throughFetch, throughMsw2, throughMsw3, transports } from '../mock/transports.ts'

const REQUEST = { msisdn: '+1', amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid' }

/** Each kind, what a client without repeats makes of it, and how many charges there are then. */
const seen: readonly [
  FaultKind,
  code: string,
  outcome: string,
  status: number | undefined,
  charges: number,
][] = [
  ['status', 'api_error', 'unknown', 500, 0],
  ['html', 'api_error', 'unknown', 502, 0],
  ['empty', 'unexpected_response', 'unknown', 202, 0],
  ['malformed', 'unexpected_response', 'unknown', 202, 0],
  ['rate-limit', 'rate_limited', 'rejected', 429, 0],
  ['reset', 'connection_failed', 'unknown', undefined, 0],
  ['lost-response', 'connection_failed', 'unknown', undefined, 1],
  ['truncated', 'connection_failed', 'unknown', undefined, 1],
  ['timeout', 'timeout', 'unknown', undefined, 0],
]

let opened: Opened | undefined

afterEach(() => opened?.close())

const failureOf = async ({ mock, fetch }: Opened, fault: Fault) => {
  mock.faults.add(fault)
  const through = fetch === mock.fetch ? { fetch: mock.fetch } : {}
  const client = new GatewayClient({ ...mock.clientOptions.gateway, ...through })
  const call = client.charge(REQUEST, {
    retry: { limit: 0 },
    timeout: fault.kind === 'timeout' ? 100 : 10_000,
  })
  const error: unknown = await call.catch((reason: unknown) => reason)
  if (!isMandateKitError(error)) throw error
  return error
}

describe.each(transports)('through $name', ({ open }) => {
  test.each(seen)('the fault %s is %s, %s', async (kind, code, outcome, status, charges) => {
    opened = await open()
    const failure = await failureOf(opened, { operation: 'gateway.charge', kind })
    expect(failure).toMatchObject({ code, outcome, attempts: 1 })
    expect('status' in failure ? failure.status : undefined).toBe(status)
    expect(opened.mock.state.charges()).toHaveLength(charges)
  })
})

test.each([
  { transport: throughFetch, outcome: 'not-sent' },
  { transport: throughMsw3, outcome: 'unknown' },
  { transport: throughMsw2, outcome: 'unknown' },
])('a refused connection is $outcome through $transport.name', async ({ transport, outcome }) => {
  opened = await transport.open()
  const fault: Fault = { operation: 'gateway.charge', kind: 'reset', code: 'ECONNREFUSED' }
  expect(await failureOf(opened, fault)).toMatchObject({ code: 'connection_failed', outcome })
})
