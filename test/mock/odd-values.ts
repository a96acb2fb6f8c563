/** Stands in every odd value that can hold text; no error may repeat it. */
const SECRET = 'sk-do-not-print'

const NAMES = [
  'algorithm',
  'amount',
  'apiKey',
  'attempt',
  'baseUrl',
  'expected',
  'clientId',
  'clock',
  'commandTimeout',
  'concurrency',
  'credentials',
  'cycle',
  'gateway',
  'header',
  'headers',
  'href',
  'idempotencyKey',
  'limit',
  'occurredAt',
  'otp',
  'page',
  'perPage',
  'prefix',
  'requestID',
  'retry',
  'secrets',
  'signal',
  'timeout',
  'totalTimeout',
  'until',
  'verify',
]

const throwing = (): never => {
  throw new Error(SECRET)
}

/** An object each of whose fields throws when it is read. */
const withGetters = (): object =>
  Object.defineProperties(
    {},
    Object.fromEntries(NAMES.map((name) => [name, { enumerable: true, get: throwing }])),
  )

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

/** What nobody means to give, each with its name in words. */
export const oddValues: readonly (readonly [string, () => unknown])[] = [
  ['nothing', () => undefined],
  ['null', () => null],
  ['true', () => true],
  ['zero', () => 0],
  ['a fraction', () => -1.5],
  ['NaN', () => Number.NaN],
  ['Infinity', () => Number.POSITIVE_INFINITY],
  ['a bigint', () => 10n],
  ['a symbol', () => Symbol(SECRET)],
  ['text', () => SECRET],
  ['empty text', () => ''],
  ['a list', () => [SECRET]],
  ['an empty list', () => []],
  ['a function', () => () => undefined],
  ['a class', () => class Secret {}],
  ['an empty object', () => ({})],
  ['an object without a prototype', () => Object.create(null)],
  ['an object of odd fields', () => Object.fromEntries(NAMES.map((name) => [name, { inner: SECRET }]))],
  ['an object of numbers', () => Object.fromEntries(NAMES.map((name) => [name, -7]))],
  ['an object of texts', () => Object.fromEntries(NAMES.map((name) => [name, `${SECRET}\n`]))],
  ['an object that throws', withGetters],
  ['a proxy that throws', () => new Proxy({}, { get: throwing, has: throwing, ownKeys: throwing })],
  ['a proxy that was revoked', revoked],
  ['a proxy that is a function', () => new Proxy(() => undefined, { get: throwing })],
  ['a Date', () => new Date(0)],
  ['a Date that is none', () => new Date(Number.NaN)],
  ['a Map', () => new Map([[SECRET, SECRET]])],
  ['a promise', () => Promise.resolve({ otp: SECRET })],
  ['an AbortSignal', () => new AbortController().signal],
  ['bytes', () => new TextEncoder().encode(SECRET)],
  ['a URL', () => new URL(`https://shop.example/?key=${SECRET}`)],
  ['an error', () => new TypeError(SECRET)],
]
