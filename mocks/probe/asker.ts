import type { Area, EndpointDefinition } from '../../src/contract/endpoint.ts'
import { isObject, type Json } from '../../src/contract/fields.ts'
import { GATEWAY_API_PREFIX } from '../../src/contract/gateway.ts'
import { SUBSCRIPTIONS_API_PREFIX } from '../../src/contract/subscriptions.ts'
import type { Operation } from '../http/area.ts'
import { FORM_TYPE } from '../http/message.ts'
import { LateError, withinRealTime } from '../time/machine.ts'
import {
  type Ask,
  type ProbeArea,
  type Reply,
  replyOf,
  type Sending,
  Stopped,
  Unanswered,
} from './question.ts'
import { endpoints, recordingOf } from './recording.ts'
import type { Redactor } from './redact.ts'
import type { Session } from './session.ts'

/** The limits of a run. */
export interface Budget {
  readonly requests: number
  readonly seconds: number
  /** Time limit of one request. */
  readonly timeoutSeconds: number
}

/** The functions and values that an asker needs. */
export interface AskerParts {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly clock: { now(): number; sleep(milliseconds: number): Promise<void> }
  readonly session: Session
  readonly redactor: Redactor
  readonly budget: Budget
  readonly wrongLogins: number
  /** Asks a person to act at an address. Absent if no person can act. */
  readonly payer?: ((action: string, url: string) => Promise<void>) | undefined
}

const PREFIXES: Readonly<Record<Area, string>> = {
  subscriptions: SUBSCRIPTIONS_API_PREFIX,
  gateway: GATEWAY_API_PREFIX,
}
const SECOND = 1_000
/** After this many requests in a row without a usable response, the probe stops asking the area. */
const MOST_FAILURES = 3
/** How long to wait after a 429 that names no time. */
const USUAL_WAIT = 60 * SECOND

const definitionOf = (operation: string): EndpointDefinition => {
  const found = endpoints.find(({ definition }) => definition.operation === operation)
  if (found === undefined) throw new Error(`The contract has no operation ${operation}.`)
  return found.definition
}

/** Returns the address of a request below the base URL. */
const pathOf = (area: Area, config: ProbeArea, { path }: EndpointDefinition, sending: Sending): string => {
  const values = [...(sending.path ?? [])]
  const prefixed = path.replace(PREFIXES[area], config.apiPrefix ?? PREFIXES[area])
  const filled = prefixed.replace(/:\w+/g, () => encodeURIComponent(values.shift() ?? ''))
  return `${sending.at ?? filled}${sending.query ? `?${sending.query}` : ''}`
}

/** Returns after how many milliseconds a refused call may be retried. */
const waitOf = ({ headers }: Reply, now: number): number => {
  const after = headers['retry-after']
  const until = Number(headers['x-ratelimit-reset']) * SECOND - Date.parse(headers.date ?? '')
  const waits = [Number(after || Number.NaN) * SECOND, Date.parse(after ?? '') - now, until]
  return waits.find((wait) => Number.isFinite(wait)) ?? USUAL_WAIT
}

const SHAPE = ['errorCode', 'access_token', 'error'] as const

/** Returns whether a response has the area's own form. Otherwise, its status may come from a proxy. */
const isOwn = (area: Area, { status, body, isEmpty, isForeign }: Reply): boolean => {
  if (isForeign || status >= 500) return false
  if (status < 300 && (isEmpty || area === 'gateway')) return true
  return area === 'subscriptions' ? SHAPE.some((name) => name in body) : isObject(body.error)
}

/**
 * Creates the asker of one area, which sends the requests of the questions one by one. It stays within the budget and
 * the server's rate limit. If the session has a request's response, the asker does not send the request again. If a
 * request may act and its response was not recorded, the asker never retries it.
 */
export const createAsker = (
  area: Area,
  config: ProbeArea,
  parts: AskerParts,
  spent: { requests: number; readonly endsAt: number },
) => {
  const { fetch, clock, session, redactor, budget, payer } = parts
  const shared = new Map<string, Promise<unknown>>()
  const { endsAt } = spent
  const base = config.baseUrl.replace(/\/+$/, '')
  let pausedUntil = 0
  let failures = 0
  let token: { readonly value: string; readonly until: number } | undefined

  const failed = (reason: string): Unanswered | Stopped => {
    failures += 1
    const text = redactor.text(reason)
    return failures < MOST_FAILURES
      ? new Unanswered(text, true)
      : new Stopped(`${failures} requests in a row had no usable response; the last: ${text}`)
  }

  /** Waits until the limit allows a call, and counts the call. */
  const admit = async (impatient: boolean): Promise<void> => {
    const wait = impatient ? 0 : pausedUntil - clock.now()
    if (clock.now() + Math.max(0, wait) > endsAt) {
      throw new Stopped(
        wait > 0
          ? `the server requires a wait of ${Math.ceil(wait / SECOND)} s, which exceeds the time budget`
          : `the time budget of ${budget.seconds} s is used up`,
      )
    }
    if (wait > 0) await clock.sleep(wait)
    if (spent.requests >= budget.requests) {
      throw new Stopped(`the budget of ${budget.requests} requests is used up`)
    }
    spent.requests += 1
  }

  /** Sends one request, and returns its recording. */
  const exchange = async (
    operation: Operation,
    path: string,
    init: { readonly method: string; readonly headers: Headers; readonly body?: string },
  ) => {
    const at = clock.now()
    const response = await withinRealTime(
      budget.timeoutSeconds * SECOND,
      'no response in time',
      async (signal) => {
        const received = await fetch(`${base}${path}`, { ...init, redirect: 'manual', signal })
        return { status: received.status, headers: received.headers, text: await received.text() }
      },
    ).catch((error: unknown) => {
      throw failed(error instanceof LateError ? error.message : `the connection failed (${causeOf(error)})`)
    })
    const request = { ...init, path, text: init.body ?? '' }
    return recordingOf({ area, operation }, request, response, at)
  }

  const heedLimits = (reply: Reply): void => {
    const wait = waitOf(reply, clock.now())
    const isEmptied = reply.headers['x-ratelimit-remaining'] === '0'
    if (reply.status === 429 || isEmptied) pausedUntil = clock.now() + Math.max(SECOND, wait)
  }

  const authorization = async (auth: EndpointDefinition['auth'], asked: Sending['auth']): Promise<string> => {
    if (asked === 'none' || auth === 'none' || auth === 'credentials') return ''
    if (auth === 'api-key') return `Bearer ${(asked === 'other' ? config.otherApiKey : config.apiKey) ?? ''}`
    if (token === undefined || clock.now() >= token.until) await login('token')
    return `Bearer ${token?.value ?? ''}`
  }

  /** Returns the response if it can answer a question. Otherwise throws. */
  const usable = (reply: Reply, { operation, auth, at }: Sending): Reply => {
    if (at === undefined && !isOwn(area, reply))
      throw failed(`${operation} got ${reply.status} without the API's own body`)
    const hasCredentials = auth === undefined && operation !== 'subscriptions.login'
    if (reply.status === 401 && hasCredentials) throw failed(`${operation} got 401 with valid credentials`)
    return reply
  }

  const transmit = async (id: string, sending: Sending): Promise<Reply> => {
    const definition = definitionOf(sending.operation)
    // Recordings omit secrets and phone numbers, so a restarted run sends logins and `reference` again.
    const isLive = definition.auth === 'credentials' || sending.operation === 'gateway.reference'
    const earlier = isLive ? undefined : session.replyTo(id)
    if (earlier !== undefined) return usable(earlier, sending)
    const actsTwice = sending.once === true || (definition.acts === true && sending.key === undefined)
    if (actsTwice && session.wasSent(id)) {
      throw new Unanswered('an earlier run ended during this request, which must not be sent twice')
    }
    const { body } = sending
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    for (;;) {
      await admit(sending.impatient === true)
      // Gets the token after the wait for the rate limit, because a token may expire during the wait.
      const bearer = await authorization(definition.auth, sending.auth)
      const headers = new Headers({
        ...(bearer === '' ? {} : { authorization: bearer }),
        ...(text === undefined ? {} : { 'content-type': sending.type ?? 'application/json' }),
        ...(sending.key === undefined ? {} : { 'idempotency-key': session.name(`key-${sending.key}`) }),
      })
      const init = {
        method: sending.method ?? definition.method,
        headers,
        ...(text !== undefined && { body: text }),
      }
      if (actsTwice) session.add({ sent: id })
      const recording = await exchange(sending.operation, pathOf(area, config, definition, sending), init)
      const reply = replyOf(recording.response ?? { status: 0, headers: {} })
      if (sending.at !== undefined) hideTexts(reply.body)
      const isRefused = reply.status === 429 && sending.impatient !== true
      session.add({ ...(isRefused ? {} : { id }), recording: redactor.recording(recording) })
      heedLimits(reply)
      if (isRefused) continue
      if (reply.status === 401) token = undefined
      usable(reply, sending)
      failures = 0
      return reply
    }
  }

  /** Hides every text that may be a token, because the fields of this response are not known. */
  const hideTexts = (body: Json): void => {
    for (const [name, text] of Object.entries(body)) {
      if (typeof text === 'string' && text.length > 15) redactor.hide(name, text)
    }
  }

  const credentials = (): Json => {
    const { clientId, clientSecret, username, password } = config.credentials ?? {}
    return { client_id: clientId, client_secret: clientSecret, username, password }
  }

  /** Logs in with the right credentials. After a rejected login, stops the area, so that the user is not locked. */
  const login = async (id: string): Promise<Reply> => {
    const body = { grant_type: 'password', ...credentials() }
    const reply = await transmit(id, { operation: 'subscriptions.login', body })
    const { access_token: value, expires_in: seconds } = reply.body
    if (typeof value !== 'string') {
      throw new Stopped(`the login with the configured credentials got ${reply.status} and no token`)
    }
    redactor.hide('accesstoken', value)
    token = { value, until: clock.now() + (Number(seconds) > 10 ? Number(seconds) - 5 : 1) * SECOND }
    return reply
  }

  const within = (scope: string): Ask => {
    let count = 0
    const next = (): string => {
      count += 1
      return `${scope}#${count}`
    }
    return {
      config,
      wrongLogins: parts.wrongLogins,
      send: (sending) => transmit(next(), sending),
      login(fields, form) {
        if (fields === undefined && form !== true) return login(next())
        const { grant_type = 'password', ...others } = { ...credentials(), ...fields }
        const sent = JSON.parse(JSON.stringify({ grant_type, ...others }))
        const body = form === true ? String(new URLSearchParams(sent)) : sent
        const type = form === true ? FORM_TYPE : undefined
        return transmit(next(), { operation: 'subscriptions.login', body, ...(type && { type }) })
      },
      wrongLogin() {
        const body = { grant_type: 'password', ...credentials(), password: session.name('wrong-password') }
        return transmit(next(), { operation: 'subscriptions.login', body, once: true })
      },
      name: session.name,
      shared<Value>(name: string, make: (ask: Ask) => Promise<Value>) {
        const making = shared.get(name) ?? make(within(`${area} shared ${name}`))
        shared.set(name, making)
        return making as Promise<Value>
      },
      async payer(action, url) {
        const id = next()
        if (session.wasSent(id)) return
        if (payer === undefined) throw new Unanswered(`no person could be asked to ${action}`, true)
        await payer(action, url)
        session.add({ sent: id })
      },
      now: clock.now,
      async sleep(milliseconds) {
        if (clock.now() + milliseconds > endsAt)
          throw new Unanswered('the time budget does not allow the wait')
        await clock.sleep(milliseconds)
      },
    }
  }
  return within
}

const causeOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'no reason given'
}
