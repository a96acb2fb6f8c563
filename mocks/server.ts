import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { Http2SecureServer } from 'node:http2'
import { createSecureServer } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { NodeRequest } from 'srvx/node'
import { internalsOf } from './assemble.ts'
import { createMock } from './core.ts'
import type { Check } from './domain/check-options.ts'
import { assertPasses, fields, flag, text, wholeNumber } from './domain/check-options.ts'
import type { IncomingRequest } from './http/response.ts'
import { replyWith } from './http/response.ts'
import { mockOptionNames } from './options.ts'
import { PANEL_PATH } from './panel/access.ts'
import type { PanelRequest } from './panel/panel.ts'
import { createPanel } from './panel/panel.ts'
import type { NodeIncoming, NodeOutgoing } from './server/node-http.ts'
import { hasLeft, readText, writeFailure, writeReply } from './server/node-http.ts'
import { answerBrowser } from './server/welcome-page.ts'
import type { Mock } from './types.ts'

/** How a server is started. */
export interface MockServerOptions<ServedMock extends Mock = Mock> {
  /** Default: any free port. */
  readonly port?: number
  /** Default: `127.0.0.1`, reached from this machine alone. */
  readonly host?: string
  /** The mock that answers. Default: a new one. */
  readonly mock?: ServedMock
  /** Whether the control panel answers at `/_mock`. Default: true. */
  readonly panel?: boolean
  /** Larger bodies are answered 413 and not read. In bytes; default: 1 MiB. */
  readonly maxBodyBytes?: number
  /** With a certificate, HTTP/2 and HTTP/1.1 over TLS are served; without, HTTP/1.1. */
  readonly tls?: {
    /** The certificate, or the chain that begins with it, in PEM: text or its bytes. */
    readonly cert: string | Uint8Array
    /** The certificate's private key, in PEM: text or its bytes. */
    readonly key: string | Uint8Array
  }
}

/** A running server. */
export interface MockServer<ServedMock extends Mock = Mock> {
  /** Where both areas answer, without a slash at its end. */
  readonly url: string
  /** The mock that answers; its `clientOptions` and the URLs that it hands out point at this server. */
  readonly mock: ServedMock
  /** Ends every request, those that are never answered too, and frees the port. */
  close(): Promise<void>
}

const pathOf = (target: string): string => {
  if (target.startsWith('/')) return target
  // A proxy's absolute form. `OPTIONS *` has no path.
  const url = URL.canParse(target) ? new URL(target) : undefined
  return url === undefined ? '/' : `${url.pathname}${url.search}`
}

/** A certificate or key as Node takes it. */
const pem = (given: string | Uint8Array): string | Buffer =>
  typeof given === 'string' ? given : Buffer.from(given)

/** A request of Node, as the mock's core reads it. */
const incomingRequest = (
  base: string,
  incoming: NodeIncoming,
  outgoing: NodeOutgoing,
  maxBodyBytes: number,
): IncomingRequest => {
  const request = new NodeRequest({ req: incoming, res: outgoing })
  let isUtf8 = true
  return {
    method: incoming.method ?? 'GET',
    url: `${base}${pathOf(incoming.url ?? '/')}`,
    headers: request.headers,
    get signal() {
      return request.signal
    },
    hasLeft: () => hasLeft(outgoing),
    isUtf8: () => isUtf8,
    async text() {
      const body = await readText(incoming, maxBodyBytes)
      isUtf8 = body.isUtf8
      return body.text
    },
  }
}

/** A request to the control panel. Over HTTP/2 the host stands in a field of its own. */
const panelRequest = (request: IncomingRequest, { headers }: NodeIncoming): PanelRequest => {
  const host = headers.host ?? headers[':authority']
  return {
    method: request.method,
    url: request.url,
    headers: request.headers,
    text: () => request.text(),
    host: typeof host === 'string' ? host : null,
  }
}

const port: Check = (value) => {
  const found = wholeNumber(0)(value)
  if (found === undefined && Number(value) <= 65_535) return undefined
  return { at: '', must: 'a port from 0 to 65535', not: String(value), isType: typeof value !== 'number' }
}

const pemText: Check = (value) => (value instanceof Uint8Array ? undefined : text(value))

const OPTIONS = fields({}, {
  port,
  host: text,
  mock: (value) => (Object(value) === value ? undefined : { ...notMock, isType: true }),
  panel: flag,
  maxBodyBytes: wholeNumber(1),
  tls: fields({ cert: pemText, key: pemText }),
} satisfies { readonly [Name in keyof MockServerOptions]-?: Check })

/** Where it was given, an option of the mock would go unheard. */
const refuseOptionsOfTheMock = (options: object | null): void => {
  const name = Object.keys(options ?? {}).find((given) => mockOptionNames.includes(given))
  if (name === undefined || 'fetch' in Object(options)) return
  throw new TypeError(
    `startMockServer: options.${name} is an option of the mock: give it to createMock and pass mock.`,
  )
}

const notMock = { at: '', must: 'a mock that createMock made', not: 'another value' }

const MEBIBYTE = 1_048_576

const WILDCARDS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

const urlOf = (scheme: string, host: string, { port }: AddressInfo): string => {
  const reachable = WILDCARDS[host] ?? host
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

const listen = (server: Server | Http2SecureServer, port: number, host: string): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const address = server.address()
      if (address === null || typeof address === 'string') reject(new Error('The server has no port.'))
      else resolve(address)
    })
  })

/**
 * Starts an HTTP server in front of a mock. Faults are exact: sockets are closed and bodies cut short for real.
 *
 * @throws the system's error when the port cannot be had, for example `EADDRINUSE`; a TypeError or RangeError that names
 * an option that makes no sense
 * @example
 * const { url, mock, close } = await startMockServer()
 */
export async function startMockServer(options?: MockServerOptions): Promise<MockServer>
/**
 * Starts an HTTP server in front of a mock of yours; `mock` of the answer is that very one.
 *
 * @throws the system's error when the port cannot be had, for example `EADDRINUSE`; a TypeError or RangeError that names
 * an option that makes no sense
 * @example
 * const { url, close } = await startMockServer({ mock: createMock({ rules: 'strict' }) })
 */
export async function startMockServer<ServedMock extends Mock>(
  options: MockServerOptions<ServedMock> & { readonly mock: ServedMock },
): Promise<MockServer<ServedMock>>
export async function startMockServer(options: MockServerOptions = {}): Promise<MockServer> {
  refuseOptionsOfTheMock(options)
  assertPasses('startMockServer: options', options, OPTIONS)
  const { port = 0, host = '127.0.0.1', panel: hasPanel = true, maxBodyBytes = MEBIBYTE, tls } = options
  const { mock = createMock() } = options
  const { handler, attach } = internalsOf(mock)
  const panel = hasPanel ? createPanel(mock, host) : undefined
  let base = ''

  const reply = async (incoming: NodeIncoming, outgoing: NodeOutgoing): Promise<void> => {
    const request = incomingRequest(base, incoming, outgoing, maxBodyBytes)
    const shown = incoming.url?.startsWith(PANEL_PATH)
      ? panel?.(panelRequest(request, incoming))
      : answerBrowser(request, incoming.url?.split('?', 1)[0] ?? '', hasPanel)
    // Every other path below the server's URL is the mock's: it always replies.
    const decided = await (shown?.then(replyWith) ?? handler(request))
    if (decided !== undefined) writeReply(incoming, outgoing, decided)
  }

  const serve = (incoming: NodeIncoming, outgoing: NodeOutgoing): void =>
    void reply(incoming, outgoing).catch((error: unknown) => writeFailure(outgoing, error))

  const server =
    tls === undefined
      ? createServer(serve)
      : createSecureServer({ cert: pem(tls.cert), key: pem(tls.key), allowHTTP1: true }, serve)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  const address = await listen(server, port, host)
  base = urlOf(tls === undefined ? 'http' : 'https', host, address)
  const detach = attach(base)
  let closing: Promise<void> | undefined

  return {
    url: base,
    mock,
    close() {
      closing ??= new Promise((resolve) => {
        detach()
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      })
      return closing
    },
  }
}
