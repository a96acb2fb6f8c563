import { gzipSync } from 'node:zlib'
import { Agent, fetch as undiciFetch } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { FetchFunction, UnexpectedResponseError } from '../../src/index.ts'
import { CHARGE } from '../support/bodies.ts'
import { errorOf } from '../support/clients.ts'
import { calls, failureOf, once, openClients, unexpected } from '../support/open-clients.ts'
import type { Script } from '../support/scripted-server.ts'

const WARNING = '<br />\n<b>Warning</b>: Undefined array key "x" in /srv/a.php<br />\n'
const JSON_TYPE = { 'content-type': 'application/json' }

describe('case 56: whole JSON with other text around it is unexpected and sent once', () => {
  const json = JSON.stringify(CHARGE)
  it.each([
    ['a warning of PHP before it', `${WARNING}${json}`],
    ['a warning of PHP after it', `${json}${WARNING}`],
    ['a guard of the framework before it', `)]}',\n${json}`],
  ])('%s', async (_, body) => {
    const clients = await openClients({ body })
    const error = await errorOf<UnexpectedResponseError>(calls.charge(clients))
    expect(error).toMatchObject({ ...unexpected, attempts: 1, body: { id: 'ch_1' } })
    expect(error.message).toContain('other text around its JSON')
    expect(error.message).not.toContain('Warning')
  })

  it.each([
    ['cut off behind a warning', `${WARNING}{"id":"ch_1","st`, 1],
    ['cut off after a nested object', '{"id":"ch_1","payer":{"a":1},"st', 3],
  ])('but JSON that is %s is not whole', async (_, body, attempts) => {
    expect(await failureOf({ body }, calls.charge)).toMatchObject({ attempts, body: undefined })
  })

  it('an error response behind a warning keeps its code, and a created object in it makes the outcome unknown', async () => {
    const rejected = `${WARNING}{"error":{"code":"no_wallet","message":"No wallet."}}`
    const expected = { errorCode: 'no_wallet', outcome: 'rejected' }
    expect(await failureOf({ status: 422, body: rejected }, calls.charge)).toMatchObject(expected)
    const created = await failureOf({ status: 422, body: `${WARNING}${json}` }, calls.charge, once)
    expect(created).toMatchObject({ outcome: 'unknown' })
  })
})

describe('case 71: the client stops reading a response at maxResponseBytes', () => {
  const bomb = gzipSync(Buffer.alloc(200_000_000, ' '))
  const gzip = { ...JSON_TYPE, 'content-encoding': 'gzip' }
  const tooLarge = { ...unexpected, status: 200, attempts: 1, body: undefined }

  it('of gzip that inflates to 200 MB, sent once', async () => {
    const clients = await openClients({ headers: gzip, body: bomb })
    const before = process.memoryUsage().rss
    const error = await errorOf(calls.charge(clients))
    expect(error).toMatchObject(tooLarge)
    expect(error.message).toContain('larger than maxResponseBytes')
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000)
  })

  it.each<[string, Script, object]>([
    ['of a plain body', { body: 'x'.repeat(2000) }, tooLarge],
    ['of an error', { status: 422, body: 'x'.repeat(2000) }, { status: 422, outcome: 'rejected' }],
    ['of a lost response', { status: 502, body: 'x'.repeat(2000) }, { status: 502, outcome: 'unknown' }],
  ])('%s', async (_, script, expected) => {
    const options = { ...once, maxResponseBytes: 1000 }
    expect(await failureOf(script, calls.charge, options)).toMatchObject(expected)
  })

  it('which a small gzip body and a fetch without body streams do not reach', async () => {
    const body = gzipSync(JSON.stringify(CHARGE))
    expect(await calls.charge(await openClients({ headers: gzip, body }))).toEqual(CHARGE)
    const fetch = async () => ({
      status: 202,
      headers: new Headers(),
      text: async () => JSON.stringify(CHARGE),
    })
    expect(await calls.charge(await openClients({}, { fetch }))).toEqual(CHARGE)
  })
})

it('case 72: a 421 means that the server did not act, and the client itself sends it once', async () => {
  const sent: string[] = []
  const fetch: FetchFunction = async (url) => {
    sent.push(url)
    return new Response(null, { status: 421 })
  }
  const error = await errorOf(calls.confirm(await openClients({}, { fetch })))
  expect(error).toMatchObject({ status: 421, outcome: 'rejected', retryable: false })
  expect(sent).toHaveLength(1)
})

describe('case 75: a time limit of fetch itself ends a call with a TimeoutError that says so', () => {
  const expected = { code: 'timeout', outcome: 'unknown', attempts: 1, timeoutMs: expect.any(Number) }
  const through = (limits: Agent.Options): FetchFunction => {
    const dispatcher = new Agent(limits)
    onTestFinished(() => dispatcher.destroy())
    return (url, request) => undiciFetch(url, { ...request, dispatcher })
  }

  it.each<[string, Script['fault'], Agent.Options, object]>([
    ['headers', 'silent', { headersTimeout: 40 }, { phase: 'request' }],
    ['the body', 'stall', { bodyTimeout: 40 }, { phase: 'response' }],
  ])('of undici, for %s', async (_, fault, limits, phase) => {
    const script = { status: 202, body: CHARGE, fault } as Script
    const error = await failureOf(script, calls.charge, { ...once, fetch: through(limits) })
    expect(error).toMatchObject({ ...expected, ...phase })
    expect(error.message).toContain('fetch itself ended the attempt after')
  })

  it('of a fetch with AbortSignal.timeout', async () => {
    const fetch: FetchFunction = (url, { signal, ...request }) =>
      globalThis.fetch(url, { ...request, signal: AbortSignal.any([signal, AbortSignal.timeout(40)]) })
    const error = await failureOf({ fault: 'silent' }, calls.confirm, { ...once, fetch })
    expect(error).toMatchObject({ ...expected, retryable: false })
  })

  it('but an elapsed `timeout` is reported as before', async () => {
    const error = await failureOf({ fault: 'silent' }, calls.charge, { ...once, timeout: 40 })
    expect(error).toMatchObject({ ...expected, timeoutMs: 40 })
    expect(error.message).toContain('(timeout)')
  })
})
