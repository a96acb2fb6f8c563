import { isObject, type Json } from '../../src/contract/fields.ts'
import { internalsOf } from '../assemble.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import { isForm } from '../http/message.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import { readMockOptions } from '../options.ts'
import type { Mock } from '../types.ts'
import { hasPublicKey, hasPublicUser, loginOf, pathOf } from './shop.ts'

const HIDDEN = '[redacted]'
const NO_TOKEN = 'YOUR_TOKEN'

/** Headers that every client sets by itself. */
const AUTOMATIC =
  /^(?:host|connection|content-length|transfer-encoding|expect|accept(?:-.*)?|user-agent|sec-.*|origin|referer|:.*)$/

/** Quotes a word for a shell. A single quote would end the word. */
export const shellWord = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`

const isTexts = (body: unknown): body is Record<string, string> =>
  isObject(body) && Object.values(body).every((value) => typeof value === 'string')

/** Returns the headers to send again. Only the public API key of a mock without options is shown. */
const headersOf = (mock: Mock, { area, headers, status }: LoggedRequest, accessToken: string) => {
  const isKeyShown = area === 'gateway' && hasPublicKey(mock) && status !== 401
  const token = isKeyShown ? mock.clientOptions.gateway.apiKey : accessToken
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
  const { headers, operation, decision, status } = one
  const isLogin = operation === 'subscriptions.login' && status === 200 && hasPublicUser(mock)
  const { otp } = internalsOf(mock).gateway.options
  const wasCorrect = otp === gatewayDefaults.otp && (one.executed || decision === 'not_found')
  // The log hides the secrets of a login and the one-time code, also those that everybody knows.
  const { credentials } = mock.clientOptions.subscriptions
  const known: Json = { ...(isLogin && loginOf(credentials)), ...(wasCorrect && { otp }) }
  const shown = (name: string, value: unknown): unknown => (value === HIDDEN ? (known[name] ?? value) : value)
  const body: unknown = one.body && JSON.parse(JSON.stringify(one.body, shown))
  const wasRefused = decision === 'malformed-body' || decision === 'content-type'
  if (body === undefined) return wasRefused ? '{ this body replaces one that was not JSON' : undefined
  if (typeof body === 'string') return body
  // Only the login accepts a form, whose values are text. It also accepts JSON that is labeled as a form.
  const isSentAsForm = operation === 'subscriptions.login' && isForm(headers['content-type'] ?? null)
  return isSentAsForm && isTexts(body) ? new URLSearchParams(body).toString() : JSON.stringify(body)
}

/** Returns whether a request needed a token, and got another response than 401. */
const hadToken = ({ area, headers, status }: LoggedRequest): boolean =>
  area === 'subscriptions' && headers.authorization !== undefined && status !== 401

/** Returns the command that logs in with the public credentials, and stores the token in a variable of the shell. */
export const tokenCommand = (url: string, login: object): string =>
  `token=$(curl -s ${shellWord(url)} \\
  -H 'Content-Type: application/json' \\
  -d ${shellWord(JSON.stringify(login, null, 2))} \\
  | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')
`

export const asCurl = (mock: Mock, one: LoggedRequest): string => {
  const { area, method, path } = one
  const body = bodyOf(mock, one)
  const logsIn = hadToken(one) && hasPublicUser(mock)
  const { baseUrl, credentials } = mock.clientOptions.subscriptions
  const loginUrl = baseUrl + pathOf(mock, 'subscriptions.login')
  const login = logsIn ? tokenCommand(loginUrl, loginOf(credentials)) : ''
  const headers = headersOf(mock, one, logsIn ? '$token' : NO_TOKEN)
  const quoted = (name: string, value: string): string =>
    logsIn && value === 'Bearer $token' ? `"${name}: ${value}"` : shellWord(`${name}: ${value}`)
  // curl waits for the body of a response to `-X HEAD`, and reads brackets in a URL as a pattern.
  const verb = method === 'HEAD' ? '-I' : `-X ${/^[A-Z]+$/.test(method) ? method : shellWord(method)}`
  const options = /[[\]{}]/.test(path) ? `-g ${verb}` : verb
  // Without this header, curl would say that a body is a form.
  const isUntyped = body !== undefined && one.headers['content-type'] === undefined
  const command = [
    `curl -i ${options} ${shellWord(`${mock.clientOptions[area].baseUrl}${path}`)}`,
    // curl removes a header that has no value, unless a semicolon follows its name.
    ...headers.map(([name, value]) => `-H ${value === '' ? shellWord(`${name};`) : quoted(name, value)}`),
    ...(isUntyped ? ["-H 'content-type:'"] : []),
    ...(body === undefined ? [] : [`--data-raw ${shellWord(body)}`]),
  ]
  return login + command.join(' \\\n  ')
}

/** Refusals that depend on what happened before. */
const BY_HISTORY = /^(?:duplicate_request|idempotency_key_(?:reused|in_use)|locked_out|outage)$/
/** Refusals of a request to an object, whether or not the object exists. */
const WITHOUT_OBJECT = [401, 404, 405, 415]

/** Returns whether a new mock responds with the same status: the response depends on no object and no earlier request. */
const isRepeatable = (mock: Mock, { operation, status = 0, decision }: LoggedRequest): boolean => {
  const needsObject = operation !== undefined && pathOf(mock, operation).includes(':')
  const hasHistory = BY_HISTORY.test(decision) || status === 429
  return !hasHistory && (!needsObject || WITHOUT_OBJECT.includes(status))
}

/** Options that do not change the status of a copied request. Some contain secrets. */
const IRRELEVANT = ['baseUrl', 'notify', 'existing', 'tokens', 'charges', 'rateLimit']
/** Options whose value the page does not show: secrets, and the pattern, which is not JSON. */
const UNSHOWN = ['apiKeys', 'otp', 'merchants', 'amountPattern']

const comparable = (value: unknown) => (value instanceof RegExp ? String(value) : JSON.stringify(value))

/** Returns the relevant options of a request's area that differ from those of a new mock with the same rules. */
const ownOptions = (mock: Mock, { area, operation }: LoggedRequest) => {
  const { rules, [area]: own } = internalsOf(mock)
  const usual: Json = { ...readMockOptions({ rules })[area] }
  const ignored = operation === 'gateway.confirm' ? IRRELEVANT : [...IRRELEVANT, 'otp']
  return Object.entries<unknown>({ ...own.options }).filter(
    ([name, value]) => !ignored.includes(name) && comparable(value) !== comparable(usual[name]),
  )
}

/** Returns a test that sends the request to a new mock, and expects the same status; or why there is no such test. */
export const asTest = (mock: Mock, one: LoggedRequest) => {
  const { area, method, path, status, fault: kind, operation, at } = one
  if (!isRepeatable(mock, one)) return { dependsOn: 'earlier requests' }
  if (typeof one.body === 'string') return { dependsOn: 'a body that is too long for the log' }
  const own = ownOptions(mock, one)
  const hidden = own.find(([name, value]) => UNSHOWN.includes(name) || typeof value === 'function')?.[0]
  if (hidden) return { dependsOn: `the option ${area}.${hidden}, whose value the page does not show` }
  const text = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
  const headers = Object.fromEntries(headersOf(mock, one, NO_TOKEN))
  const init = { method, headers, body: bodyOf(mock, one) }
  const fault = { operation, kind, ...((kind === 'status' || kind === 'html') && { status }) }
  // A latency does not change the response.
  const arm = kind === undefined || kind === 'latency' ? '' : `  mock.faults.add(${text(fault)})\n`
  const result = status === undefined ? 'gets no response' : `responds with ${status}`
  const { rules } = internalsOf(mock)
  const inArea = own.length > 0 && { [area]: Object.fromEntries(own) }
  const options = { ...(rules === 'strict' && { rules }), ...inArea, clock: at }
  const code = `import { createMock } from 'mandatekit/mocks/core'
import { expect, test } from 'vitest'

test(${JSON.stringify(`${method} ${path.split('?')[0]} ${result}`)}, async () => {
  const mock = createMock(${text(options)})
${hadToken(one) ? `  mock.add({ tokens: [{ accessToken: '${NO_TOKEN}' }] })\n` : ''}${arm}  const { baseUrl } = mock.clientOptions.${area}
  const response = mock.fetch(baseUrl + ${text(path)}, ${text(init)})
  ${status === undefined ? 'await expect(response).rejects.toThrow()' : `expect((await response).status).toBe(${status})`}
})
`
  return { code }
}
