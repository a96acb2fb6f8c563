import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Operation } from './operations.ts'

// The hostile responses as data: a status, a body, headers and a framing are combined freely.

const json = JSON.stringify
const refused = ({ area }: Operation) =>
  area === 'gateway' ? { error: { code: 'no', message: 'x' } } : { errorCode: '17', errorMessage: 'x' }
const entriesOf = ({ object }: Operation) => Object.entries(object)
const texts = (list: readonly string[]) => Object.fromEntries(list.map((text) => [text, () => text]))
const otherCasing = (name: string) => name.replace(/I[dD]$/, (end) => (end === 'ID' ? 'Id' : 'ID'))
const otherType = (value: unknown) => (typeof value === 'string' ? Number(value) || 1 : String(value))
const CODES = ['17', '0', ' 00 ', '', 'ok', 0, 17, null, true, {}, ['00']]

/** The bodies: text for an operation. */
export const bodies: Readonly<Record<string, (operation: Operation) => string>> = {
  'the object': ({ object }) => json(object),
  'a refusal': (operation) => json(refused(operation)),
  'a refusal and the object': (operation) => json({ ...operation.object, ...refused(operation) }),
  ...Object.fromEntries(CODES.map((errorCode) => [`code ${json(errorCode)}`, () => json({ errorCode })])),
  ...Object.fromEntries(
    CODES.map((errorCode) => [
      `the object with code ${json(errorCode)}`,
      ({ object }) => json({ ...object, errorCode }),
    ]),
  ),
  ...texts(['{"error":"invalid_grant"}', '{"error":{"code":"no"}}', '{"id":"e1","error":{"code":"no"}}']),
  ...texts(['', ' \r\n\t', '{}', '[]', '[{}]', 'null', 'true', ' 0', '-1e999', '"text"', "{'id':1}", '\0']),
  ...texts(['<!doctype html><title>502 Bad Gateway</title><h1>nginx</h1>', '['.repeat(5_000)]),
  'a list of the object': ({ object }) => json([object]),
  'the object in an object': ({ object }) => json({ data: object }),
  'the object after a byte order mark': ({ object }) => `\uFEFF${json(object)}`,
  'keys twice': (operation) => `${json(refused(operation)).slice(0, -1)},${json(operation.object).slice(1)}`,
  'half of the object': ({ object }) => json(object).slice(0, json(object).length / 2),
  'half of a refusal': (operation) => json(refused(operation)).slice(0, -4),
  'the object behind a warning': ({ object }) =>
    `<br />\n<b>Warning</b>: x in <b>/a.php</b>\n${json(object)}`,
  'a refusal behind a warning': (operation) => `Warning: x\n${json(refused(operation))}`,
  'the object before a warning': ({ object }) => `${json(object)}\n<br />Warning`,
  'the object with other types': (operation) =>
    json(Object.fromEntries(entriesOf(operation).map(([name, value]) => [name, otherType(value)]))),
  'the object of nulls': ({ object }) => json(object, (name, value) => (name === '' ? value : null)),
  'the object in other casing': (operation) =>
    json(Object.fromEntries(entriesOf(operation).map(([name, value]) => [otherCasing(name), value]))),
  'the first field': (operation) => json(Object.fromEntries(entriesOf(operation).slice(0, 1))),
  'all but the first field': (operation) => json(Object.fromEntries(entriesOf(operation).slice(1))),
  'a number of 20 digits': ({ object }) => json(object).replace(/"(?:ch_|sub-)?1"/g, '12345678901234567890'),
  'a prototype': ({ object }) => `{"__proto__":${json(object)},"constructor":1}`,
  'a long text': ({ object }) => json({ ...object, padding: 'x'.repeat(20_000) }),
}

/** The JSON that a reader understands, or undefined. */
export const read = (text: string): unknown => {
  try {
    return JSON.parse(text.trim())
  } catch {
    return undefined
  }
}

/** What a client sees of a response. */
export type View = 'all' | 'status' | 'nothing'

/** How a response is put into bytes. */
export interface Framed {
  readonly start?: (status: number) => string
  readonly headers?: readonly string[]
  readonly body?: Buffer
  /** What clients see; some see more than others. Default: all of the response. */
  readonly seen?: readonly View[]
  /** `hang`: the connection stays open without another byte. */
  readonly end?: 'close' | 'hang'
  /** Whether the response comes before the request was read. */
  readonly early?: boolean
}

type Framing = (body: Buffer) => Framed
const LOST: readonly View[] = ['all', 'status', 'nothing']
const half = (body: Buffer) => body.subarray(0, body.length / 2)
const length = (body: Buffer, difference = 0, more: readonly string[] = []): Framed => ({
  headers: [`content-length: ${body.length + difference}`, ...more],
  body,
})
const informed = (status: string, seen?: readonly View[]) => (body: Buffer) => ({
  ...length(body),
  start: (final: number) => `HTTP/1.1 ${status}\r\n\r\nHTTP/1.1 ${final} X`,
  ...(seen && { seen, end: 'close' as const }),
})
const odd = (framed: Framed): Framed => ({ ...framed, seen: LOST, end: 'close' })
const started = (start: string) => (body: Buffer) =>
  odd({ ...length(body), start: (status) => start.replace('200', String(status)) })
const encoded = (encoding: string, encode: (body: Buffer) => Buffer) => (body: Buffer) =>
  length(encode(body), 0, [`content-encoding: ${encoding}`])
const lost = (framing: Framing) => (body: Buffer) => odd(framing(body))
const chunked = (body: Buffer, last: string): Framed => {
  const chunk = [`${body.length.toString(16)}\r\n`, body, '\r\n']
  const parts = [...(body.length > 0 ? chunk : []), last].map((part) => Buffer.from(part))
  return { headers: ['transfer-encoding: chunked'], body: Buffer.concat(parts) }
}

/** The framings, from the right one to none at all. */
export const framings: Readonly<Record<string, Framing>> = {
  'the length': (body) => length(body),
  'no length': (body) => ({ body, end: 'close' }),
  'a length too long, closed': (body) => odd(length(body, 7)),
  'a length too long, open': (body) => ({ ...length(body, 7), seen: ['status'], end: 'hang' }),
  'a length too short': (body) => ({
    ...odd(length(body, -half(body).length - 1)),
    seen: ['status', 'nothing'],
  }),
  'two lengths': (body) => odd(length(body, 0, [`content-length: ${body.length + 1}`])),
  'a length and chunks': (body) => odd({ ...chunked(body, '0\r\n\r\n'), ...length(body) }),
  chunks: (body) => chunked(body, '0\r\n\r\n'),
  'a wrong chunk': (body) => odd(chunked(body, 'zz\r\n')),
  'no last chunk': (body) => odd(chunked(body, '')),
  'no last chunk, open': (body) => ({ ...chunked(body, ''), seen: ['status'], end: 'hang' }),
  gzip: encoded('gzip', gzipSync),
  // Deno's fetch does not decode it.
  deflate: lost(encoded('deflate', deflateSync)),
  br: encoded('br', brotliCompressSync),
  'gzip and br': encoded('gzip, br', (body) => brotliCompressSync(gzipSync(body))),
  'gzip that is none': lost(encoded('gzip', (body) => body)),
  'half of gzip': lost(encoded('gzip', (body) => half(gzipSync(body)))),
  'an unknown encoding': lost(encoded('x-none', (body) => body)),
  'UTF-16': lost(encoded('identity', (body) => Buffer.from(body.toString(), 'utf16le'))),
  'another charset': (body) => odd(length(body, 0, ['content-type: text/plain; charset=iso-8859-1'])),
  '100 before': informed('100 Continue'),
  '103 twice before': informed('103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 103 Early Hints'),
  '101 before': informed('101 Switching Protocols', LOST),
  early: (body) => ({ ...length(body), end: 'close', early: true }),
  silence: () => ({ start: () => '', seen: ['nothing'], end: 'hang' }),
  ...Object.fromEntries(
    [
      'HTTP/1.0 200 X',
      'HTTP/2.0 200 X',
      'ICY 200 X',
      'HTTP/1.1 200',
      'HTTP/1.1 +200 X',
      'x\r\nHTTP/1.1 200',
    ].map((start) => [start, started(start)]),
  ),
  ...Object.fromEntries(
    ['no colon', 'x-folded: 1\r\n 2', 'x-nul: \0', `x-long: ${'a'.repeat(20_000)}`].map((header) => [
      header.slice(0, 8),
      (body) => odd(length(body, 0, [header])),
    ]),
  ),
}

const seconds = Date.parse('2026-11-28T12:00:00Z') / 1000
const RETRY_AFTER =
  '0|1|7|600|999999999|-5|1e3|0.5|soon||20, 20|20\r\nretry-after: 20|Sat, 28 Nov 2026 12:00:05 GMT|Sat, 28 Nov 2026 11:00:00 GMT|Fri, 31 Dec 9999 23:59:59 GMT'
const REMAINING = [seconds + 30, (seconds + 30) * 1000, seconds - 30, seconds + 1e9, 30, 'soon', -1, '30, 30']

/** Headers that ask for waits. */
export const waits = ['', ...RETRY_AFTER.split('|').map((text) => `retry-after: ${text}`)]
/** Headers of the rate limit. */
export const limits = [
  '',
  ...REMAINING.map(
    (reset) => `x-ratelimit-limit: 9\r\nx-ratelimit-remaining: 0\r\nx-ratelimit-reset: ${reset}`,
  ),
  ...['limit: 1', 'remaining: 0', 'remaining: -1', 'limit: many'].map((text) => `x-ratelimit-${text}`),
]
/** Where a redirect leads: to another origin, mostly. */
export const locations = (port: number) => [
  `location: http://127.0.0.1:${port}/elsewhere`,
  `location: //127.0.0.1:${port}/elsewhere`,
  `location: http://user:word@127.0.0.1:${port}/\r\nrefresh: 0; url=http://127.0.0.1:${port}/`,
  'location: ht!tp://',
  '',
]
const USUAL =
  '200 200 201 202 204 301 302 303 307 308 400 401 403 404 407 408 409 421 422 425 429 500 502 503 504 520'
/** The statuses that mean most to the client. */
export const STATUSES = USUAL.split(' ').map(Number)
