import { createRandom } from '../support/random.ts'
import { GRANTED, type Operation, operations } from './operations.ts'
import type { Framed, View } from './responses.ts'
import { bodies, framings, limits, locations, read, STATUSES, waits } from './responses.ts'

const NAMES = Object.keys(operations)
const MOMENTS = 'none none none none none none none request response response'.split(' ')
/** When the caller aborts: never in most cases, before the call, or after some microtasks or milliseconds. */
const ABORTS = [
  ...Array(8).fill(undefined),
  'before',
  'turns',
  'turns',
  'milliseconds',
  'milliseconds',
] as const
const TYPES = ['application/json', 'text/html', 'application/problem+json; charset=utf-8']

/** What a client may see of a response. A missing status: no response. */
export interface Seen {
  readonly status?: number
  /** The JSON of the body; undefined if there is none. */
  readonly said?: unknown
}

const diceOf = (number: number) => {
  const random = createRandom(number)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  /** The first item, which is not hostile, in most cases. */
  const mostly = <Item>(items: readonly Item[]): Item => (random() < 0.6 ? (items[0] as Item) : pick(items))
  return { random, pick, mostly }
}

const responseOf = (
  dice: ReturnType<typeof diceOf>,
  operation: Operation,
  status: number,
  elsewhere: number,
) => {
  const { random, pick, mostly } = dice
  const body = mostly(Object.keys(bodies))
  const framing = mostly(Object.keys(framings))
  const location = status >= 300 && status < 400 ? pick(locations(elsewhere)) : ''
  const more = [mostly(waits), mostly(limits), location].filter(Boolean)
  const text = bodies[body]?.(operation.atLogin ? { ...operation, object: GRANTED } : operation) ?? ''
  const framed: Framed = framings[framing]?.(Buffer.from(text)) ?? {}
  const start = framed.start?.(status) ?? `HTTP/1.1 ${status} X`
  const lines = [start, ...(framed.headers ?? []), `content-type: ${mostly(TYPES)}`, ...more, '', '']
  const head = Buffer.from(start && lines.join('\r\n'))
  const whole = Buffer.concat([head, framed.body ?? Buffer.alloc(0)])
  const moment = pick(MOMENTS)
  const cut = moment === 'response' ? Math.floor(random() * (whole.length + 1)) : whole.length
  const isCut = cut < whole.length
  // These statuses allow no body: what follows the head is no part of the response.
  const isBodiless = status < 200 || status === 204 || status === 205 || status === 304
  const views: readonly View[] = isCut ? [cut < head.length ? 'nothing' : 'status'] : (framed.seen ?? ['all'])
  const said = isBodiless ? undefined : read(text)
  const see = (view: View): Seen =>
    view === 'nothing' ? {} : { status, said: view === 'all' ? said : undefined }
  return {
    words: [status, body.slice(0, 40), framing, ...more, moment, cut].join(' | '),
    /** The part of the request after which the server resets the connection; 1 for no reset. */
    readPart: moment === 'request' ? random() : 1,
    /** Whether the response comes before the request was read. A success would then be a lie. */
    early: framed.early === true && status >= 300,
    bytes: whole.subarray(0, cut),
    end: isCut ? pick(['close', 'reset']) : (framed.end ?? (isBodiless ? 'close' : pick(['open', 'close']))),
    /** What clients may see of the response; some see more than others. */
    seen: views.map(see),
  }
}

/** Makes a case from its number alone. Half of the cases go through every status, for each operation. */
export const caseOf = (number: number, elsewhere: number) => {
  const dice = diceOf(number)
  const { random, pick, mostly } = dice
  const turn = Math.floor(number / 2)
  const name = NAMES[turn % NAMES.length] ?? ''
  const operation = operations[name] as Operation
  const status = number % 2 === 0 ? 100 + (Math.floor(turn / NAMES.length) % 500) : pick(STATUSES)
  const first = responseOf(dice, operation, status, elsewhere)
  const later = random() < 0.5 ? first : responseOf(dice, operation, pick(STATUSES), elsewhere)
  const hangs = first.end === 'hang' || later.end === 'hang'
  const conduct = {
    abort: pick(ABORTS),
    /** After how many microtasks or milliseconds the caller aborts. */
    count: Math.floor(random() * 60),
    /** The client's token of area S when the call begins; with `revoked`, the server rejects it once. */
    token: operation.atLogin ? 'none' : pick(['none', 'valid', 'expired', 'revoked']),
    options: {
      timeout: hangs ? 60 : mostly([30_000, 10, 40]),
      totalTimeout: mostly([120_000, 15, 60]),
      retry: { limit: pick([0, 1, 2, 2, 3]) },
      rateLimit: mostly(['wait', 'throw'] as const),
    },
    refresh: mostly(['password', 'refresh_token'] as const),
  }
  return {
    name,
    operation,
    conduct,
    /** The responses to the first attempt and to each later one. */
    responses: [first, later] as const,
    words: [name, first.words, later.words, JSON.stringify(conduct)].join(' | '),
    /** Whether only the first response is hostile. */
    once: random() < 0.5,
    /** The key that the caller gives. */
    key: random() < 0.5 ? { idempotencyKey: `key-${number}` } : undefined,
  }
}
