import { createServer, type Server, type Socket } from 'node:net'
import { isObject } from '../../src/contract/fields.ts'
import { listen } from '../support/listen.ts'
import { caseOf, type Seen } from './cases.ts'
import { GRANTED, type Operation } from './operations.ts'
import type { Ending } from './play.ts'

const has = (said: Readonly<Record<string, unknown>>, name: string): boolean =>
  Boolean(said[name] || said[name.replace(/ID$/, 'Id')])

/**
 * The rule of the oracle: the server acts unless what the client sees is a refusal. A server that refuses and acts
 * all the same lies, and no client can notice that.
 * - 421 is a refusal: the request was not processed (RFC 9110, 15.5.20), so that Node's own fetch sends it again.
 * - Any other 4xx is one, except 408 (the server gave up, perhaps upon itself), 409 and 425 for a request with a key
 *   (the first request with that key may still run), and a response that contains the created object.
 * - 2xx is a refusal only with a clear error code of its area (of any form at the login), and without the created object.
 * - Nothing else refuses: no response, 1xx, a redirect, 5xx.
 */
const mayAct = ({ area, isKeyed, created, atLogin }: Operation, { status = 500, said }: Seen): boolean => {
  const holdsObject = isObject(said) && !!created?.length && created.every((name) => has(said, name))
  if (status === 421) return false
  if (status >= 400 && status < 500)
    return status === 408 || (isKeyed && (status === 409 || status === 425)) || holdsObject
  if (status < 200 || status >= 300 || !isObject(said) || holdsObject) return true
  const { error, errorCode } = said
  const isNested = isObject(error) && typeof error.code === 'string'
  if (area === 'gateway') return !isNested || has(said, 'id') || has(said, 'status')
  if (atLogin && errorCode === undefined) return !isNested && typeof error !== 'string'
  return typeof errorCode !== 'string' || /^\s*0*\s*$/.test(errorCode)
}

const isHasty = ({ abort, options }: ReturnType<typeof caseOf>['conduct']): boolean =>
  abort !== undefined || Math.min(options.timeout, options.totalTimeout) < 1_000

const newAccount = (number: number, elsewhere: number) => ({
  given: caseOf(number, elsewhere),
  /** Requests that the hostile response was due for. */
  attempts: 0,
  /** Whole requests of the call, without a second call by the caller. */
  received: 0,
  /** Executions, and those before a second call by the caller. */
  acted: 0,
  actedFirst: 0,
  keys: new Set<string>(),
  /** The keys that the client sent, without a second call by the caller, and its token requests. */
  sentKeys: new Set<string>(),
  logins: 0,
  isRevoked: false,
})

const write = (socket: Socket, bytes: Buffer | string, end = 'open'): void => {
  socket.write(bytes)
  if (end === 'close') socket.end()
  if (end === 'reset') socket.resetAndDestroy()
}

const writeObject = (socket: Socket, object: object, status = '200 OK'): void => {
  const text = JSON.stringify(object)
  write(
    socket,
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  )
}

/** A server that acts wherever the client cannot know, and keeps an account of each case. */
export const startOracle = async () => {
  const accounts = new Map<number, ReturnType<typeof newAccount>>()
  const sockets = new Set<Socket>()
  const open = (onConnection: (socket: Socket) => void): Server =>
    createServer((socket) => {
      sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => undefined))
      onConnection(socket)
    })
  let strayed = 0
  const elsewhere = open((socket) => {
    strayed += 1
    socket.destroy()
  })
  const elsewherePort = await listen(elsewhere)
  const accountOf = (number: number) => {
    const account = accounts.get(number) ?? newAccount(number, elsewherePort)
    accounts.set(number, account)
    return account
  }

  /** Handles the request at the start of the buffer. Returns its length, or 0 if more of it must come. */
  const handle = (socket: Socket, buffer: Buffer): number => {
    const [head = '', path] =
      /^\w+ (\S+) HTTP\/1\.1\r\n[\s\S]*?\r\n\r\n/.exec(buffer.toString('latin1')) ?? []
    const header = (name: string) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(head)?.[1]
    if (head === '') return 0
    const length = head.length + Number(header('content-length') ?? 0)
    const account = accountOf(Number(header('x-case')))
    const { name, operation, once, responses, conduct } = account.given
    const { readPart, early, bytes, end, seen } = responses[account.attempts === 0 ? 0 : 1]
    const isAgain = header('x-again') !== undefined
    const isLogin = path === '/oauth/token'
    const isTarget = !isAgain && isLogin === (operation.atLogin === true)
    if (isTarget && conduct.token === 'revoked' && operation.area === 'subscriptions' && !account.isRevoked) {
      if (buffer.length < length) return 0
      account.isRevoked = true
      writeObject(socket, { errorCode: '401', errorMessage: 'Unauthorized' }, '401 Unauthorized')
      return length
    }
    const isHostile = isTarget && !(once && account.attempts > 0)
    if (buffer.length < length * (isHostile ? readPart : 1) && !(isHostile && early)) return 0
    if (isTarget) account.attempts += 1
    if (isLogin && !isAgain) account.logins += 1
    const isUnread = isHostile && (early || readPart < 1)
    if (!isUnread && isLogin === (name === 'login')) {
      const key = header('idempotency-key')
      if (!isAgain) account.received += 1
      if (key && !isAgain) account.sentKeys.add(key)
      // A client that is in a hurry may see the status without the body.
      const views = isHasty(conduct) ? [...seen, ...seen.map((each) => ({ ...each, said: undefined }))] : seen
      const acts = !isHostile || views.every((each) => mayAct(operation, each))
      if (acts && !(key && account.keys.has(key))) {
        account.acted += 1
        if (!isAgain) account.actedFirst += 1
        if (key) account.keys.add(key)
      }
    }
    if (isHostile && readPart < 1) write(socket, '', 'reset')
    else if (isHostile) write(socket, bytes, end)
    else writeObject(socket, isLogin ? GRANTED : operation.object)
    return isUnread ? buffer.length : length
  }

  const server = open((socket) => {
    let buffer: Buffer = Buffer.alloc(0)
    socket.on('data', (data) => {
      buffer = Buffer.concat([buffer, data])
      for (let length = 1; length > 0 && buffer.length > 0; buffer = buffer.subarray(length))
        length = handle(socket, buffer)
    })
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  return {
    url,
    elsewherePort,
    /** The number of connections to another origin. */
    strayed: () => strayed,
    /** The promises that the client broke in a case. */
    judge: ({ number, code, outcome, idempotencyKey, broken: itself }: Ending): string[] => {
      const { given, received, acted, actedFirst, sentKeys, logins } = accountOf(number)
      const isEffect = given.operation.created !== undefined
      // After 421, Node's own fetch sends each request a second time.
      const isMisdirected = given.responses.some(({ seen }) => seen.some(({ status }) => status === 421))
      // On a busy machine, a client in a hurry loses responses to logins. Then it logs in again after pauses that double
      // from 10 s, so a call of 120 s makes at most 3 more logins.
      const lostLogins = isHasty(given.conduct) ? 3 : 0
      const mostLogins = 3 * (1 + given.conduct.options.retry.limit) * (isMisdirected ? 2 : 1) + lostLogins
      const broken = {
        'it acted twice': isEffect && acted > 1,
        'wrong not-sent': outcome === 'not-sent' && received > 0,
        'wrong rejected': outcome === 'rejected' && actedFirst > 0,
        'wrong success': isEffect && code === undefined && acted === 0,
        'an error that is not the client’s': code === 'none',
        'it sent two keys': sentKeys.size > 1,
        'the error has another key':
          code !== undefined && sentKeys.size > 0 && !sentKeys.has(idempotencyKey ?? ''),
        'it logged in too often': logins > mostLogins,
      }
      const names = [...itself, ...Object.entries(broken).flatMap(([what, is]) => (is ? what : []))]
      return names.map((what) => `CASE=${number} ${what}: ${code} ${outcome} after ${given.words}`)
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      elsewhere.close()
    },
  }
}
