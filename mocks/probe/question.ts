import type { Area } from '../../src/contract/endpoint.ts'
import { isObject, type Json, received } from '../../src/contract/fields.ts'
import type { Operation } from '../http/area.ts'
import type { Recording } from './recording.ts'

/** What a question may do, the least harmful first. `read` creates nothing; each of the others needs a flag. */
export const levels = ['read', 'write', 'reset', 'rate-limit', 'lockout'] as const
/** What a question may do. */
export type Level = (typeof levels)[number]

/** The answer to a question: the options that it sets, or why it stays unknown. */
export type Answer = { readonly found: Json; readonly seen: string } | { readonly unknown: string }

/** Thrown if the answer to a question cannot be found. The probe continues with the next question. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'
  /** Whether a later run may find the answer, because a request failed or no person was there. */
  readonly isTemporary: boolean

  constructor(message: string, isTemporary = false) {
    super(message)
    this.isTemporary = isTemporary
  }
}

/** Thrown if the probe can ask this area no more questions. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** The parts of a response that questions read. */
export interface Reply {
  readonly status: number
  /** The headers that a recording keeps, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The JSON object of the body; an empty object if there is none. */
  readonly body: Json
  readonly isEmpty: boolean
  /** Whether the body is something else than a JSON object, such as HTML. */
  readonly isForeign: boolean
}

/** Returns the parts of a response that questions read. */
export const replyOf = ({ status, headers, body }: NonNullable<Recording['response']>): Reply => ({
  status,
  headers,
  body: isObject(body) ? body : {},
  isEmpty: body === undefined,
  isForeign: body !== undefined && !isObject(body),
})

/** A request that a question sends. */
export interface Sending {
  readonly operation: Operation
  /** The values of the path's parameters, in order. */
  readonly path?: readonly string[]
  readonly query?: string
  readonly method?: string
  /** Path that replaces the operation's path. Any response is accepted, because the path may not exist. */
  readonly at?: string
  /** JSON; text is sent as it is. */
  readonly body?: unknown
  readonly type?: string
  /** `none` sends no credentials; `other` sends `otherApiKey`. Default: the operation's credentials. */
  readonly auth?: 'none' | 'other'
  /** Name of an Idempotency-Key. In one session, the same name gives the same key, even after a restart. */
  readonly key?: string | undefined
  /** Returns a 429 instead of waiting until the limit allows the call. */
  readonly impatient?: boolean
  /** Never sends this request again, even after a restart, because the server counts it. */
  readonly once?: boolean
}

/** The functions of a question. Counts and records each request. Returns the recorded response if there is one. */
export interface Ask {
  readonly config: ProbeArea
  send(sending: Sending): Promise<Reply>
  /** Logs in with the right credentials. `fields` replaces some of them. */
  login(fields?: Json, form?: boolean): Promise<Reply>
  /** Logs in with a wrong password, which the server counts. */
  wrongLogin(): Promise<Reply>
  /** Returns a text that only this session uses. */
  name(suffix: string): string
  /** Makes a value that several questions need, once in a session. */
  shared<Value>(name: string, make: (ask: Ask) => Promise<Value>): Promise<Value>
  /** Asks a person to act at an address. Throws `Unanswered` if no person can act. */
  payer(action: string, url: string): Promise<void>
  now(): number
  sleep(milliseconds: number): Promise<void>
  /** How many wrong logins `--lockout` allows. */
  readonly wrongLogins: number
}

/** The configuration of one area. */
export interface ProbeArea {
  readonly baseUrl: string
  readonly apiPrefix?: string
  readonly credentials?: {
    readonly clientId: string
    readonly clientSecret: string
    readonly username: string
    readonly password: string
  }
  /** Client id of another merchant, for row 21. */
  readonly otherClientId?: string
  /** A subscription with many payments, for rows 41 and 44. */
  readonly subscriptionId?: string
  readonly apiKey?: string
  /** An API key of another merchant, for row 84. */
  readonly otherApiKey?: string
  /** Phone numbers that the sandbox charges without moving money. Charges of the first number must succeed. */
  readonly testNumbers?: readonly string[]
  /** Default: `https://merchant.example/return`. */
  readonly redirectUri?: string
  /** Default: `BDT`. */
  readonly currency?: string
}

/** A question to a sandbox, as data: `probe --list` prints it before anything is sent. */
export interface Question {
  /** The row of docs/unknowns.md. */
  readonly row: string
  /** The options that an answer can set; none if the answer is only reported. */
  readonly option: readonly string[]
  readonly area: Area
  readonly level: Level
  /** A description of the requests. */
  readonly sends: string
  /** The maximum number of requests, without those that several questions share. */
  readonly costs: number
  /** The fields of the configuration that the question needs, besides the address and the credentials. */
  readonly needs: readonly (keyof ProbeArea)[]
  readonly ask: (ask: Ask) => Promise<Answer>
}

/** Returns the options that a response shows, or a description if the mock has no option for it. */
type Read = (reply: Reply, ask: Ask) => Json | string | Promise<Json | string>

const answerOf = async (ask: Ask, send: Send, read: Read): Promise<Answer> => {
  const result = await send(ask)
  if (!('status' in result)) return result
  const reading = await read(result, ask)
  return typeof reading === 'string' ? found({}, reading) : found(reading, shown(result))
}

/** Sends a question's requests. Returns the response, or the answer if it needs several responses. */
type Send = (ask: Ask) => Promise<Reply | Answer>

/** Returns a function that makes the questions of a level. `option` has the names of the options, with spaces. */
export const questionsOf =
  (area: Area) =>
  (level: Level) =>
  (
    row: string,
    option: string,
    costs: number,
    sends: string,
    send: Send,
    read: Read = shown,
    ...needs: readonly (keyof ProbeArea)[]
  ): Question => {
    const ask = (each: Ask): Promise<Answer> => answerOf(each, send, read)
    return { row, option: option.split(' ').filter(Boolean), area, level, sends, costs, needs, ask }
  }

/** Returns a step that several questions share. A session does the step once. */
export const once =
  <Value>(name: string, make: (ask: Ask) => Promise<Value>) =>
  (ask: Ask): Promise<Value> =>
    ask.shared(name, make)

/** Names a question in the session file. */
export const questionId = ({ area, row, level, option }: Question): string =>
  [area, row, level, ...option].join(' ')

/** Returns an answer that sets options. */
export const found = (options: Json, seen: string): Answer => ({ found: options, seen })

/** Returns the value of `make`, or `undefined` if the value cannot be found. */
export const ifKnown = <Value>(make: Promise<Value>): Promise<Value | undefined> =>
  make.catch((error: unknown) => {
    if (error instanceof Unanswered) return undefined
    throw error
  })

/** Returns the value if an option of the mock can have it. Otherwise throws `Unanswered`. */
export const among = <Value>(values: readonly Value[], value: Value): Value => {
  if (values.includes(value)) return value
  throw new Unanswered(`the mock's option cannot have the value ${value}`)
}

/** Returns the received text or number as text; `undefined` if there is neither. Reads both casings of an id. */
export const textOf = (body: Json, name: string): string | undefined => {
  const value = received(body, name)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** Returns a text that the rest of a question needs. Throws `Unanswered` if it is missing. */
export const needed = (body: Json, name: string): string => {
  const text = textOf(body, name)
  if (text === undefined || text === '') throw new Unanswered(`the response has no ${name}`)
  return text
}

/** Returns the code of an error: `errorCode` of area S, `error.code` of area G. */
export const codeOf = ({ body }: Reply): string | undefined =>
  textOf(body, 'errorCode') ?? (isObject(body.error) ? textOf(body.error, 'code') : undefined)

/** Describes a response for the report. */
export const shown = (reply: Reply): string => [reply.status, codeOf(reply)].filter(Boolean).join(' ')

/** Describes the headers of a response that name the request (row 49). */
export const requestIds = ({ headers }: Reply): string =>
  Object.keys(headers).find((name) => /id$/.test(name)) ?? 'no header names the request'

/** Returns whether two responses have the same status and body. */
export const sameReply = (one: Reply, other: Reply): boolean =>
  one.status === other.status && JSON.stringify(one.body) === JSON.stringify(other.body)
