import { createServer, type Server } from 'node:http'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { filledText, type Input, input, optional, wholeNumber } from '../src/contract/fields.ts'
import { internalsOf } from './assemble.ts'
import { accepts, check, flag, listOf, rule, strict } from './base/fields.ts'
import { createMock } from './core.ts'
import { type IncomingRequest, type ResponseData, respondWith } from './http/message.ts'
import { isBase, normalizedBase } from './http/routes.ts'
import { mockOptionNames } from './options.ts'
import type { ReadHost } from './panel/access.ts'
import { API_DOCUMENT_PATH, API_PAGE_PATH, createReadHost, isHostName, PANEL_PATH } from './panel/access.ts'
import type { Panel } from './panel/panel.ts'
import type { NodeIncoming, NodeOutgoing } from './server/node-http.ts'
import { NodeRequest, writeFailure, writeResponse } from './server/node-http.ts'
import type { Mock } from './types.ts'

const text = filledText()

// The declarations name this type. An inferred type would be `Uint8Array<ArrayBufferLike>`, which TypeScript 5.2 lacks.
type Pem = string | Uint8Array

const pem = rule<Pem>('PEM, as text or bytes', (value) => value instanceof Uint8Array || accepts(text, value))

const tls = {
  /** The certificate in PEM, as text or bytes. Intermediate certificates may follow in the same value. */
  cert: pem,
  /** The private key of the certificate in PEM, as text or bytes. */
  key: pem,
}
const serverOptions = {
  /** Port to listen on. Default: any free port. */
  port: optional(wholeNumber(0, 65_535)),
  /** Address to listen on. Default: `127.0.0.1`, which only this machine can reach. */
  host: optional(text),
  /** The mock to serve. Default: a new mock. */
  mock: optional(rule<Mock>('a mock that createMock made', (value) => Object(value) === value)),
  /** Whether to serve the control panel at `/_mock`. Default: true. */
  panel: optional(flag),
  /** Largest request body in bytes. The server responds to a larger body with status 413. Default: 1 MiB. */
  maxBodyBytes: optional(wholeNumber(1)),
  /** Certificate and key for TLS. With TLS, the server accepts HTTP/2 and HTTP/1.1. Default: HTTP/1.1 without TLS. */
  tls: optional(strict(tls, 'option')),
  /**
   * Base URL at which payers and other machines reach the server, such as the URL of a tunnel or proxy. In
   * responses, `url` and `confirmation_url` start with `publicUrl`, or by default with:
   * - the option `baseUrl` of the area, if set
   * - otherwise, the host that the client addressed, if allowed (see `allowedHosts`)
   * - otherwise, the address of the server
   */
  publicUrl: optional(
    input('an absolute http or https URL without credentials, a query or a fragment', isBase),
  ),
  /**
   * Names under which other machines reach the server, such as `mock` in Docker. The panel refuses requests to other
   * names, so that a website cannot control the mock (DNS rebinding). IP addresses, `localhost` and the host of
   * `publicUrl` are always allowed. Default: none.
   */
  allowedHosts: optional(
    listOf(input('a host name without scheme and port, such as mock.internal', isHostName)),
  ),
  /**
   * Path of a file that keeps the mock's state across restarts, such as `mock.state`. If the file exists, the server
   * restores the state. The server writes changes within about a second, and at `close`. The file contains the mock's
   * tokens and payers' phone numbers, but no faults, receivers or logged requests. Default: none.
   */
  state: optional(text),
}
const serverSchema = strict(serverOptions, 'option')

/** Options of `startMockServer`. */
export interface MockServerOptions<ServedMock extends Mock = Mock> extends Input<typeof serverOptions> {
  /** The mock to serve. Default: a new mock. */
  readonly mock?: ServedMock | undefined
}

/** A running server. */
export interface MockServer<ServedMock extends Mock = Mock> {
  /** Base URL of both areas, without a trailing slash. */
  readonly url: string
  /** The served mock. The mock's `clientOptions` and, by default, the URLs in responses point to this server. */
  readonly mock: ServedMock
  /**
   * Aborts the server's open requests, frees the port and writes the state file. If no other server serves the mock,
   * `close` also aborts deliveries, and stops the timer that starts due payments and expiries. Aborted deliveries
   * restart when `notifications.flush()` is called, or when a server starts with this mock or with the state file.
   */
  close(): Promise<void>
}

const pathOf = (target: string): string => {
  if (target.startsWith('/')) return target
  // A request through a proxy may have an absolute URL as its target. The target of `OPTIONS *` has no path.
  const url = URL.canParse(target) ? new URL(target) : undefined
  return url === undefined ? '/' : `${url.pathname}${url.search}`
}

/** Returns the host that the client addressed: the Host header, or `:authority` in HTTP/2. */
const hostOf = ({ headers }: NodeIncoming): string | null => {
  const host = headers.host ?? headers[':authority']
  return typeof host === 'string' ? host : null
}

/**
 * Creates the handler for the panel, the OpenAPI pages, the root page and the favicon. The mock's log omits
 * requests for these pages. The handler loads a page's code when the page is first requested.
 */
const createSite = (mock: Mock, readHost: ReadHost, hasPanel: boolean) => {
  let panel: Promise<Panel> | undefined
  return (incoming: NodeIncoming, request: IncomingRequest): Promise<ResponseData> | undefined => {
    const path = incoming.url?.split('?', 1)[0] ?? ''
    if (hasPanel && (path === PANEL_PATH || path.startsWith(`${PANEL_PATH}/`))) {
      panel ??= import('./panel/panel.ts').then(({ createPanel }) => createPanel(mock, readHost))
      return panel.then((respond) => respond(request, hostOf(incoming)))
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    if (path === API_DOCUMENT_PATH || path === API_PAGE_PATH) {
      const { publicUrl, url = '' } = request.server ?? {}
      return import('./server/site.ts').then(({ openApiSite }) =>
        openApiSite(mock, publicUrl ?? url, path === API_PAGE_PATH),
      )
    }
    if (path === '/favicon.ico') return Promise.resolve({ status: 204, headers: {}, body: '' })
    const isWelcome =
      hasPanel && path === '/' && request.headers.get('accept')?.includes('text/html') === true
    return isWelcome ? import('./server/site.ts').then(({ welcomePage }) => welcomePage()) : undefined
  }
}

const pemOf = (given: Pem): string | Buffer => (typeof given === 'string' ? given : Buffer.from(given))

/** Throws a TypeError for an option that belongs to `createMock`, not to `startMockServer`. */
const refuseOptionsOfTheMock = (options: object): void => {
  const name = mockOptionNames.find((each) => each in options)
  if (name === undefined) return
  throw new TypeError(
    `startMockServer: ${name} belongs to createMock. Pass { mock }, with a mock from createMock({ ${name} })`,
  )
}

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
 * Starts an HTTP server that serves a mock. Faults of the mock can close sockets or truncate responses. If the
 * mock's clock follows the machine's time, payments, expiries and deliveries happen on time, even without a request.
 *
 * @throws the system's error, such as `EADDRINUSE`, if the port is not available; a TypeError if an option is wrong; an
 * Error if the server cannot use the `state` file
 * @example
 * const { url, mock, close } = await startMockServer()
 */
export async function startMockServer(options?: MockServerOptions): Promise<MockServer>
/**
 * Starts an HTTP server that serves the given mock. The result's `mock` is this mock.
 *
 * @throws the system's error, such as `EADDRINUSE`, if the port is not available; a TypeError if an option is wrong; an
 * Error if the server cannot use the `state` file
 * @example
 * const { url, close } = await startMockServer({ mock: createMock({ rules: 'strict' }) })
 */
export async function startMockServer<ServedMock extends Mock>(
  options: MockServerOptions<ServedMock> & { readonly mock: ServedMock },
): Promise<MockServer<ServedMock>>
export async function startMockServer(options: MockServerOptions = {}): Promise<MockServer> {
  refuseOptionsOfTheMock(Object(options))
  const checked = check(serverSchema, options, 'startMockServer: ')
  const { port = 0, host = '127.0.0.1', panel = true, maxBodyBytes = MEBIBYTE, tls } = checked
  const { mock = createMock() } = checked
  const { handler, attach, outbox } = internalsOf(mock)
  const publicUrl = checked.publicUrl && normalizedBase(checked.publicUrl)
  const scheme = tls === undefined ? 'http' : 'https'
  const readHost = createReadHost(scheme, checked.allowedHosts ?? [], publicUrl)
  const site = createSite(mock, readHost, panel)
  let base = ''

  const respond = async (incoming: NodeIncoming, outgoing: NodeOutgoing): Promise<void> => {
    const called = { publicUrl, url: readHost(hostOf(incoming)) ?? base }
    const url = `${base}${pathOf(incoming.url ?? '/')}`
    const request = new NodeRequest(url, called, incoming, outgoing, maxBodyBytes)
    const sent = await (site(incoming, request)?.then(respondWith) ?? handler(request))
    // `sent` is never undefined, because the URL starts with `base`, and the handler responds to every such URL.
    if (sent !== undefined) writeResponse(incoming, outgoing, sent)
  }

  const serve = (incoming: NodeIncoming, outgoing: NodeOutgoing): void =>
    void respond(incoming, outgoing).catch((error: unknown) => writeFailure(outgoing, error))

  const server =
    tls === undefined
      ? createServer({ joinDuplicateHeaders: true }, serve)
      : createSecureServer({ cert: pemOf(tls.cert), key: pemOf(tls.key), allowHTTP1: true }, serve)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  const { state } = checked
  const file =
    state === undefined ? undefined : await (await import('./server/state-file.ts')).loadState(state, mock)
  const address = await listen(server, port, host).catch(async (error) => {
    await file?.free()
    throw error
  })
  // `base` must be normalized like the URLs of requests through `mock.fetch`, for example without `:80`.
  base = normalizedBase(urlOf(scheme, host, address))
  const detach = attach({ publicUrl, url: base })
  const endState = file?.keep()
  let closing: Promise<void> | undefined

  return {
    url: base,
    mock,
    close() {
      closing ??= new Promise<void>((resolve) => {
        detach()
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      })
        .then(endState)
        .finally(outbox.accept)
      return closing
    },
  }
}
