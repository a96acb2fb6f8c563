import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { fetch as undiciFetch } from 'undici'
import { expect, test, vi } from 'vitest'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { startServer } from '../support/mock-server.ts'
import { CHARGES, KEYS } from './open.ts'

/** A valid charge of exactly so many bytes. */
const chargeOf = (bytes: number): string => {
  const start = JSON.stringify({ ...CHARGE, note: '' })
  return JSON.stringify({ ...CHARGE, note: 'x'.repeat(bytes - start.length) })
}

const head = (line: string, ...more: string[]): string =>
  [`${line} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...more].map((each) => `${each}\r\n`).join('')

/** Sends bytes as they are, each part after the one before; returns what the server sends until it closes. */
const raw = async (url: string, ...parts: string[]): Promise<string> => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const answer = text(socket)
  for (const part of parts) await new Promise((resolve) => socket.write(part, () => setImmediate(resolve)))
  return answer
}

test.each(['declared', 'chunked'])('a body over maxBodyBytes with a %s length is 413', async (how) => {
  const { url, mock } = await startServer({ maxBodyBytes: 1_000 })
  const post = async (path: string, bytes: number, headers: Record<string, string> = {}) => {
    const body = how === 'declared' ? chargeOf(bytes) : new Blob([chargeOf(bytes)]).stream()
    const init = { method: 'POST', headers, body, duplex: 'half' } as never
    const answer = await undiciFetch(`${url}${path}`, init)
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const ofG = await post(CHARGES, 1_001, KEYS)
  expect([ofG.status, JSON.parse(ofG.text).error.code]).toEqual([413, 'invalid_request'])
  const ofS = await post('/oauth/token', 500_000)
  expect([ofS.status, JSON.parse(ofS.text).errorCode]).toEqual([413, '01'])
  expect(ofS.headers.get('x-ratelimit-remaining')).toBe('599')
  expect(mock.state.charges()).toEqual([])
  expect(mock.explain('gateway.charge')).toContain('maxBodyBytes')
  expect((await post(CHARGES, 1_000, KEYS)).status).toBe(202)
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  expect((await post('/confirm/conf_x', 2_000, form)).status).toBe(413)
})

test('a body may have a mebibyte by default', async () => {
  const { url } = await startServer()
  const post = (bytes: number) =>
    undiciFetch(`${url}${CHARGES}`, { method: 'POST', headers: KEYS, body: chargeOf(bytes) })
  expect([(await post(1_048_576)).status, (await post(1_048_577)).status]).toEqual([202, 413])
})

test('a body that is not UTF-8 is 400 after the checks that precede the body', async () => {
  const { url, mock } = await startServer()
  const body = Buffer.from(JSON.stringify({ ...CHARGE, currency: 'é' }), 'latin1')
  const charge = (headers: Record<string, string>) =>
    undiciFetch(`${url}${CHARGES}`, { method: 'POST', headers, body })
  expect((await charge({ 'Idempotency-Key': 'k' })).status).toBe(401)
  const answer = await charge(KEYS)
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'invalid_request' } }])
  expect(mock.state.charges()).toEqual([])
})

test.each([
  ['//health', 404],
  ['/%68ealth', 404],
  [`${CHARGES}/`, 404],
  [`${CHARGES}/ch%2F1`, 401],
  [`${CHARGES}/%zz`, 401],
  ['/api/v1/../v1/reference', 404],
  ['/_mock/%zz', 404],
  ['http://elsewhere.example/health?a=1', 200],
  [`/${'a'.repeat(20_000)}`, 431],
])('a GET of %s is %i, and the server still responds', async (path, status) => {
  const { url } = await startServer()
  expect(await raw(url, `${head(`GET ${path}`)}\r\n`)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(await raw(url, 'hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
  expect((await undiciFetch(`${url}/health`)).status).toBe(200)
})

test('a slow body is awaited, and one whose sender leaves is not executed', async () => {
  const { url, mock } = await startServer()
  const body = JSON.stringify(CHARGE)
  const post = head(`POST ${CHARGES}`, ...Object.entries(KEYS).map((pair) => pair.join(': ')))
  const start = `${post}Content-Length: ${body.length}\r\n\r\n`
  expect(await raw(url, start, ...(body.match(/.{1,10}/g) ?? []))).toMatch(/^HTTP\/1\.1 202 /)
  expect(mock.state.charges()).toHaveLength(1)

  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(start + body.slice(0, 20), () => socket.destroy())
  await vi.waitFor(() => expect(mock.requests.all()).toHaveLength(2))
  expect(mock.requests.all()[1]).toMatchObject({ executed: false, decision: 'aborted' })
  expect(mock.state.charges()).toHaveLength(1)
})
