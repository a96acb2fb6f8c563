import { gatewayDefaults } from '../gateway/options.ts'
import { isForm } from '../http/body.ts'
import { readsForm } from '../http/exchange.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import type { Mock } from '../types.ts'
import { routeOf } from './shop.ts'

const HIDDEN = '[redacted]'

/** Headers that every client sets by itself. */
const AUTOMATIC =
  /^(?:host|connection|content-length|transfer-encoding|expect|accept(?:-.*)?|user-agent|sec-.*|origin|referer|:.*)$/

/** Quotes a word for a shell. A single quote would end the word. */
export const shellWord = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`

/** Returns the headers to send again. Only the public API key of a mock without options is shown. */
const headersOf = (mock: Mock, { area, headers, status }: LoggedRequest) => {
  const [publicKey] = gatewayDefaults.apiKeys
  const hasPublicKey = area === 'gateway' && mock.clientOptions.gateway.apiKey === publicKey && status !== 401
  const token = hasPublicKey ? publicKey : 'YOUR_TOKEN'
  return Object.entries(headers)
    .filter(([name]) => !AUTOMATIC.test(name))
    .map(([name, value]) => [name, name === 'authorization' ? value.replace(HIDDEN, token) : value] as const)
}

/**
 * Returns the body as text of the media type that was sent, or `undefined` if there was none. The log does not keep
 * a body that the mock could not read. Another unreadable body replaces it, because the request without its body may
 * be valid, and would be executed.
 */
const bodyOf = (mock: Mock, one: LoggedRequest): string | undefined => {
  const { body, headers, operation, decision } = one
  const wasRefused = decision === 'malformed-body' || decision === 'content-type'
  if (body === undefined) return wasRefused ? '{ this body replaces one that was not JSON' : undefined
  if (typeof body === 'string') return body
  const definition = operation && routeOf(mock, operation)?.target.definition
  // The values of a form are text. An operation that reads forms also reads JSON that is labeled as a form.
  const isSentAsForm =
    definition !== undefined &&
    readsForm(definition) &&
    isForm(headers['content-type'] ?? null) &&
    Object.values(Object(body)).every((value) => typeof value === 'string')
  return isSentAsForm ? new URLSearchParams(Object(body)).toString() : JSON.stringify(body)
}

export const asCurl = (mock: Mock, one: LoggedRequest): string => {
  const { area, method, path } = one
  const body = bodyOf(mock, one)
  const headers = headersOf(mock, one)
  // curl waits for the body of a response to `-X HEAD`, and reads brackets in a URL as a pattern.
  const verb = method === 'HEAD' ? '-I' : `-X ${/^[A-Z]+$/.test(method) ? method : shellWord(method)}`
  const options = /[[\]{}]/.test(path) ? `-g ${verb}` : verb
  // Without this header, curl would say that a body is a form.
  const isUntyped = body !== undefined && one.headers['content-type'] === undefined
  return [
    `curl -i ${options} ${shellWord(`${mock.clientOptions[area].baseUrl}${path}`)}`,
    // curl removes a header that has no value, unless a semicolon follows its name.
    ...headers.map(([name, value]) => `-H ${shellWord(value === '' ? `${name};` : `${name}: ${value}`)}`),
    ...(isUntyped ? ["-H 'content-type:'"] : []),
    ...(body === undefined ? [] : [`--data-raw ${shellWord(body)}`]),
  ].join(' \\\n  ')
}

/** Returns a test that sends the request to a new mock, and expects the same status. */
export const asTest = (mock: Mock, one: LoggedRequest): string => {
  const { area, method, path, status, fault: kind, operation } = one
  const text = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
  const init = { method, headers: Object.fromEntries(headersOf(mock, one)), body: bodyOf(mock, one) }
  const hasStatus = kind === 'status' || kind === 'html'
  const fault = { operation, kind, ...(hasStatus && { status }) }
  // A latency does not change the response.
  const arm = kind === undefined || kind === 'latency' ? '' : `  mock.faults.add(${text(fault)})\n`
  const result = status === undefined ? 'gets no response' : `responds with ${status}`
  return `import { createMock } from 'mandatekit/mocks/core'
import { expect, test } from 'vitest'

test(${JSON.stringify(`${method} ${path.split('?')[0]} ${result}`)}, async () => {
  const mock = createMock()
${arm}  const { baseUrl } = mock.clientOptions.${area}
  const response = mock.fetch(baseUrl + ${text(path)}, ${text(init)})
  ${status === undefined ? 'await expect(response).rejects.toThrow()' : `expect((await response).status).toBe(${status})`}
})
`
}
